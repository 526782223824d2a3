#!/usr/bin/env python3
"""How long do triplets take to become CSR, beside scipy and MKL?

    python3 -m venv venv && venv/bin/pip install numpy scipy fast_matrix_market mkl
    venv/bin/python benches/compare_coo_to_csr.py A.mtx ... [--rounds 7] [--threads 2]

Every file three times: its entries as they stand, shuffled, and shuffled with every fifth entry twice. Ours is
`Csr::from_coo` with duplicates summed (benches/turns.rs); theirs are `coo.tocsr()`, which sums and sorts too, and
`mkl_sparse_d_create_coo`, `mkl_sparse_convert_csr` and `mkl_sparse_order`, which sort and keep duplicates. They take turns,
two at a time of which the second counts; the table shows medians and the ratio of each to ours: above 1 we are faster. Our result is compared with scipy's bit by
bit. Without MKL its columns stay empty.
"""
import argparse
import ctypes
import glob
import os
import sys
import tempfile
import time

import fast_matrix_market
import numpy
import scipy.io
import scipy.sparse
import turns


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    return parser.parse_args()


def open_mkl(threads):
    found = glob.glob(os.path.join(sys.prefix, "lib", "libmkl_rt.so*"))
    if not found:
        return None
    mkl = ctypes.CDLL(found[0], ctypes.RTLD_GLOBAL)
    mkl.MKL_Set_Num_Threads(threads)
    return mkl


def mkl_turn(mkl, coo):
    rows, cols = coo.row.astype(numpy.int32), coo.col.astype(numpy.int32)
    at = lambda array: array.ctypes.data_as(ctypes.c_void_p)

    def turn():
        given, converted = ctypes.c_void_p(), ctypes.c_void_p()
        start = time.perf_counter()
        shape = (*coo.shape, coo.nnz)
        status = mkl.mkl_sparse_d_create_coo(ctypes.byref(given), 0, *shape, at(rows), at(cols), at(coo.data))
        status |= mkl.mkl_sparse_convert_csr(given, 10, ctypes.byref(converted))
        status |= mkl.mkl_sparse_order(converted)
        seconds = time.perf_counter() - start
        mkl.mkl_sparse_destroy(converted)
        mkl.mkl_sparse_destroy(given)
        assert status == 0, status
        return seconds

    return turn


def arrangements(coo):
    yield "as it stands", coo
    random = numpy.random.default_rng(8)
    for name, repeated in (("shuffled", 0), ("shuffled, every fifth twice", coo.nnz // 5)):
        order = random.permutation(numpy.concatenate([numpy.arange(coo.nnz), 5 * numpy.arange(repeated)]))
        yield name, scipy.sparse.coo_matrix((coo.data[order], (coo.row[order], coo.col[order])), shape=coo.shape)


def tocsr(coo):
    coo.has_canonical_format = False  # a conversion may have found out that it is
    return coo.tocsr()


def compare(coo, args, mkl, folder):
    file = os.path.join(folder, "a.mtx")
    fast_matrix_market.write_coo(file, (coo.data, (coo.row, coo.col)), shape=coo.shape)
    ours = turns.Ours("csr", file, args.threads)
    ours.turn()
    expected = tocsr(coo).tocoo()
    found = ours.triplets(os.path.join(folder, "ours.npy"))
    if not turns.same_bits(found, turns.sorted_triplets(expected.row, expected.col, expected.data)):
        raise SystemExit("our matrix differs from scipy's")
    run = {"ours": ours.turn, "scipy": turns.timed(lambda: tocsr(coo))}
    if mkl:
        run["mkl"] = mkl_turn(mkl, coo)
    medians = turns.take_turns(run, args.rounds)
    ours.close()
    return medians


def main():
    args = arguments()
    mkl = open_mkl(args.threads)
    print(f"{args.threads} threads, medians of {args.rounds} turns, milliseconds; same bits as scipy")
    print(f"{'':<52}{'entries':>10}{'ours':>8}{'ns/nnz':>8}{'scipy':>8}{'ratio':>7}{'MKL':>8}{'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for file in args.files:
            for arrangement, coo in arrangements(scipy.io.mmread(file).tocoo()):
                medians = compare(coo, args, mkl, folder)
                ours = medians["ours"]
                line = f"{os.path.basename(file) + ', ' + arrangement:<52}{coo.nnz:>10}{1e3 * ours:>8.1f}{1e9 * ours / coo.nnz:>8.1f}"
                for peer in ("scipy", "mkl"):
                    if peer in medians:
                        line += f"{1e3 * medians[peer]:>8.1f}{medians[peer] / ours:>7.2f}"
                print(line, flush=True)


main()
