"""Build the slides and the handout of docs/teaching/slides: HTML for a browser, PDF where Chromium is installed.

    python docs/_tools/slides.py [FOLDER]

The sources are Markdown. A line with --- begins the next slide, formulas stand between dollar signs, and a code block
marked `python figure` is executed and replaced by the picture that it draws. The pages load
nothing from other servers.
"""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess
import sys
from base64 import b64encode
from io import BytesIO
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

SOURCES = Path(__file__).parents[1] / "teaching" / "slides"
DEFAULT = Path(__file__).parents[1] / "_build" / "slides"

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{style}</style>
<script>window.MathJax = {{svg: {{fontCache: "global"}}, options: {{enableMenu: false}}}};</script>
<script src="tex-svg.js"></script></head>
<body class="{kind}">{body}<script>{script}</script></body></html>
"""
STYLE = """
* { box-sizing: border-box; }
body { margin: 0; font: 26px/1.4 "DejaVu Sans", Helvetica, Arial, sans-serif; color: #111; background: #ddd; }
section { width: 1280px; height: 720px; margin: 16px auto; padding: 44px 64px; background: white; overflow: hidden;
  position: relative; }
h1 { font-size: 44px; margin: 0 0 20px; color: #0b3d66; } h2 { font-size: 34px; margin: 0 0 18px; color: #0b3d66; }
p, ul, ol { margin: 0 0 14px; } li { margin-bottom: 8px; } strong { color: #9c3d00; }
pre { background: #f3f4f6; padding: 14px 18px; font: 20px/1.35 "DejaVu Sans Mono", monospace; margin: 0 0 14px; }
code { font-family: "DejaVu Sans Mono", monospace; font-size: 0.88em; }
table { border-collapse: collapse; font-size: 22px; } th, td { padding: 5px 16px 5px 0; text-align: left; }
th { border-bottom: 2px solid #0b3d66; }
img { display: block; max-width: 100%; max-height: 385px; margin: 0 auto 10px; }
footer { position: absolute; right: 28px; bottom: 14px; font-size: 16px; color: #666; }
.handout { background: white; font-size: 11.5px; line-height: 1.33; }
.handout section { width: 718px; height: auto; padding: 0; margin: 0 auto; overflow: visible; }
.handout h1 { font-size: 19px; margin-bottom: 6px; } .handout h2 { font-size: 13px; margin: 8px 0 3px; }
.handout p, .handout ul, .handout ol { margin-bottom: 5px; } .handout li { margin-bottom: 2px; }
.handout ul, .handout ol { padding-left: 18px; } .handout table { font-size: 11px; }
.handout pre { font-size: 10px; padding: 5px 8px; margin-bottom: 6px; } .handout footer { display: none; }
.handout img { max-height: 150px; }
@media print { body { background: white; } section { margin: 0; break-after: page; } }
"""
SIZES = {"slides": "@page { size: 1280px 720px; margin: 0; }", "handout": "@page { size: A4; margin: 10mm; }"}
ARROWS = """
const slides = [...document.querySelectorAll("section")];
document.addEventListener("keydown", event => {
  const step = {ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1}[event.key];
  if (!step || slides.length < 2) return;
  event.preventDefault();
  const now = slides.findIndex(slide => slide.getBoundingClientRect().bottom > 40);
  slides[Math.max(0, Math.min(slides.length - 1, now + step))].scrollIntoView();
});
"""


def picture(code: str, scope: dict[str, Any]) -> str:
    """Execute a block and return the figure that it leaves as an image."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    exec(compile(code, "figure", "exec"), scope)
    stream = BytesIO()
    plt.gcf().savefig(stream, format="png", dpi=150)
    return f'<img alt="figure" src="data:image/png;base64,{b64encode(stream.getvalue()).decode()}">'


def html_of(source: Path) -> str:
    """The page of a Markdown source."""
    kind = "handout" if source.stem == "handout" else "slides"
    reader = MarkdownIt("commonmark", {"html": True}).enable("table").use(dollarmath_plugin, double_inline=True)
    scope: dict[str, Any] = {}
    text = re.sub(
        r"```python figure\n(.*?)```",
        lambda found: picture(found.group(1), scope),
        source.read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )
    slides = re.split(r"^---$", text, flags=re.MULTILINE)
    body = "".join(
        f"<section>{reader.render(slide)}<footer>{number}</footer></section>" for number, slide in enumerate(slides, 1)
    )
    body = re.sub(r'<span class="math inline">(.*?)</span>', r"\\(\1\\)", body, flags=re.DOTALL)
    body = re.sub(
        r'<(?:div|span) class="math (?:block|inline)">(.*?)</(?:div|span)>', r"\\[\1\\]", body, flags=re.DOTALL
    )
    title = text.split("\n", 1)[0].removeprefix("# ")
    return PAGE.format(title=title, style=STYLE + SIZES[kind], kind=kind, body=body, script=ARROWS)


def print_pdf(page: Path) -> Path | None:
    """The page as PDF beside it, or None without Chromium."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        return None
    pdf = page.with_suffix(".pdf")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    words = [chromium, *options, "--virtual-time-budget=20000", f"--print-to-pdf={pdf}", page.as_uri()]
    subprocess.run(words, check=True, capture_output=True, timeout=180)
    return pdf


def build(folder: Path, *, pdf: bool = True) -> list[Path]:
    """Write every source to the folder, with MathJax beside it; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = importlib.metadata.files("sphinx-mathjax-offline") or []
    mathjax = next(Path(str(file.locate())) for file in files if file.name == "tex-svg.js")
    shutil.copyfile(mathjax, folder / "tex-svg.js")
    written: list[Path] = []
    for source in sorted(SOURCES.glob("*.md")):
        page = folder.resolve() / f"{source.stem}.html"
        page.write_text(html_of(source), encoding="utf-8")
        printed = print_pdf(page) if pdf else None
        written += [page, *([printed] if printed else [])]
    return written


if __name__ == "__main__":
    for made in build(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT):
        print(made)
