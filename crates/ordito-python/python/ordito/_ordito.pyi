"""What is written in Rust. Arrays are as the kernels take them; the modules beside this one convert what is not."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str
ALIGNMENT: int

Array = NDArray[Any]
Block = tuple[int, int, int, int]

class Matrix:
    def __new__(
        cls,
        shape: tuple[int, int],
        indptr: Array,
        indices: Array,
        data: Array,
        threads: int | None = ...,
        gpu: int | None = ...,
        variant: str | None = ...,
    ) -> Matrix: ...
    @staticmethod
    def taken(
        shape: tuple[int, int],
        nonzeros: int,
        indptr: tuple[int, bool],
        indices: tuple[int, bool],
        data: tuple[int, bool],
        gpu: int,
        threads: int | None,
        variant: str | None,
    ) -> Matrix: ...
    def arrays(self) -> list[Array]: ...
    @property
    def nnz(self) -> int: ...
    def product(
        self,
        x: object,
        out: object = ...,
        alpha: float = ...,
        beta: float = ...,
        transposed: bool = ...,
        from_left: bool = ...,
    ) -> Any: ...
    def prepare(self, columns: int, transposed: bool) -> tuple[str, str, float, int]: ...
    def choices(self) -> list[tuple[int, str, str]]: ...
    def update_values(self, data: Array) -> None: ...
    def bytes(self) -> int: ...
    @property
    def converted_bytes(self) -> int: ...

class Communicator:
    def __new__(cls, number: int) -> Communicator: ...
    def fail(self, why: str) -> None: ...
    def has_failed(self) -> bool: ...

class DistributedMatrix:
    def __new__(
        cls,
        ranks: Communicator,
        starts: tuple[list[int], list[int]],
        indptr: Array,
        indices: Array,
        data: Array,
        threads: int | None = ...,
        team: int | None = ...,
        variant: str | None = ...,
    ) -> DistributedMatrix: ...
    @staticmethod
    def read(
        ranks: Communicator,
        name: str,
        single: bool,
        threads: int | None = ...,
        team: int | None = ...,
        variant: str | None = ...,
    ) -> DistributedMatrix: ...
    def product(
        self, x: object, out: object = ..., alpha: float = ..., beta: float = ..., transposed: bool = ...
    ) -> Array | None: ...
    def starts(self) -> tuple[list[int], list[int]]: ...
    def entries(self) -> tuple[int, int]: ...
    def team(self) -> int: ...
    def moved(self) -> tuple[list[int], list[int], list[int]]: ...

def leave_ranks(why: str | None = ...) -> None: ...
def product_on_device(
    matrix: Matrix, x: Block, y: Block, alpha: float, beta: float, transposed: bool, stream: int
) -> None: ...
def loaded(name: str) -> Any: ...
def know_torch(torch: object, current_stream: object) -> None: ...
def know_cupy(cupy: object) -> None: ...
def solve_lobpcg(
    matrix: Matrix,
    asked: object,
    count: int,
    largest: bool,
    start: Array | Block | None = ...,
    b: object = ...,
    m: object = ...,
    y: Array | Block | None = ...,
    out: Block | None = ...,
) -> dict[str, Any]: ...
def solve_eigsh(
    matrix: Matrix,
    asked: object,
    count: int,
    which_end: str,
    start: Array | Block | None = ...,
    block: int | None = ...,
    subspace: int | None = ...,
    out: Block | None = ...,
) -> dict[str, Any]: ...
def solve_svds(
    matrix: Matrix,
    transposed: bool,
    asked: object,
    count: int,
    start: Array | Block | None = ...,
    block: int | None = ...,
    subspace: int | None = ...,
    out: tuple[Block, Block] | None = ...,
) -> dict[str, Any]: ...
def solve_randomized_svd(
    matrix: Matrix,
    transposed: bool,
    asked: object,
    count: int,
    oversampling: int,
    power_iterations: int | None = ...,
    out: tuple[Block, Block] | None = ...,
) -> dict[str, Any]: ...
def solve_cg(
    matrix: Matrix,
    asked: object,
    b: Array | Block,
    start: Array | Block | None = ...,
    m: object = ...,
    out: Block | None = ...,
) -> dict[str, Any]: ...
def solve_pagerank(
    matrix: Matrix, transposed: bool, asked: object, damping: float, seeds: Array | None = ...
) -> dict[str, Any]: ...
def rows_of_columns(
    shape: tuple[int, int], indptr: Array, indices: Array, data: Array
) -> list[Array]: ...
def gemm(a: Array, b: Array, c: Array, alpha: float, beta: float) -> bool: ...
def column_stats(
    data: Array, threads: int | None = ..., gpu: int | None = ...
) -> tuple[int, list[NDArray[np.float64]]] | None: ...
def read_csr(name: str, single: bool) -> tuple[tuple[int, int], list[Array]]: ...
def read_coo(path: str | os.PathLike[str]) -> tuple[tuple[int, int], list[Array], str, str]: ...
def write_coo(
    path: str | os.PathLike[str], shape: tuple[int, int], arrays: list[Array], comment: str
) -> None: ...
def read_text(path: str | os.PathLike[str], single: bool, separator: int | None = None) -> tuple[Array, list[str] | None]: ...
def doctor() -> list[tuple[str, bool, str]]: ...
