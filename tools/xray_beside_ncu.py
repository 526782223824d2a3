#!/usr/bin/env python3
"""Holds the counts of `ordito xray` against Nsight Compute, on a machine with a GPU.

    python3 tools/xray_beside_ncu.py target/release/ordito --out measurements/xray.csv
        [--matrix NAME]… [--k 8] [--dtype f64] [--variant GLOB]… [--gemm 256] [--columns 358x5248] [--ncu ncu] [--quick]
    python3 tools/xray_beside_ncu.py target/release/ordito --raw seen --seen-only [--jobs 8] [--seconds 120] …
    python3 tools/xray_beside_ncu.py target/release/ordito --raw seen --out again.csv …
    python3 tools/xray_beside_ncu.py target/release/ordito --kept measurements/2026-11-18-h200/xray/beside-ncu.csv --out again.csv

Every CUDA variant that the emulator runs is counted (`ordito xray --json`) and run once under `ncu` (`ordito verify --on cuda`,
whose first launch of each kernel is looked at). One line of the table is one launch: each count beside ncu's, their ratio, the
predicted and the measured time. At the end: how many exact counts are within 1 %, how many modelled ones within 25 %, predictions
within 2 ×, and the rank correlation of predicted and measured times. ncu needs the right to read counters (root, or the driver's
NVreg_RestrictProfilingToAdminUsers=0). With `--raw DIR` what ncu said is kept there, a file for each variant, and is read where it is there already: with
`--seen-only` nothing is counted, so a machine with a GPU needs no C++ compiler, and one with a compiler no GPU. With `--kept` ncu's figures and the inputs are those of a table made before, and no GPU is needed; where NVRTC is
not installed either, occupancy and so hits in L1 may differ from those of that table.

What ncu's counters count: sectors of loads are also those of asynchronous copies; a sector that crosses between the two parts of L2 counts in
both; an instruction counts although no lane takes part in it; passes and conflicts count what other traffic delays, about 1 % of the passes."""

import argparse
import concurrent.futures
import csv
import fnmatch
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time

# What is counted exactly, and what is a model: name, metric of ncu, value of a launch of `ordito xray`.
LD, ST = "global_loads", "global_stores"


def total(name, field):
    return lambda launch: launch["totals"][name][field] * launch["factor"]


def cached(field):
    return lambda launch: launch["caches"][field] * launch["factor"]


def add(*parts):
    return lambda launch: sum(part(launch) for part in parts)


EXACT = [
    ("ld_instructions", "smsp__inst_executed_op_global_ld.sum", total(LD, "instructions")),
    ("st_instructions", "smsp__inst_executed_op_global_st.sum", total(ST, "instructions")),
    ("ld_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", add(total(LD, "instructions"), total("global_copies", "instructions"))),
    ("st_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", total(ST, "instructions")),
    ("ldgsts_instructions", "smsp__inst_executed_op_ldgsts.sum", total("global_copies", "instructions")),
    ("ld_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", add(total(LD, "sectors"), total("global_copies", "sectors"))),
    ("st_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", total(ST, "sectors")),
    ("shared_ld_instructions", "smsp__inst_executed_op_shared_ld.sum", total("shared_loads", "instructions")),
    ("shared_st_instructions", "smsp__inst_executed_op_shared_st.sum", total("shared_stores", "instructions")),
    ("shared_ld_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", total("shared_loads", "wavefronts")),
    ("shared_st_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", total("shared_stores", "wavefronts")),
    ("shared_ld_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
     lambda launch: (launch["totals"]["shared_loads"]["wavefronts"] - launch["totals"]["shared_loads"]["least_wavefronts"]) * launch["factor"]),
]
MODELLED = [
    ("l2_read_sectors", "lts__t_sectors_op_read.sum", add(cached("l2_read_sectors"), cached("l2_far_read_sectors"))),
    ("l2_write_sectors", "lts__t_sectors_op_write.sum", add(cached("l2_written_sectors"), cached("l2_far_written_sectors"))),
    ("l1_hit_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", total(LD, "l1_hits")),
    ("dram_read_bytes", "dram__bytes_read.sum", cached("dram_read_bytes")),
    ("instructions", "smsp__inst_executed.sum", lambda launch: launch["totals"]["instructions"] * launch["factor"]),
    ("active_lanes", "smsp__thread_inst_executed_per_inst_executed.ratio", lambda launch: launch["totals"]["active_lanes"]),
]
OTHER = ["launch__registers_per_thread", "gpu__time_duration.sum", "smsp__inst_executed_op_local_ld.sum",
         # What L2 is asked by multiprocessors and by its other part, and the shared memory that the driver cuts off L1: why counts differ.
         "lts__t_sectors_srcunit_tex_op_read.sum", "lts__t_sectors_srcunit_tex_op_write.sum", "lts__t_sectors_srcunit_ltcfabric.sum",
         "launch__shared_mem_config_size"]
METRICS = [metric for _, metric, _ in EXACT + MODELLED] + OTHER
ASKED = list(METRICS)  # those that this ncu knows
TO_SECONDS = {"nsecond": 1e-9, "ns": 1e-9, "usecond": 1e-6, "us": 1e-6, "msecond": 1e-3, "ms": 1e-3, "second": 1.0, "s": 1.0}


def ran(command, timeout):
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def asked(arguments, command):
    """What ncu says of the first launch of each kernel that the command launches, as CSV; None: nothing."""
    while True:
        call = [arguments.ncu, "--csv", "--page", "raw", "--print-units", "base", "--cache-control", "all", "--clock-control", "none",
                "--kernel-id", ":::1", "--metrics", ",".join(ASKED), *command]
        done = ran(call, arguments.timeout)
        said = done.stdout + done.stderr
        unknown = [metric for metric in ASKED if "Failed to find metric" in said and re.search(rf"{re.escape(metric)}(?![\w.])", said)]
        if not unknown:
            break
        print(f"this ncu does not know {', '.join(unknown)}", file=sys.stderr)
        ASKED[:] = [metric for metric in ASKED if metric not in unknown]
    lines = done.stdout.splitlines()
    start = next((index for index, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        print(f"ncu says nothing of {' '.join(command)}: {(done.stderr or done.stdout)[-400:]}", file=sys.stderr)
        return None
    return "\n".join(lines[start:]) + "\n"


def launches(table):
    """Launches in their order: kernel name and metrics."""
    rows = list(csv.DictReader(io.StringIO(table)))
    units = rows[0] if rows and not rows[0]["ID"] else {}
    found = []
    for row in rows:
        if row["ID"]:
            values = {metric: number(row.get(metric, "")) for metric in METRICS}
            scale = TO_SECONDS.get(units.get("gpu__time_duration.sum", "nsecond"), 1e-9)
            seconds = values["gpu__time_duration.sum"]
            values["seconds"] = seconds * scale if seconds is not None else None
            found.append((row["Kernel Name"].split("(")[0].strip(), values))
    return found


def profiled(arguments, operation, operand, options, variant):
    """The launches of a variant as ncu sees them, or as it was kept that it saw them."""
    name = "-".join([operation, operand, *options[1::2], arguments.dtype, variant]).replace("/", "_")  # an input may be a path
    file = arguments.raw and arguments.raw / f"{name}.csv"
    if file and file.exists():
        return launches(file.read_text())
    if file and not arguments.seen_only and not shutil.which(arguments.ncu):
        return []
    command = [arguments.ordito, "verify", operation, operand, *options, "--dtype", arguments.dtype, "--variant", variant, "--on", "cuda"]
    table = asked(arguments, command)
    if file and table:
        file.write_text(table)
    return launches(table or "")


def see(arguments):
    """Runs ncu for every variant of every input, several at a time; ncu itself lets one kernel run after the other."""
    def variants(operation):
        listed = (json.loads(line) for line in ran([arguments.ordito, "list", operation, "--json"], 60).stdout.splitlines())
        names = [one["variant"] for one in listed if one["where"] == "cuda" and one["role"] != "peer"]
        wanted = lambda name: any(fnmatch.fnmatch(name, pattern) for pattern in arguments.variant)
        return [name for name in [*names, "auto"] if not arguments.variant or wanted(name)]

    def one(job):
        if time.monotonic() < end:
            return len(profiled(arguments, *job))
        return 0

    end = time.monotonic() + arguments.seconds
    jobs = [(*case, variant) for case in cases(arguments) for variant in variants(case[0])]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        seen = list(pool.map(one, jobs))
    print(f"{sum(seen)} launches of {sum(map(bool, seen))} of {len(jobs)} variants")


def kept(path):
    """Launches of a table made before, by input, type of numbers and variant, in their order; as `profiled` gives them."""
    found = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            values = {metric: number(row.get(f"{name}_ncu", "")) for name, metric, _ in EXACT + MODELLED}
            values |= {metric: None for metric in OTHER}
            values["seconds"] = number(row["measured_s"])
            values["launch__registers_per_thread"] = number(row["registers"])
            values["smsp__inst_executed_op_local_ld.sum"] = number(row["local_ld"])
            found.setdefault((row["op"], row["input"], row["dtype"], row["variant"]), []).append((row["kernel"], values))
    return found


def ratio(ours, theirs):
    if ours is None or theirs is None:
        return None
    if theirs == 0:
        return 1.0 if ours == 0 else None
    return ours / theirs


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    rank = [0.0] * len(values)
    for place, index in enumerate(order):
        rank[index] = float(place)
    return rank


def correlation(one, other):
    """Spearman's, of values without ties worth speaking of."""
    count = len(one)
    if count < 3:
        return None
    difference = sum((a - b) ** 2 for a, b in zip(ranks(one), ranks(other)))
    return 1 - 6 * difference / (count * (count**2 - 1))


def cases(arguments):
    for matrix in arguments.matrix:
        yield "spmm", matrix, ["--k", str(arguments.k)]
    for size in arguments.gemm:
        yield "gemm", size, []
    for size in arguments.columns:
        yield "columns", size, []


def rows_of(arguments, operation, operand, options):
    ordito, dtype = arguments.ordito, ["--dtype", arguments.dtype]
    variants = ["--variant", ",".join(arguments.variant)] if arguments.variant else []
    counted = ran([ordito, "xray", operation, operand, *options, *dtype, *variants, "--no-measure", "--json"], 4 * arguments.timeout)
    for line in counted.stdout.splitlines():
        one = json.loads(line)
        if not one["launches"]:
            continue
        if arguments.kept:
            seen = arguments.table.get((operation, operand, one["dtype"], one["variant"]), [])
        else:
            seen = profiled(arguments, operation, operand, options, one["variant"])
        for launch in one["launches"]:
            index = next((index for index, (name, _) in enumerate(seen) if name == launch["entry"]), None)
            if index is None:
                print(f"{one['variant']}: ncu saw no launch of {launch['entry']}", file=sys.stderr)
                continue
            measured = seen.pop(index)[1]
            row = {"op": operation, "input": operand, "variant": one["variant"], "kernel": launch["entry"], "dtype": one["dtype"],
                   "predicted_s": launch["prediction"]["seconds"], "measured_s": measured["seconds"],
                   "predicted_over_measured": ratio(launch["prediction"]["seconds"], measured["seconds"]),
                   "limit": launch["prediction"]["bounds"][0]["part"],
                   "registers": measured["launch__registers_per_thread"], "registers_xray": launch["registers"],
                   "local_ld": measured["smsp__inst_executed_op_local_ld.sum"]}
            for bound in launch["prediction"]["bounds"]:
                row[f"bound_{bound['part'].replace(' ', '_')}"] = bound["seconds"]
            for name, metric, ours in EXACT + MODELLED:
                row[f"{name}_xray"], row[f"{name}_ncu"] = ours(launch), measured[metric]
                row[f"{name}_ratio"] = ratio(ours(launch), measured[metric])
            yield row


def summary(rows):
    def within(names, bound):
        found = [row[f"{name}_ratio"] for row in rows for name, _, _ in names if row.get(f"{name}_ratio") is not None]
        good = sum(1 for value in found if 1 / (1 + bound) <= value <= 1 + bound)
        return f"{good} of {len(found)}"

    print(f"exact counts within 1 %: {within(EXACT, 0.01)}")
    for name in EXACT:
        print(f"    {name[0]}: {within([name], 0.01)}")
    delayed = [abs(row["shared_ld_conflicts_xray"] - row["shared_ld_conflicts_ncu"]) <= 0.01 * row["shared_ld_wavefronts_ncu"]
               for row in rows if row.get("shared_ld_wavefronts_ncu") is not None and row.get("shared_ld_conflicts_ncu") is not None]
    print(f"    shared_ld_conflicts, of the passes: {sum(delayed)} of {len(delayed)}")
    print(f"modelled counts within 25 %: {within(MODELLED, 0.25)}")
    for name in MODELLED:
        print(f"    {name[0]}: {within([name], 0.25)}")
    timed = [row for row in rows if row["predicted_over_measured"]]
    good = sum(1 for row in timed if 0.5 <= row["predicted_over_measured"] <= 2)
    print(f"predictions within 2 x: {good} of {len(timed)}")
    for operation, operand in dict.fromkeys((row["op"], row["input"]) for row in timed):
        some = [row for row in timed if (row["op"], row["input"]) == (operation, operand)]
        found = correlation([row["predicted_s"] for row in some], [row["measured_s"] for row in some])
        if found is not None:
            print(f"rank correlation, {operation} {operand}: {found:.3f} ({len(some)} launches)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ordito")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("xray.csv"))
    parser.add_argument("--matrix", action="append", default=[])
    parser.add_argument("--gemm", action="append", default=[])
    parser.add_argument("--columns", action="append", default=[])
    parser.add_argument("--k", type=int, default=8)
    parser.add_argument("--dtype", default="f64")
    parser.add_argument("--variant", action="append", default=[])
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("--raw", type=pathlib.Path, help="a folder for what ncu says; what is there is not asked again")
    parser.add_argument("--seen-only", action="store_true", help="run ncu, and count nothing")
    parser.add_argument("--jobs", type=int, default=1, help="variants that --seen-only starts at a time; more than 1 disturbs times")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no variant later than that; of --seen-only")
    parser.add_argument("--kept", type=pathlib.Path, help="a table made before: its inputs, and ncu's figures from it; give the --k that it was made with")
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--quick", action="store_true", help="one small matrix, nothing else")
    arguments = parser.parse_args()
    if arguments.seen_only and not arguments.raw:
        parser.error("--seen-only keeps what ncu says in the folder of --raw, which is missing")
    if not (arguments.matrix or arguments.gemm or arguments.columns):
        arguments.matrix = ["stencil27:20"] if arguments.quick else ["stencil27:48", "powerlaw:60000x16"]
        arguments.gemm, arguments.columns = ([], []) if arguments.quick or arguments.variant else (["256"], ["358x5248"])
    if arguments.kept:
        arguments.table = kept(arguments.kept)
        operands = {operation: list(dict.fromkeys(operand for op, operand, _, _ in arguments.table if op == operation)) for operation in ("spmm", "gemm", "columns")}
        arguments.matrix, arguments.gemm, arguments.columns = operands.values()
        arguments.dtype = next(iter(arguments.table))[2]
    if arguments.raw:
        arguments.raw.mkdir(parents=True, exist_ok=True)
    if arguments.seen_only:
        see(arguments)
        return 0
    rows, fields = [], {}
    for operation, operand, options in cases(arguments):
        for row in rows_of(arguments, operation, operand, options):
            rows.append(row)
            fields.update(dict.fromkeys(row))
            print(f"{operand} {row['variant']} {row['kernel']}: sectors x {row['ld_sectors_ratio']}, time x {row['predicted_over_measured']}", file=sys.stderr)
            with arguments.out.open("w", newline="") as file:  # after every launch: what was seen is kept
                table = csv.DictWriter(file, fieldnames=list(fields))
                table.writeheader()
                table.writerows(rows)
    summary(rows)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
