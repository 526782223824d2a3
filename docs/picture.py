"""Draws docs/picture.svg from kept measurements: `python3 docs/picture.py` in the root of the repository.

Both are of real matrices; what `auto` chooses by was fitted to none of their times.
"""

import csv
import gzip
import math
from collections import defaultdict

CPU = "measurements/2026-11-19-h200/spmm-beside-mkl/final.csv.gz"
GPU = "measurements/2026-11-19-h200/diagonals/judged/times.csv.gz"
COLOURS = {"f32": "#0b7285", "f64": "#c2410c"}


def lines(path):
    with gzip.open(path, "rt") as file:
        yield from csv.DictReader(file)


def geometric_means(ratios):
    """Ratios by (dtype, K) become one mean each."""
    return {key: math.exp(sum(map(math.log, found)) / len(found)) for key, found in ratios.items()}


def over_mkl():
    """MKL's best time over that of auto, two threads."""
    times = defaultdict(dict)
    for row in lines(CPU):
        if row["threads"] == "2":
            times[row["matrix"], row["dtype"], int(row["k"])][row["variant"]] = float(row["median_ns"])
    ratios = defaultdict(list)
    for (_, dtype, k), found in times.items():
        peer = min(time for name, time in found.items() if name.startswith("mkl"))
        ratios[dtype, k].append(peer / found["auto"])
    return geometric_means(ratios)


def over_cusparse():
    """The best time of cuSPARSE over that of what auto chose, cache emptied before every run."""
    times = defaultdict(dict)
    for row in lines(GPU):
        found = times[row["matrix"], row["dtype"], int(row["k"])]
        found[row["variant"]] = float(row["flushed_ns"])
        if row["chosen"] == "1":
            found["auto"] = float(row["flushed_ns"])
    ratios = defaultdict(list)
    for (_, dtype, k), found in times.items():
        peer = min(time for name, time in found.items() if "cusparse" in name)
        ratios[dtype, k].append(peer / found["auto"])
    return geometric_means(ratios)


def panel(left, title, note, means):
    """One plot, 360 wide: K on a logarithmic axis, the ratio upwards from 0 to 3."""
    ks = sorted({k for _, k in means})
    x = lambda k: left + 40 + 290 * math.log2(k) / math.log2(ks[-1])
    y = lambda ratio: 270 - 66 * ratio
    out = [f'<text x="{left + 10}" y="26" font-size="16" font-weight="bold">{title}</text>']
    out.append(f'<text x="{left + 10}" y="46" font-size="12" fill="#4a4f55">{note}</text>')
    for ratio in range(4):
        same = ratio == 1
        out.append(
            f'<line x1="{left + 32}" x2="{left + 338}" y1="{y(ratio)}" y2="{y(ratio)}" '
            f'stroke="{"#1c1e21" if same else "#dcdfe3"}" stroke-width="{1.4 if same else 1}"/>'
        )
        out.append(f'<text x="{left + 26}" y="{y(ratio) + 4}" font-size="12" text-anchor="end">{ratio}</text>')
    out.append(f'<text x="{left + 336}" y="{y(1) + 14}" font-size="11" text-anchor="end">as fast as the peer</text>')
    for k in ks:
        out.append(f'<text x="{x(k):.1f}" y="288" font-size="11" text-anchor="middle">{k}</text>')
    out.append(f'<text x="{left + 185}" y="306" font-size="12" text-anchor="middle">K, columns of X</text>')
    for dtype, colour in COLOURS.items():
        points = [(x(k), y(means[dtype, k])) for k in ks]
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.2"/>')
        out += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3.4" fill="{colour}"/>' for px, py in points]
    return out


def main():
    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" width="740" height="340" viewBox="0 0 740 340" '
        'font-family="Ubuntu, DejaVu Sans, Arial, sans-serif" fill="#1c1e21">',
        "<title>Sparse products: the peer's time over that of auto, geometric means over matrices that auto was not made with</title>",
        '<rect width="740" height="340" fill="#ffffff"/>',
    ]
    out += panel(0, "CPU: speed-up over MKL's best", "36 real matrices, 2 threads, Sapphire Rapids", over_mkl())
    out += panel(370, "GPU: speed-up over cuSPARSE's best", "44 real matrices, H200, cache emptied", over_cusparse())
    for place, (dtype, colour) in enumerate(COLOURS.items()):
        left = 290 + 90 * place
        out.append(f'<line x1="{left}" x2="{left + 26}" y1="325" y2="325" stroke="{colour}" stroke-width="2.6"/>')
        out.append(f'<text x="{left + 32}" y="329" font-size="13">{dtype}</text>')
    out.append("</svg>")
    with open("docs/picture.svg", "w") as file:
        file.write("\n".join(out) + "\n")
    for name, means in (("MKL", over_mkl()), ("cuSPARSE", over_cusparse())):
        print(name, {f"{d} K={k}": round(v, 2) for (d, k), v in sorted(means.items())})


if __name__ == "__main__":
    main()
