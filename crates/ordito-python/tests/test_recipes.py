"""Every block of Python in docs/python.md, docs/eigenvectors.md and in the package's README runs by itself."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).resolve().parents[1]
RECIPES = PACKAGE.parents[1] / "docs" / "python.md"
EXAMPLES = RECIPES.with_name("eigenvectors.md")


class Block(NamedTuple):
    heading: str
    page: Path
    #: Of the first line of code.
    line: int
    code: str

    @property
    def needs(self) -> list[str]:
        """Modules that its first lines ask for: ``# needs: torch``."""
        return self._named("needs")

    @property
    def files(self) -> list[str]:
        """Real matrices that its first lines ask for: ``# files: bcsstk17.mtx.gz``."""
        return self._named("files")

    def _named(self, what: str) -> list[str]:
        found = re.search(rf"^# {what}: (.+)$", self.code, re.MULTILINE)
        return [] if found is None else re.split(r"[,\s]+", found[1].strip())

    def run(self) -> None:
        # Empty lines before it, so that an error names the line of the page.
        compiled = compile("\n" * (self.line - 1) + self.code, str(self.page), "exec")
        exec(compiled, {"__name__": "__recipe__"})


def blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    heading, begin, fence = page.stem, 0, None
    lines = page.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, start=1):
        if line.startswith("```"):
            if fence is None:
                fence, begin = line[3:].strip(), number + 1
            else:
                if fence == "python":
                    found.append(Block(heading, page, begin, "\n".join(lines[begin - 1 : number - 1])))
                fence = None
        elif fence is None and line.startswith("#"):
            heading = line.lstrip("# ").strip()
    assert fence is None, f"{page}: a block is never closed"
    return found


ALL = [block for page in (RECIPES, EXAMPLES, PACKAGE / "README.md") if page.exists() for block in blocks(page)]


def missing(module: str) -> str | None:
    """Why what needs it cannot run."""
    if importlib.util.find_spec(module) is None:
        return f"{module} is not installed"
    if module == "cupy":
        import cupy

        try:
            cupy.cuda.runtime.getDeviceCount()
        except cupy.cuda.runtime.CUDARuntimeError as error:
            return f"no GPU: {error}"
    return None


def test_there_are_ten_recipes() -> None:
    if not RECIPES.exists():
        pytest.skip("the package is tested without the workspace's documents")
    numbered = [block for block in ALL if block.page == RECIPES and re.match(r"\d+\. ", block.heading)]
    assert len(numbered) >= 10
    assert all("assert" in block.code for block in numbered), "every recipe ends with a check"
    assert sum(not block.needs for block in numbered) >= 7, "most recipes need NumPy, SciPy and scikit-learn only"


@pytest.mark.parametrize("block", ALL, ids=lambda block: block.heading)
def test_it_runs(block: Block, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in block.needs:
        reason = missing(module)
        if reason is not None:
            pytest.skip(reason)
    if block.files:
        matrices = request.getfixturevalue("corpus") / "mtx"
        for name in block.files:
            (tmp_path / name).symlink_to(matrices / name)
    monkeypatch.chdir(tmp_path)  # whatever it writes
    block.run()
    for picture in re.findall(r'savefig\("(.+?)"', block.code):
        assert (tmp_path / picture).stat().st_size > 1000 and (block.page.parent / "pictures" / picture).exists()
