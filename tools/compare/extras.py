"""Beside the speed of a product: what a call costs, what memory it takes, a layer of a graph network, and a matrix that lies on the GPU."""

import json
import os
import resource
import subprocess
import sys
import time

import numpy as np
import scipy.sparse as sp


# --- a call ---


def overhead(options):
    """A 2×2 and a 1000-row matrix, a vector and a block: nearly all of it is the way in and out."""
    import contenders
    from by_turns import measure

    print("\ntime of a call")
    for rows in (2, 1000):
        for dtype in options.dtypes:
            ones = np.ones(rows)
            a = sp.csr_array(sp.diags_array([ones[1:], 2 * ones, ones[1:]], offsets=[-1, 0, 1])).astype(dtype)
            a.indices, a.indptr = a.indices.astype(np.int32), a.indptr.astype(np.int32)
            for k in (1, 8):
                x = contenders.block(rows, k, dtype)
                runs = _with_out(contenders, a, x, options)
                times = measure(runs, options.seconds, options.rounds, contenders.synchronise if options.gpu else None)
                text = "; ".join(f"{name} {seconds * 1e6:.2f} µs" for name, seconds in times.items())
                print(f"  {rows:>4} rows, {dtype}, K = {k}: {text}", flush=True)


def _with_out(contenders, a, x, options):
    """All that pass, and ours into an array that is there."""
    import ordito

    known = contenders.Known(a, x)
    all_in = list((contenders.on_gpu if options.gpu else contenders.on_cpu)(a, x, options.threads))
    runs = {contender.name: contender.run for contender in all_in if known.outcome(contender) == "passed"}
    if not options.gpu:
        ours, y = ordito.csr(a, threads=options.threads), np.empty((a.shape[0], x.shape[1]), x.dtype)
        runs["ordito with out="] = lambda: ours.matmul(x, out=y)
        return runs
    ours, cupy, torch = ordito.csr(a, device="cuda"), contenders.optional("cupy"), contenders.optional("torch")
    if cupy is not None:
        x_cupy = cupy.asarray(x)
        y_cupy = cupy.empty((a.shape[0], x.shape[1]), x.dtype)
        runs["ordito on CuPy with out="] = lambda: ours.matmul(x_cupy, out=y_cupy)
        # Told where the arrays lie: what is left is the library's call with its launch, and Python's call of it.
        told = [(array.data.ptr, *array.shape, array.shape[1]) for array in (x_cupy, y_cupy)]
        runs["of it the library's call"] = lambda: ordito._ordito.product_on_device(ours._native, *told, 1.0, 0.0, False, 0)
    if torch is not None and torch.cuda.is_available():
        x_torch = torch.from_numpy(x).cuda()
        y_torch = x_torch.new_empty((a.shape[0], x.shape[1]))
        runs["ordito on torch with out="] = lambda: ours.matmul(x_torch, out=y_torch)
    return runs


# --- memory ---


def memory(options):
    """Peak of a child process that wraps a matrix of SciPy's and multiplies once with K = 8; beside it SciPy's own product."""
    print(f"\nmemory: a matrix of {options.memory_gb} GB (float64, 32-bit indices), X of 8 columns")
    for pattern in ("random", "band"):
        for who in ("ordito", "scipy"):
            command = [sys.executable, __file__, pattern, who, str(options.memory_gb), str(options.threads)]
            found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
            size, blocks = found["matrix_bytes"], found["block_bytes"]
            peak, extra = found["peak_bytes"] / size, (found["peak_bytes"] - found["before_bytes"] - blocks) / size
            print(
                f"  {pattern:<7} {who:<7} peak {peak:.2f} × the matrix; beside matrix, X, Y and interpreter {extra:+.2f} ×"
                f"  {found['note']}",
                flush=True,
            )


def _child(pattern, who, gigabytes, threads):
    import ordito

    per_row, k = 16, 8
    rows = int(gigabytes * 1e9 / (12 * per_row + 4))
    rng = np.random.default_rng(0)
    if pattern == "random":
        # Each in a sixteenth of the columns: sorted, and none twice.
        indices = rng.integers(rows // per_row, size=(rows, per_row), dtype=np.int32)
        indices += np.arange(per_row, dtype=np.int32) * np.int32(rows // per_row)
    else:
        indices = np.minimum(np.arange(rows, dtype=np.int32), np.int32(rows - per_row))[:, None] + np.arange(per_row, dtype=np.int32)
    indptr = np.arange(0, rows * per_row + 1, per_row, dtype=np.int32)
    a = sp.csr_array((rng.random(rows * per_row), indices.reshape(-1), indptr), shape=(rows, rows))
    x = np.ones((rows, k))
    (ordito.csr(a[:100], threads=threads) @ x)[:1]  # threads are there
    _forget_peak()
    before, note = _memory("VmRSS"), ""
    if who == "ordito":
        wrapped = ordito.csr(a, threads=threads)
        y = wrapped @ x
        note = f"({wrapped.prepare(k).kernel}, {wrapped.nbytes / 1e6:.0f} MB prepared; copied: {wrapped.copied or 'nothing'})"
    else:
        y = a @ x
    peak = _memory("VmHWM")
    expected = np.bincount(np.repeat(np.arange(100), per_row), weights=a.data[: 100 * per_row])
    assert np.allclose(y[:100], expected[:, None]), "the product is wrong"
    size = a.data.nbytes + a.indices.nbytes + a.indptr.nbytes
    print(json.dumps({"matrix_bytes": size, "block_bytes": y.nbytes, "before_bytes": before, "peak_bytes": peak, "note": note}))


def _forget_peak():
    """The peak counts from here on; where the system does not allow it, from the start of the process."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def _memory(what):
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith(what))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# --- a layer of a graph network ---


def gcn(options):
    """relu(A·X·W) and its gradients for X and W: ours beside torch.sparse.mm, once with CSR and once with COO."""
    import torch

    import contenders
    import ordito
    import ordito.torch
    from by_turns import geometric_mean, measure

    device = "cuda" if options.gpu else "cpu"
    print(f"\nGCN layer on {device}, forward and backward, K features in and out")
    ratios = []
    for name in options.matrices:
        for dtype in options.dtypes:
            a = contenders.read(name, dtype)
            ours, by_rows = ordito.csr(a, device=device, threads=options.threads), contenders.torch_csr(torch, a, device)
            triplets = by_rows.to_sparse_coo().coalesce()
            for k in options.k:
                torch.manual_seed(0)
                kind = getattr(torch, dtype)
                x = torch.randn(a.shape[1], k, dtype=kind, device=device, requires_grad=True)
                w = (torch.randn(k, k, dtype=kind, device=device) / k**0.5).requires_grad_()

                def layer(product):
                    y = torch.relu(product(x @ w))
                    return y, *torch.autograd.grad(y.square().sum(), (x, w))

                ways = {
                    "ordito": lambda h: ordito.torch.spmm(ours, h),
                    "torch CSR": lambda h: torch.sparse.mm(by_rows, h),
                    "torch COO": lambda h: torch.sparse.mm(triplets, h),
                }
                runs, known, text = {}, None, ""
                for who, product in ways.items():
                    try:
                        found = layer(product)
                    except RuntimeError as error:
                        if who == "ordito":
                            raise
                        text += f"; {who} failed: {str(error).splitlines()[0][:80]}"
                        continue
                    known = found if known is None else known
                    if not all(_close(one, other) for one, other in zip(found, known)):
                        text += f"; {who}: other numbers than ours"
                        continue
                    runs[who] = lambda product=product: layer(product)
                times = measure(runs, options.seconds, options.rounds, torch.cuda.synchronize if options.gpu else None)
                others = {who: seconds / times["ordito"] for who, seconds in times.items() if who != "ordito"}
                ratios += [min(others.values())] if others else []
                text = "".join(f"; {who} ({ratio:.2f})" for who, ratio in others.items()) + text
                print(f"  {name}, {dtype}, K = {k}: ordito {times['ordito'] * 1e6:.1f} µs{text}", flush=True)
    if ratios:
        print(f"torch's best over ours: geometric mean {geometric_mean(ratios):.2f}, worst {min(ratios):.2f}, {len(ratios)} cases")


def _close(one, other):
    """As shares of the largest element: sums in another order."""
    bound = 1e-10 if one.element_size() == 8 else 1e-3
    return bool((one - other).abs().max() <= bound * other.abs().max())


# --- a matrix that lies on the GPU ---


def taken(options):
    """How long until the first product with each number of columns: of CuPy's matrix, of SciPy's, and of CuPy's by way of the host."""
    import cupy
    import cupyx.scipy.sparse

    import contenders
    import ordito

    wait = cupy.cuda.Device().synchronize
    incorrect = []
    for name in options.matrices:
        for dtype in options.dtypes:
            host = sp.csr_matrix(contenders.read(name, dtype))
            there = cupyx.scipy.sparse.csr_matrix(host)
            blocks = [cupy.ones((host.shape[1], k), dtype) for k in options.k]
            ways = {
                "taken there": lambda: ordito.csr(there),
                "from the host": lambda: ordito.csr(host, device="cuda"),
                "through the host": lambda: ordito.csr(there.get(), device="cuda"),
            }
            known = [contenders.Known(host, cupy.asnumpy(x)) for x in blocks]
            times = {way: [] for way in ways}
            for turn in range(options.rounds + 1):
                for way, wrap in ways.items():
                    moments = [time.perf_counter()]
                    a = wrap()
                    wait()
                    moments.append(time.perf_counter())
                    for x, of_x in zip(blocks, known):
                        y = a @ x
                        wait()
                        moments.append(time.perf_counter())
                        if turn == 0 and not of_x.is_right(cupy.asnumpy(y)):
                            incorrect.append(f"{name}, {dtype}, {way}, K = {x.shape[1]}")
                    times[way] += [np.diff(moments) * 1e3] if turn > 0 else []  # the first one compiles
            print(f"\n{name}, {dtype}, {(host.data.nbytes + host.indices.nbytes) / 1e6:.0f} MB")
            for way, found in times.items():
                wrapped, *first = np.median(found, axis=0)
                products = "; ".join(f"first product with K = {k} {ms:.1f} ms" for k, ms in zip(options.k, first))
                print(f"  {way:<17} wrapped in {wrapped:.1f} ms; {products}", flush=True)
    if incorrect:
        sys.exit("incorrect: " + "; ".join(incorrect))


if __name__ == "__main__":
    os.environ["ORDITO_THREADS"] = sys.argv[4]
    _child(sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4]))
