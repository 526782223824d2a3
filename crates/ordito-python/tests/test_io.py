"""Files: Matrix Market against scipy.io, tables against NumPy, and what is wrong with them."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import ordito
import pytest
import scipy.io
import scipy.sparse as sp
from arrays import random_csr
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

BANNER = "%%MatrixMarket matrix coordinate real general\n"
SMALL = 70_000  # bytes: what reads in milliseconds


def assert_same(ours: Any, theirs: Any) -> None:
    """In kind, type and every number."""
    assert type(ours) is type(theirs)
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    if not sp.issparse(ours):
        assert_array_equal(ours, theirs)
        return
    assert [array.dtype for array in ours.coords] == [array.dtype for array in theirs.coords]
    # By rows: mirrored entries may stand in another order in the file.
    by_rows = [coo.tocsr() for coo in (ours, theirs)]
    for csr in by_rows:
        csr.sort_indices()
    for name in ("indptr", "indices", "data"):
        assert_array_equal(getattr(by_rows[0], name), getattr(by_rows[1], name))


# --- reading, against SciPy ---


def test_small_real_matrices_are_read_as_scipy_reads_them(corpus: Path) -> None:
    files = [path for path in sorted((corpus / "mtx").iterdir()) if path.stat().st_size <= SMALL]
    assert len(files) >= 5
    for path in files:
        theirs = scipy.io.mmread(path, spmatrix=False)
        ours = ordito.io.mmread(path, spmatrix=False)
        assert_same(ours, theirs)
        a = ordito.read(path)
        assert a.shape == theirs.shape
        x = np.arange(a.shape[1]) % 7 - 3.0
        np.testing.assert_allclose(a @ x, theirs.tocsr() @ x, rtol=1e-10, atol=1e-10)


def test_every_kind_of_file_is_read_as_scipy_reads_it(corpus: Path) -> None:
    files = sorted((corpus / "odd" / "valid").iterdir())
    assert len(files) >= 50
    for path in files:
        for spmatrix in (True, False):
            assert_same(ordito.io.mmread(path, spmatrix=spmatrix), scipy.io.mmread(path, spmatrix=spmatrix))


def outcome(read: Any, path: Path) -> Any:
    try:
        return read(path)
    except Exception as error:
        return error


#: Spellings seen in the wild that SciPy refuses and we read.
DIALECTS = ("dialect__", "bodycomment__")


def test_malformed_files_give_exceptions(corpus: Path) -> None:
    files = sorted((corpus / "odd" / "malformed").iterdir())
    assert len(files) >= 50
    refused = 0
    for path in files:
        ours, theirs = outcome(ordito.io.mmread, path), outcome(scipy.io.mmread, path)
        if isinstance(ours, Exception):
            refused += 1
            # Numbers that are too large are an OverflowError in SciPy.
            assert type(ours) in (ValueError, OverflowError), path.name
            assert "line" in str(ours).lower() or isinstance(theirs, Exception), path.name
        elif isinstance(theirs, Exception):
            assert path.name.startswith(DIALECTS), f"{path.name}: read, though it is wrong"
        else:
            assert_same(ours, theirs)
    assert refused >= 50


def test_malformed_files_are_no_matrices(corpus: Path) -> None:
    """`read` names file and line."""
    refused = [
        (path, error)
        for path in sorted((corpus / "odd" / "malformed").iterdir())
        if isinstance(error := outcome(ordito.read, path), Exception)
    ]
    assert len(refused) >= 50
    for path, error in refused:
        assert type(error) is ValueError and path.name in str(error) and "line " in str(error), error


KINDS = {
    "real general": ("coordinate real general\n2 3 2\n1 3 2.5\n2 1 -1e-3\n", np.float64),
    "integer symmetric": ("coordinate integer symmetric\n3 3 2\n1 1 4\n3 1 -7\n", np.int64),
    "pattern": ("coordinate pattern general\n2 2 2\n1 1\n2 2\n", np.float64),
    "skew": ("coordinate real skew-symmetric\n3 3 1\n2 1 5\n", np.float64),
    "duplicates": ("coordinate real general\n2 2 3\n1 1 1\n1 1 2\n2 2 3\n", np.float64),
    "array": ("array real general\n2 2\n1\n2\n3\n4\n", np.float64),
    "array of integers": ("array integer symmetric\n2 2\n1\n2\n3\n", np.int64),
    "complex": ("coordinate complex general\n2 2 1\n1 2 1.5 -2\n", np.complex128),
    "hermitian": ("coordinate complex hermitian\n2 2 1\n2 1 1.5 -2\n", np.complex128),
    "nothing": ("coordinate real general\n3 4 0\n", np.float64),
    "large integers": ("coordinate integer general\n1 1 1\n1 1 9007199254740993\n", np.int64),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", [".mtx", ".mtx.gz", ".mtx.bz2"])
@pytest.mark.parametrize("spmatrix", [True, False])
def test_fields_and_symmetries(kind: str, ending: str, spmatrix: bool, tmp_path: Path) -> None:
    text, dtype = KINDS[kind]
    pack: Any = {".mtx": bytes, ".mtx.gz": gzip.compress, ".mtx.bz2": bz2.compress}[ending]
    path = tmp_path / f"a{ending}"
    path.write_bytes(pack(f"%%MatrixMarket matrix {text}".encode()))
    ours = ordito.io.mmread(path, spmatrix=spmatrix)
    assert ours.dtype == dtype
    assert_same(ours, scipy.io.mmread(path, spmatrix=spmatrix))
    assert_same(ordito.io.mmread(str(path), spmatrix=spmatrix), ours)
    # As in SciPy, the ending may be left out.
    assert_same(ordito.io.mmread(str(tmp_path / "a"), spmatrix=spmatrix), ours)


def test_streams_are_read() -> None:
    text = BANNER + "1 2 1\n1 2 2.5\n"
    for stream in (io.BytesIO(text.encode()), io.StringIO(text)):
        assert_array_equal(ordito.io.mmread(stream).toarray(), [[0.0, 2.5]])


# --- writing ---

numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(
    entries=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 7), numbers), max_size=20),
    single=st.booleans(),
    ending=st.sampled_from([".mtx", ".mtx.gz"]),
    format=st.sampled_from(["coo", "csr", "csc"]),
)
def test_what_is_written_is_read_with_the_same_bits(
    entries: list[tuple[int, int, float]], single: bool, ending: str, format: str
) -> None:
    a = sp.dok_array((6, 8), dtype=np.float64)
    for row, col, value in entries:
        a[row, col] = value
    with np.errstate(over="ignore"):
        a = a.tocoo().astype(np.float32 if single else np.float64)
    a.data[np.isinf(a.data)] = 1.0  # too large for float32
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{ending}"
        ordito.io.mmwrite(path, a.asformat(format), comment="two\nlines")
        for read in (ordito.io.mmread, scipy.io.mmread):
            back = read(path, spmatrix=False)
            assert back.toarray().astype(a.dtype).tobytes() == a.toarray().tobytes()
        if a.nnz:
            dtype = a.dtype
            assert_array_equal(ordito.read(path, dtype=dtype).to_scipy().toarray(), a.toarray())


def test_names_and_comments_are_as_scipy_has_them(tmp_path: Path) -> None:
    a = sp.coo_array([[0.0, 2.5]])
    ordito.io.mmwrite(tmp_path / "a", a)
    ordito.io.mmwrite(str(tmp_path / "b.mtx"), a, comment=" said\n of it")
    ordito.io.mmwrite(tmp_path / "c.mtx.gz", a)
    assert sorted(os.listdir(tmp_path)) == ["a.mtx", "b.mtx", "c.mtx.gz"]
    assert (tmp_path / "c.mtx.gz").read_bytes()[:2] == b"\x1f\x8b"
    comments = [line for line in (tmp_path / "b.mtx").read_text().splitlines()[1:] if line.startswith("%")]
    assert "said" in comments[0] and "of it" in comments[1]


@pytest.mark.parametrize(
    "matrix, options",
    [
        (np.arange(6.0).reshape(2, 3), {}),
        (sp.coo_array(np.eye(3, dtype=int)), {}),
        (sp.coo_array(np.eye(3) * 1j), {}),
        (sp.coo_array(np.eye(3)), {"symmetry": "symmetric"}),
        (sp.coo_array(np.eye(3) / 3), {"precision": 3}),
        (sp.coo_array(np.eye(3)), {"field": "pattern"}),
        (sp.coo_array(np.eye(3)), {"field": "integer"}),
    ],
)
def test_the_rest_is_written_by_scipy(matrix: Any, options: dict[str, Any], tmp_path: Path) -> None:
    ordito.io.mmwrite(str(tmp_path / "ours.mtx"), matrix, **options)
    scipy.io.mmwrite(str(tmp_path / "theirs.mtx"), matrix, **options)
    assert (tmp_path / "ours.mtx").read_text() == (tmp_path / "theirs.mtx").read_text()


def test_a_stream_is_written_to() -> None:
    stream = io.BytesIO()
    ordito.io.mmwrite(stream, sp.coo_array([[0.0, 2.5]]))
    stream.seek(0)
    assert_array_equal(ordito.io.mmread(stream).toarray(), [[0.0, 2.5]])


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="cannot write"):
        ordito.io.mmwrite(tmp_path / "missing" / "a.mtx", sp.coo_array(np.eye(2)))
    assert os.listdir(tmp_path) == []


# --- files that are not there, or damaged ---


@pytest.mark.parametrize("read", [ordito.io.mmread, ordito.io.loadtxt])
@pytest.mark.parametrize("name", ["missing.mtx", "missing.mtx.gz", "missing"])
def test_missing_files_are_not_found(read: Any, name: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        read(tmp_path / name)


@pytest.mark.parametrize("name", ["missing.mtx", "missing.mtx.gz", "folder/missing.mtx"])
def test_read_does_not_find_a_missing_file(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        ordito.read(tmp_path / name)


@pytest.mark.parametrize("read", [ordito.io.mmread, ordito.io.loadtxt, ordito.read])
def test_folders_are_no_files(read: Any, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="folder|directory"):
        read(tmp_path)


@pytest.mark.parametrize("read", [ordito.io.mmread, ordito.read, ordito.io.loadtxt])
def test_a_file_that_is_cut_off_says_so(read: Any, tmp_path: Path) -> None:
    lines = "".join(f"{row} {row} {row * 0.37}\n" for row in range(1, 500))
    packed = gzip.compress(f"{BANNER}500 500 499\n{lines}".encode() if read is not ordito.io.loadtxt else lines.encode())
    path = tmp_path / "a.mtx.gz"
    for kept in (4, 15, len(packed) // 2, len(packed) - 5):
        path.write_bytes(packed[:kept])
        with pytest.raises((OSError, ValueError), match="a.mtx.gz"):
            read(path)
    damaged = bytearray(packed)
    damaged[len(packed) // 2] ^= 0xFF
    path.write_bytes(damaged)
    with pytest.raises((OSError, ValueError), match="a.mtx.gz"):
        read(path)


@given(text=st.text(st.sampled_from("0123456789 .-+eE%\n\tax"), max_size=60), kind=st.sampled_from(["", "real", "array"]))
def test_any_text_gives_numbers_or_an_exception(text: str, kind: str) -> None:
    begin = {"": "", "real": BANNER, "array": "%%MatrixMarket matrix array real general\n"}[kind]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.mtx"
        path.write_text(begin + text)
        for read in (ordito.io.mmread, ordito.read, ordito.io.loadtxt):
            found = outcome(read, path)
            assert type(found) is ValueError or hasattr(found, "shape"), repr(found)


# --- matrices by name ---


def test_bare_names_are_looked_up_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    s = random_csr(np.random.default_rng(0), 6, 5)
    ordito.io.mmwrite(tmp_path / "mine.mtx.gz", s)
    monkeypatch.setenv("ORDITO_MATRICES", str(tmp_path))
    assert_array_equal(ordito.read("mine").to_scipy().toarray(), s.toarray())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_file_becomes_a_matrix(dtype: Any, tmp_path: Path) -> None:
    s = random_csr(np.random.default_rng(1), 9, 7)
    ordito.io.mmwrite(tmp_path / "a.mtx", s)
    for name in (tmp_path / "a.mtx", str(tmp_path / "a.mtx")):
        a = ordito.read(name, dtype=dtype, threads=1)
        assert a.dtype == dtype
        assert_array_equal(a @ np.ones(7, dtype), s @ np.ones(7))


@pytest.mark.parametrize(
    "name, text",
    [
        ("stencil27:none", "not a whole number"),
        ("stencil5:0", "the form is stencil5:S"),
        ("uniform:10", "1 numbers after the colon, 2 expected"),
        ("stencil27:99999999999", "more rows or columns than"),
    ],
)
def test_a_synthetic_name_that_is_wrong(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        ordito.read(name)


@pytest.mark.parametrize("dtype", [complex, "U3", object, int, np.float16])
def test_types_of_files_are_real(dtype: Any) -> None:
    with pytest.raises(TypeError, match="dtype is .*; float32 or float64 expected"):
        ordito.read("stencil5:3", dtype=dtype)
    with pytest.raises(TypeError, match="dtype is .*; float32 or float64 expected"):
        ordito.io.loadtxt("any", dtype=dtype)


# --- tables ---


def test_delimiters_that_are_not_known_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="numpy.loadtxt takes others"):
        ordito.io.loadtxt(tmp_path / "a", delimiter="|")


def test_another_delimiter_than_the_one_that_is_named_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1 2\n3 4\n")
    for delimiter in (" ", "\t", None):
        assert_array_equal(ordito.io.loadtxt(tmp_path / "a", delimiter=delimiter), [[1, 2], [3, 4]])
    for delimiter in (",", ";"):
        with pytest.raises(ValueError, match="blanks or tabs stand between the numbers of the first row, .* expected"):
            ordito.io.loadtxt(tmp_path / "a", delimiter=delimiter)


@given(
    table=st.integers(1, 6).flatmap(
        lambda columns: st.lists(st.lists(st.floats(), min_size=columns, max_size=columns), min_size=1, max_size=8)
    ),
    separator=st.sampled_from([" ", "\t", ",", ";", ", ", "   "]),
    line_ending=st.sampled_from(["\n", "\r\n"]),
    packed=st.booleans(),
)
def test_tables_have_the_numbers_that_numpy_reads(
    table: list[list[float]], separator: str, line_ending: str, packed: bool
) -> None:
    text = line_ending.join(separator.join(repr(number) for number in row) for row in table) + line_ending
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("a.txt.gz" if packed else "a.txt")
        path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
        delimiter = separator.strip() or None
        found = ordito.io.loadtxt(path, delimiter=delimiter)
        assert_array_equal(found, np.loadtxt(path, delimiter=delimiter, ndmin=2), strict=True)
        assert_array_equal(found, table)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tables_in_single_precision_are_rounded_once(dtype: Any, tmp_path: Path) -> None:
    # Halfway between two numbers of float32 but for a digit that float64 does not hold.
    (tmp_path / "a").write_text("1.000000059604644775390626\n")
    found = ordito.io.loadtxt(tmp_path / "a", dtype)
    assert found.dtype == dtype
    assert found[0, 0] == (np.float32(1.0000001) if dtype is np.float32 else 1.0000000596046448)


def test_names_above_columns(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("time,Cz\n1,2.5\n")
    numbers, names = ordito.io.loadtxt(tmp_path / "a", names=True)
    assert names == ["time", "Cz"]
    assert_array_equal(numbers, [[1.0, 2.5]])
    (tmp_path / "b").write_text("# measured\n1 2.5\n")
    numbers, names = ordito.io.loadtxt(tmp_path / "b", names=True)
    assert names is None
    assert_array_equal(numbers, np.loadtxt(tmp_path / "b", ndmin=2))


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "the file is empty"),
        ("1 2\n3\n", "row 2 has 1 number, 2 expected"),
        ("1 2\n3 x\n", "row 2, column 2: `x` is not a number"),
        ("1,,2\n", "row 1, column 2: the field is empty"),
        ("1,5;2,5\n", "decimal point"),
        ("1e999\n", "too large for f64"),
        ("\0\1", "binary file"),
    ],
)
def test_a_table_that_is_wrong(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(text)
    with pytest.raises(ValueError, match=message):
        ordito.io.loadtxt(tmp_path / "a")


def test_real_epochs_are_a_table(corpus: Path) -> None:
    files = list((corpus / "eeg").glob("*.txt.gz"))
    if not files:
        pytest.skip("the corpus has no epochs")
    smallest = min(files, key=lambda path: path.stat().st_size)
    assert_array_equal(ordito.io.loadtxt(smallest), np.loadtxt(smallest, ndmin=2))
