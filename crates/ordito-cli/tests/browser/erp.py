#!/usr/bin/env python3
"""Looks at the pages of `ordito erp` in a real browser: nothing is fetched, nothing is logged, charts are there, the cursor
moves in all plots and changes values and map, narrow and wide, light and dark, without a script, hostile names included.

    python3 crates/ordito-cli/tests/browser/erp.py target/release/ordito [folder for screenshots]

Needs what `report.py` needs."""

import pathlib
import random
import shutil
import sys
import tempfile

from playwright.sync_api import sync_playwright

from report import HOSTILE, Browser, charts_are_drawn, legends_hide_series, ordito

LARGEST_BYTES = 3_000_000


def lines(page):
    """Places of the cursor's lines, as shares of their plots."""
    return page.evaluate(
        """[...document.querySelectorAll('figure.chart rect.area')].map(area => {
             const svg = area.ownerSVGElement, number = (of, name) => Number(of.getAttribute(name));
             const all = [...svg.querySelectorAll('.cursor-line')];
             const areas = [...svg.querySelectorAll('rect.area')];
             return (number(all[areas.indexOf(area)], 'x1') - number(area, 'x')) / number(area, 'width'); })"""
    )


def cursor(page):
    """What the cursor says: time, values, and the map's pixels."""
    return page.evaluate(
        """[document.getElementById('cursor-time').textContent,
            document.querySelector('#cursor-values tbody').innerText,
            document.getElementById('cursor-map')?.toDataURL() ?? null]"""
    )


def the_cursor_moves(page, plots, mapped=True):
    assert page.locator("#cursor").is_visible()
    before = cursor(page)
    slider = page.locator("#cursor-slider")
    slider.focus()
    slider.press("Home")
    first = cursor(page)
    for _ in range(5):
        slider.press("ArrowRight")
    fifth = cursor(page)
    assert len({state[0] for state in (before, first, fifth)}) == 3, (before[0], first[0], fifth[0])
    assert first[1] != fifth[1], "values stay the same"
    assert not mapped or (first[2] != fifth[2] and first[2] != before[2]), "the map stays the same"
    assert (first[2] is not None) == mapped
    # By pointer, in the first plot; the line follows in all of them.
    area = page.locator("figure.chart rect.area").first
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    page.wait_for_function("before => document.getElementById('cursor-time').textContent !== before", arg=fifth[0])
    shares = lines(page)
    assert len(shares) >= plots and all(0.45 < share < 0.55 for share in shares), shares


def without_a_script(browser, file):
    """The same figures and tables are there; only the cursor is not."""
    context = browser.browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(file.as_uri())
    assert not page.locator("#cursor").is_visible()
    assert page.locator("figure.chart svg").first.is_visible() and "kept" in page.inner_text("main")


def epochs(path, rows, sensors, samples, seed):
    """Noise with a bump in the second half, as text."""
    noise = random.Random(seed)
    def value(sample):
        return noise.gauss(0, 3) + (4 if samples // 2 < sample < samples // 2 + 6 else 0)
    text = (" ".join(f"{value(sample):.4e}" for _ in range(sensors) for sample in range(samples)) for _ in range(rows))
    path.write_text("\n".join(text) + "\n")
    return path


def main():
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    shots = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()).resolve()
    shots.mkdir(parents=True, exist_ok=True)
    work = pathlib.Path(tempfile.mkdtemp())
    ordito(binary, "erp", "--demo", str(work))
    target, nontarget, out = work / "target.txt", work / "nontarget.txt", work / "out"
    ordito(binary, "erp", str(target), str(nontarget), "--rate", "102.4", "--start=-100ms", "--baseline=-100ms:0",
           "--reject", "150", "--groups", "7", "--permutations", "100", "--out", str(out))
    for kind in ("svg", "png"):
        assert len(list((out / "plots").glob(f"*.{kind}"))) > 15, kind

    with sync_playwright() as playwright:
        browser = Browser(playwright, shots)
        report = out / "report.html"
        assert report.stat().st_size < LARGEST_BYTES, report.stat().st_size
        page = browser.open(report, width=1400, shot="erp")
        charts_are_drawn(page, 15)
        the_cursor_moves(page, 64 + 10)
        legends_hide_series(page)
        assert not page.said, page.said
        for title in ("Epochs", "Largest peaks", "Significant intervals", "Maps at the peaks", "Nontarget by groups"):
            assert page.locator("h2", has_text=title).count() == 1, title
        for width, dark, shot in [(375, False, "erp-narrow"), (1920, False, "erp-wide"), (1280, True, "erp-dark")]:
            page = browser.open(report, width=width, dark=dark, shot=shot)
            background = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (background == "rgb(255, 255, 255)") != dark, background
        page = browser.open(report)
        page.emulate_media(media="print")
        assert not page.locator("#cursor").is_visible()
        page.pdf(path=str(shots / "erp.pdf"))
        without_a_script(browser, report)

        few, names = epochs(work / "few.txt", 12, 12, 40, 1), work / "names.txt"
        other = epochs(work / "other.txt", 9, 12, 40, 2)
        # Blanks end a name. Most of them have places: there is a map, and sensors that it cannot show.
        plain = ["-".join(name.split()) for name in HOSTILE[:4]]
        names.write_text("\n".join([*plain, "Fz", "Cz", "Pz", "Oz", "C3", "C4", "T3", "T4"]) + "\n")
        ordito(binary, "erp", str(few), str(other), "--sensors", str(names), "--unit", HOSTILE[0], "--rate", "100",
               "--out", str(work / "hostile"))
        page = browser.open(work / "hostile" / "report.html", width=800, shot="erp-hostile")
        charts_are_drawn(page, 5)
        the_cursor_moves(page, 8)
        assert page.evaluate("window.broken") is None and not page.said, page.said

        # Nameless sensors, one condition: no map and no difference, but a page.
        ordito(binary, "erp", str(few), "--sensors", "12", "--rate", "100", "--out", str(work / "alone"))
        page = browser.open(work / "alone" / "report.html", shot="erp-alone")
        charts_are_drawn(page, 3)
        the_cursor_moves(page, 8, mapped=False)
        assert "no maps" in page.inner_text("main")
    shutil.rmtree(work)
    print(f"pages are as they should be; screenshots in {shots}")


if __name__ == "__main__":
    main()
