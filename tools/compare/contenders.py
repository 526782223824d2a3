"""Who multiplies, with what, and whether the result is right."""

import importlib
import warnings
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np
import scipy.sparse as sp

import ordito


def optional(name):
    """A module, or none where it cannot be used."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


@dataclass
class Contender:
    name: str
    run: Callable[[], Any]
    #: Whom it is measured against: ours with arrays of the same kind. Ours name themselves.
    ours: str
    #: Its result as an array of NumPy's.
    to_host: Callable[[Any], np.ndarray] = np.asarray
    #: What was chosen, and what it cost.
    note: Callable[[], str] = field(default=lambda: "")


def read(name, dtype):
    """SciPy's, sorted, with indices of 32 bits: those it is fastest with, and the only ones that MKL's usual interface takes."""
    a = ordito.read(name).to_scipy()
    narrow = [part.astype(np.int32) for part in (a.indices, a.indptr)] if a.nnz < 2**31 else [a.indices, a.indptr]
    return sp.csr_array((a.data.astype(dtype), *narrow), shape=a.shape)


def block(rows, k, dtype):
    return np.random.default_rng(0).standard_normal((rows, k)).astype(dtype)


class Known:
    """SciPy's product in float64, and how far another order of its sums may lead away from it."""

    def __init__(self, a, x):
        wide, x_wide = a.astype(np.float64), x.astype(np.float64)
        longest = int(np.diff(a.indptr).max(initial=0))
        self.y = wide @ x_wide
        self.bound = (longest + 2) * np.finfo(x.dtype).eps * (abs(wide) @ abs(x_wide))
        self.dtype = x.dtype

    def outcome(self, contender):
        try:
            y = contender.to_host(contender.run())
        except Exception as error:  # of any library: the others go on
            return f"failed: {type(error).__name__}: {str(error).splitlines()[0][:100]}"
        return "passed" if self.is_right(y) else "incorrect"

    def is_right(self, y):
        """Of a product on the host."""
        return y.shape == self.y.shape and y.dtype == self.dtype and bool(np.all(np.abs(y - self.y) <= self.bound))


def _chosen(a, k):
    choice = a.prepare(k)
    size = a._parts.data.nbytes + a._parts.indices.nbytes + a._parts.indptr.nbytes
    beside = a.nbytes / max(size, 1)
    return f"{choice.kernel}, prepared in {choice.seconds * 1e3:.1f} ms, {beside:.2f} × the matrix beside it"


def on_cpu(a, x, threads):
    ours = ordito.csr(a, threads=threads)
    yield Contender("ordito", lambda: ours @ x, "ordito", note=lambda: _chosen(ours, x.shape[1]))
    yield Contender("scipy", lambda: a @ x, "ordito")  # has one thread, whatever is asked for
    mkl = optional("sparse_dot_mkl")
    if mkl is not None:
        yield Contender("mkl", lambda: mkl.dot_product_mkl(a, x), "ordito")
    torch = optional("torch")
    if torch is not None:
        there, x_there = torch_csr(torch, a, "cpu"), torch.from_numpy(x)
        yield Contender("torch", lambda: there @ x_there, "ordito", to_host=lambda y: y.numpy())


def on_gpu(a, x, threads):
    """In place: X lies on the GPU, and so does the result."""
    ours = ordito.csr(a, device="cuda")
    cupy, torch = optional("cupy"), optional("torch")
    note = lambda: _chosen(ours, x.shape[1])
    if cupy is not None:
        sparse = importlib.import_module("cupyx.scipy.sparse")
        theirs, x_rows, x_columns = sparse.csr_matrix(a), cupy.asarray(x), cupy.asfortranarray(cupy.asarray(x))
        fetch = lambda y: y.get()
        yield Contender("ordito on CuPy", lambda: ours @ x_rows, "ordito on CuPy", fetch, note)
        yield Contender("cupyx", lambda: theirs @ x_rows, "ordito on CuPy", fetch)
        # What cuSPARSE wants there: without it every call turns X first.
        yield Contender("cupyx by columns", lambda: theirs @ x_columns, "ordito on CuPy", fetch)
    if torch is not None and torch.cuda.is_available():
        there, x_there = torch_csr(torch, a, "cuda"), torch.from_numpy(x).cuda()
        fetch = lambda y: y.cpu().numpy()
        yield Contender("ordito on torch", lambda: ours @ x_there, "ordito on torch", fetch, note)
        yield Contender("torch", lambda: torch.sparse.mm(there, x_there), "ordito on torch", fetch)


def torch_csr(torch, a, device):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sparse CSR is in beta
        arrays = [torch.from_numpy(part) for part in (a.indptr, a.indices, a.data)]
        return torch.sparse_csr_tensor(*arrays, size=a.shape).to(device)


def synchronise():
    """Of the whole GPU: what CuPy and torch have enqueued in any stream."""
    cupy, torch = optional("cupy"), optional("torch")
    if cupy is not None:
        cupy.cuda.Device().synchronize()
    elif torch is not None:
        torch.cuda.synchronize()


def limit_threads(threads):
    """Of the pools that are loaded by now; the environment tells those that come later."""
    torch = optional("torch")
    if torch is not None:
        torch.set_num_threads(threads)
    optional("sparse_dot_mkl")
    pools = optional("threadpoolctl")
    if pools is not None:
        pools.threadpool_limits(threads)


def versions(options):
    names = ("cupy", "torch") if options.gpu else ("sparse_dot_mkl", "torch")
    found = [f"ordito {ordito.__version__}", f"numpy {np.__version__}", f"scipy {importlib.import_module('scipy').__version__}"]
    for name in names:
        module = optional(name)
        version = getattr(module, "__version__", "found") if module is not None else "not found"
        found.append(f"{name} {version}")
    machine = "; ".join(text for name, usable, text in ordito.doctor() if usable and name in ("processor", "gpu"))
    return f"{', '.join(found)}; {machine}; {options.threads} threads"
