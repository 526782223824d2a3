#!/usr/bin/env python3
"""Looks at the pages of `ordito xray` in a real browser: nothing is fetched, nothing is logged, the tables and the source are there,
pictures of warps open and show what they should, narrow and wide, light and dark, without a script, hostile names included.

    python3 crates/ordito-cli/tests/browser/xray.py target/release/ordito [folder for screenshots]

Needs what `report.py` needs, and a C++ compiler."""

import pathlib
import shutil
import sys
import tempfile

from playwright.sync_api import sync_playwright

from report import Browser, ordito

KERNEL = """// <script>window.broken=1</script>
__global__ void tricky(const float* x, float* y) {
    __shared__ float tile[32][32];  // "><img src=x onerror=window.broken=1>
    tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    y[threadIdx.x * 32 + threadIdx.y] = tile[threadIdx.x][threadIdx.y];
}
"""
LAUNCH = "tricky<<<1,(32,32)>>>(f32[1024], f32[1024])"


def pictures(page):
    """Opens each picture in turn: words that are used, words of a bank that serves another already, sectors that are moved."""
    found = {}
    for details in page.locator("details").all():
        summary = details.locator("summary")
        summary.click()
        assert details.locator("svg.words").is_visible(), summary.inner_text()
        count = lambda name: details.locator(f"svg.words .{name}").count()
        found[summary.inner_text()] = (count("used"), count("again"), count("moved"))
    return found


def the_kernel_is_shown(page):
    found = pictures(page)
    one = lambda *words: next(value for text, value in found.items() if all(word in text for word in words))
    assert one("tricky.cu:4", ": load") == (32, 0, 4), found
    assert one("tricky.cu:6", "shared load") == (1, 31, 0), found
    assert one("tricky.cu:6", ": store") == (32, 0, 32), found
    source = page.locator("table.source")
    assert source.count() == 1
    assert "tile[threadIdx.x][threadIdx.y]" in source.inner_text()
    assert page.evaluate("window.broken") is None
    bounds = page.locator("table", has_text="DRAM").first
    assert bounds.is_visible()


def main():
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    folder = pathlib.Path(tempfile.mkdtemp())
    shots = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else folder
    shots.mkdir(parents=True, exist_ok=True)
    try:
        (folder / "tricky.cu").write_text(KERNEL)
        own, ours = folder / "own.html", folder / "ours.html"
        ordito(binary, "xray", str(folder / "tricky.cu"), "--launch", LAUNCH, "--page", str(own))
        ordito(binary, "xray", "spmm", "stencil27:6", "--variant", "csr-cuda-[tw]*,csr-cuda-rows*", "--k", "8", "--page", str(ours))
        with sync_playwright() as playwright:
            browser = Browser(playwright, shots)
            the_kernel_is_shown(browser.open(own, shot="xray-own"))
            the_kernel_is_shown(browser.open(own, width=380, dark=True, shot="xray-own-narrow"))
            page = browser.open(ours, shot="xray-ours")
            assert page.locator("section").count() > 5
            assert len(pictures(page)) > 10
            browser.open(ours, width=380, dark=True)
        print("the pages of xray are well")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
