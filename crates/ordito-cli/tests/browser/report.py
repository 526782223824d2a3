#!/usr/bin/env python3
"""Looks at reports in a real browser: nothing is fetched, nothing is logged, charts are there, the table sorts and filters,
narrow and wide, light and dark, hostile names included.

    python3 crates/ordito-cli/tests/browser/report.py target/release/ordito [folder for screenshots]

Needs `playwright` (pip) and a Chromium (apt: chromium), found on the path or named in CHROMIUM."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from playwright.sync_api import sync_playwright

LARGEST_BYTES = 6_000_000
# Of the page's own thread: what it computes, not what it waits for while other programs run.
LONGEST_LOAD_S = 2.0
# For a picture of a long page, on a machine that is busy.
LONGEST_WAIT_MS = 180_000
HOSTILE = [
    "<script>window.broken=1</script>",
    "\"><img src=x onerror=window.broken=1>",
    "x" * 500,
    "матрица è 行列 \u202e rtl",
    "a & b <b>'c'\"",
]


def ordito(binary, *arguments):
    subprocess.run([binary, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def rewritten(source, target, change):
    """The samples of `source` with every record changed, as a file of its own."""
    first, *rest = source.read_text().splitlines()
    lines = [json.loads(line) for line in rest]
    lines = [line for line in (change(line) for line in lines) if line is not None]
    target.write_text("\n".join([first, *(json.dumps(line) for line in lines)]) + "\n")
    return target


class Browser:
    def __init__(self, playwright, shots):
        path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
        if path is None:
            sys.exit("no Chromium: apt-get install chromium, or name one in CHROMIUM")
        self.browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        self.shots = shots

    def open(self, file, width=1280, dark=False, shot=None):
        """The page, after it was seen that it loads cleanly, quickly, and asks nobody for anything."""
        size = file.stat().st_size
        assert size < LARGEST_BYTES, f"{file.name}: {size} bytes"
        context = self.browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", offline=True
        )
        context.set_default_timeout(LONGEST_WAIT_MS)
        page = context.new_page()
        said, asked = [], []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        protocol = context.new_cdp_session(page)
        protocol.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(file.as_uri(), wait_until="load")
        measured = {metric["name"]: metric["value"] for metric in protocol.send("Performance.getMetrics")["metrics"]}
        took = measured["TaskDuration"]
        assert 0 < took < LONGEST_LOAD_S, f"{file.name}: {took:.1f} s to load"
        assert not said, f"{file.name}: the console says {said}"
        assert asked == [file.as_uri()], f"{file.name}: asks for {asked[1:]}"
        assert page.evaluate("window.broken") is None, f"{file.name}: a name was run as a script"
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow <= 0, f"{file.name}: {overflow} pixels too wide at {width}"
        if shot:
            page.screenshot(path=str(self.shots / f"{shot}.png"), full_page=True)
        page.said = said
        return page


def charts_are_drawn(page, at_least):
    charts = page.locator("figure.chart")
    assert charts.count() >= at_least, f"{charts.count()} charts"
    for index in range(charts.count()):
        box = charts.nth(index).locator("svg").first.bounding_box()
        assert box and box["width"] > 100 and box["height"] > 40, f"chart {index}: {box}"
    marks = page.evaluate(
        """[...document.querySelectorAll('figure.chart .picture svg')]
           .map(svg => svg.querySelectorAll('path, rect, circle, polyline, line').length)"""
    )
    assert len(marks) == charts.count() and min(marks) > 2, marks
    bad = page.evaluate("document.querySelector('main').innerHTML.match(/NaN|Infinity|undefined/g)")
    assert not bad, bad


def visible_rows(page):
    return page.locator("#results tbody tr:visible")


def the_table_sorts(page):
    for title, get in [("time", "dataset.value"), ("GFLOP/s", "textContent")]:
        button = page.locator("#results thead button", has_text=title).first
        column = button.evaluate("b => b.parentElement.cellIndex")
        for direction in (1, -1):
            button.click()
            values = page.evaluate(
                f"[...document.querySelectorAll('#results tbody tr')].map(r => r.cells[{column}].{get}).filter(v => v)"
            )
            numbers = [direction * float(value) for value in values]
            assert len(numbers) > 3 and numbers == sorted(numbers), f"{title}: {values[:8]}"
    # By keyboard too.
    page.locator("#results thead button").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("#results th[aria-sort=ascending]").count() == 1


def the_table_filters(page):
    every = visible_rows(page).count()
    page.fill("#filter", "csr-serial f64")
    few = visible_rows(page).count()
    assert 0 < few < every, (few, every)
    assert all("csr-serial" in text for text in visible_rows(page).all_inner_texts())
    assert page.inner_text("#shown") == f"{few} of {every}"
    page.fill("#filter", "no such thing")
    assert visible_rows(page).count() == 0
    page.fill("#filter", "")
    assert visible_rows(page).count() == every


def legends_hide_series(page):
    button = page.locator("figure.chart .legend button").first
    name = button.get_attribute("data-series")
    series = button.locator("xpath=ancestor::figure").locator(f"svg g[data-series='{name}']").first
    assert series.is_visible()
    button.click()
    assert button.get_attribute("aria-pressed") == "false" and not series.is_visible()
    button.click()
    assert series.is_visible()


def points_tell(page):
    point = page.locator("figure.chart .point").first
    point.scroll_into_view_if_needed()
    point.hover(force=True)
    tip = page.locator(".tip")
    assert tip.is_visible() and len(tip.inner_text()) > 5, tip.inner_text()


def nobody_has_to_follow_many_lines(page):
    legends = page.evaluate(
        "[...document.querySelectorAll('figure.chart')].map(f => f.querySelectorAll('.legend button').length)"
    )
    assert max(legends) <= 8, legends
    # Every variant's name stands over a panel, in letters that can be read.
    panels = page.locator("figure.chart text.panel", has_text="csr-serial")
    assert panels.count() >= 4 and panels.first.bounding_box()["height"] > 8, panels.count()
    assert page.locator("figure.chart .behind").count() >= 10
    grey = page.locator("figure.chart .behind").first.evaluate("e => getComputedStyle(e).stroke")
    assert grey not in ("none", ""), grey


def sections_are_there(page, *titles):
    navigation = [text.strip() for text in page.locator("nav a").all_inner_texts()]
    assert all(title in navigation for title in titles), (titles, navigation)


def main():
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    shots = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()).resolve()
    shots.mkdir(parents=True, exist_ok=True)
    work = pathlib.Path(tempfile.mkdtemp())
    bench = work / "bench"
    ordito(binary, "bench", "spmm", "stencil27:12", "powerlaw:3000x16", "--k", "1,4,8,16", "--threads", "1,2",
           "--time", "0.02", "--out", str(bench))
    for kind in ("svg", "png"):
        assert len(list((bench / "plots").glob(f"*.{kind}"))) > 6, kind
    samples = bench / "samples.json"

    with sync_playwright() as playwright:
        browser = Browser(playwright, shots)
        report = bench / "report.html"
        page = browser.open(report, shot="report")
        assert page.locator(".verdict.good").count() == 1
        charts_are_drawn(page, 10)
        sections_are_there(page, "Across matrices", "Speed", "Time", "Speed over threads", "Time over threads")
        nobody_has_to_follow_many_lines(page)
        the_table_sorts(page)
        the_table_filters(page)
        legends_hide_series(page)
        points_tell(page)
        assert not page.said, page.said
        for width, dark, shot in [(375, False, "narrow"), (1920, False, "wide"), (1280, True, "dark")]:
            page = browser.open(report, width=width, dark=dark, shot=shot)
            background = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (background == "rgb(255, 255, 255)") != dark, background
        page = browser.open(report)
        page.emulate_media(media="print")
        page.pdf(path=str(shots / "report.pdf"))

        def name_all(name):
            def change(line):
                return {**line, "matrix": name, "variant": name, "refusal": name, "error": name}
            return change

        for number, name in enumerate(HOSTILE):
            rewritten(samples, work / "hostile.json", name_all(name))
            ordito(binary, "report", str(work / "hostile.json"), "-o", str(work / "hostile.html"))
            page = browser.open(work / "hostile.html", width=800, shot=f"hostile{number}")
            assert name.split("\u202e")[0].strip()[:20] in page.inner_text("#results"), name

        def keep(outcome, **more):
            def change(line):
                if line.get("kind"):
                    return line
                timed = ["median_ns", "gflops", "gbytes_per_s", "samples", "p05_ns", "p95_ns"]
                return {key: value for key, value in {**line, "outcome": outcome, **more}.items() if key not in timed}
            return change

        rewritten(samples, work / "refused.json", keep("refused", refusal="too large"))
        ordito(binary, "report", str(work / "refused.json"), "-o", str(work / "refused.html"))
        page = browser.open(work / "refused.html", shot="refused")
        assert page.locator(".verdict.neutral").count() == 1 and "too large" in page.inner_text("main")

        rewritten(samples, work / "wrong.json", keep("incorrect", error="row 3: 1.0 instead of 2.0"))
        ordito(binary, "report", str(work / "wrong.json"), "-o", str(work / "wrong.html"))
        page = browser.open(work / "wrong.html", shot="wrong")
        assert page.locator(".verdict.bad").count() == 1 and page.locator("tr.bad").first.is_visible()

        taken = []

        def only_one(line):
            if line.get("kind") or taken or line["outcome"] != "passed":
                return None
            taken.append(line)
            return line

        rewritten(samples, work / "one.json", only_one)
        ordito(binary, "report", str(work / "one.json"), "-o", str(work / "one.html"))
        charts_are_drawn(browser.open(work / "one.html", shot="one"), 1)

        ordito(binary, "report", str(samples), str(work / "one.json"), "-o", str(work / "two.html"))
        page = browser.open(work / "two.html", shot="two")
        assert "Comparison" in page.inner_text("nav") and "no difference" in page.inner_text("main")

        rewritten(samples, work / "worse.json", lambda line: line if line.get("kind") else {**line, "outcome": "incorrect"})
        ordito(binary, "report", str(samples), str(work / "worse.json"), "-o", str(work / "worse.html"))
        page = browser.open(work / "worse.html", shot="worse")
        assert "Ended otherwise than in the first run" in page.inner_text("main")

        ordito(binary, "bench", "convert", "stencil5:20", "powerlaw:300x8", "--threads", "1,2", "--time", "0.02",
               "--out", str(work / "convert"))
        page = browser.open(work / "convert" / "report.html", shot="convert")
        charts_are_drawn(page, 5)
        sections_are_there(page, "Across matrices", "Speed over threads", "Time over threads")

        ordito(binary, "info", "powerlaw:3000x16", f"--html={work / 'info.html'}")
        charts_are_drawn(browser.open(work / "info.html", shot="info"), 2)
    shutil.rmtree(work)
    print(f"reports are as they should be; screenshots in {shots}")


if __name__ == "__main__":
    main()
