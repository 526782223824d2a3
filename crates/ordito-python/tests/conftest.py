"""What all tests share: how hypothesis draws, and where real files lie."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Derandomized: what passed once passes again. Products wake threads, whose times say nothing about a case.
settings.register_profile("ordito", derandomize=True, deadline=None, max_examples=60, database=None)
settings.load_profile("ordito")

REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Real and malformed files: the folder that ORDITO_CORPUS names, or the one beside the repository."""
    named = os.environ.get("ORDITO_CORPUS")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no corpus in {folder}; ORDITO_CORPUS names one")
    return folder


@pytest.fixture(scope="module", params=["Cupy", "Torch"])
def gpu(request: pytest.FixtureRequest) -> Any:
    """Arrays of the one and of the other, for tests that name it."""
    import gpu_arrays

    return getattr(gpu_arrays, request.param)()
