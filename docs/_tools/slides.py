"""Build the slides and the handout of docs/teaching/slides: HTML for a browser, PDF where Chromium is installed.

    python docs/_tools/slides.py [FOLDER]

The sources are Markdown. A line with --- begins the next slide, and formulas stand between dollar signs. The items of a
list that is written with + appear one after the other. What follows a line `Notes:` is for the speaker (key S).
A code block marked `python figure` is executed and replaced by the picture that it draws, one marked `python moving` by
a picture that moves. The slides are reveal.js; the pages load nothing from other servers.
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

HERE = Path(__file__).parent
SOURCES = HERE.parent / "teaching" / "slides"
DEFAULT = HERE.parent / "_build" / "slides"
MOVING = ("mm.js", "contours.js", "moving-picture.js", "moving-picture.css")
REVEAL = ("dist/reveal.js", "dist/reveal.css", "dist/reset.css", "plugin/notes/notes.js")

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>{links}<style>{style}</style>
<script>window.MathJax = {{svg: {{fontCache: "global"}}, options: {{enableMenu: false}}}};</script>
<script src="tex-svg.js"></script></head>
<body data-theme="light">{body}</body></html>
"""
LINKS = "".join(f'<link rel="stylesheet" href="{name}">' for name in ("reset.css", "reveal.css", "moving-picture.css"))
DECK = """<div class="reveal"><div class="slides">{sections}</div></div>
<script src="reveal.js"></script><script src="notes.js"></script>
<script src="mm.js"></script><script src="contours.js"></script><script src="moving-picture.js"></script>
<script>{script}</script>"""
START = """
// the text of each slide is made as large as its page allows
const grow = slide => {
  let [small, large] = [18, slide.querySelector('.moving-picture') ? 26 : 42];
  while (large - small > 0.5) {
    const size = (small + large) / 2;
    slide.style.fontSize = `${size}px`;
    const fits = slide.scrollHeight <= slide.clientHeight && slide.scrollWidth <= slide.clientWidth;
    if (fits) small = size; else large = size;
  }
  slide.style.fontSize = `${0.96 * small}px`; // a little air
};
const ready = Promise.all([MathJax.startup.promise, Reveal.initialize({
  width: 1280, height: 720, margin: 0.02, center: false, hash: true, slideNumber: "c", display: "flex",
  transition: "none", pdfSeparateFragments: false, plugins: [RevealNotes],
})]);
Reveal.on("slidechanged", event => ready.then(() => grow(event.currentSlide)));
Reveal.on("pdf-ready", () => ready.then(() => document.querySelectorAll(".slides section").forEach(grow)));
ready.then(() => {
  grow(Reveal.getCurrentSlide());
  document.documentElement.dataset.ready = "yes";
});
"""
STYLE = """
* { box-sizing: border-box; }
body { --color-foreground-primary: #111; --color-background-primary: white; --color-background-secondary: #f3f4f6;
  margin: 0; font: 26px/1.4 "DejaVu Sans", Helvetica, Arial, sans-serif; color: #111; background: white; }
.reveal .slides { text-align: left; }
.reveal .slides section { width: 1280px; height: 720px; padding: 36px 56px !important; overflow: hidden;
  flex-direction: column; justify-content: space-evenly; line-height: 1.35; }
h1 { font-size: 1.5em; margin: 0; color: #0b3d66; } h2 { font-size: 1.3em; margin: 0; color: #0b3d66; }
p, ul, ol { margin: 0; } ul, ol { padding-left: 1.2em; } li { margin-bottom: 0.35em; } strong { color: #9c3d00; }
pre { background: #f3f4f6; padding: 0.6em 0.8em; font: 0.78em/1.35 "DejaVu Sans Mono", monospace; margin: 0; }
code { font-family: "DejaVu Sans Mono", monospace; font-size: 0.88em; }
pre code { font-size: 1em; }
table { border-collapse: collapse; font-size: 0.88em; } th, td { padding: 0.2em 0.7em 0.2em 0; text-align: left; }
th { border-bottom: 2px solid #0b3d66; }
img { display: block; max-width: 100%; max-height: 340px; margin: 0 auto; }
.reveal .slides section .fragment { transition: none; } /* else `grow` measures letters on their way to a new size */
.reveal .moving-picture { font-size: 17px; margin: 0; }
.reveal .moving-picture .view > svg { max-height: 380px; }
"""
SHEET = """
@page { size: A4; margin: 10mm; }
body { font-size: 11.5px; line-height: 1.33; } section { width: 718px; margin: 0 auto; }
h1 { font-size: 19px; margin-bottom: 6px; } h2 { font-size: 13px; margin: 8px 0 3px; }
p, ul, ol { margin-bottom: 5px; } li { margin-bottom: 2px; } ul, ol { padding-left: 18px; } table { font-size: 11px; }
pre { font-size: 10px; padding: 5px 8px; margin-bottom: 6px; } img { max-height: 150px; }
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


def moving_picture(code: str, scope: dict[str, Any]) -> str:
    """Execute a block that assigns `shown = moving.picture(…)`, and return its element."""
    exec(compile(code, "moving", "exec"), scope)
    return str(scope["shown"].data)


def executed(text: str) -> str:
    """The text with the pictures that its blocks draw."""
    scope: dict[str, Any] = {}
    makers = {"figure": picture, "moving": moving_picture}
    pattern = r"```python (figure|moving)\n(.*?)```"
    return re.sub(pattern, lambda found: makers[found[1]](found[2], scope), text, flags=re.DOTALL)


def reader() -> MarkdownIt:
    """Markdown with formulas, tables, and lists with + whose items appear one after the other."""
    made = MarkdownIt("commonmark", {"html": True}).enable("table").use(dollarmath_plugin, double_inline=True)

    def item(tokens: Any, at: int, options: Any, env: Any) -> str:
        return '<li class="fragment">' if tokens[at].markup == "+" else "<li>"

    made.renderer.rules["list_item_open"] = item
    return made


def section(slide: str, made: MarkdownIt) -> str:
    """A slide with its notes."""
    text, _, notes = slide.partition("\nNotes:")
    aside = f'<aside class="notes">{made.render(notes.strip())}</aside>' if notes else ""
    return f"<section>{made.render(text)}{aside}</section>"


def html_of(source: Path) -> str:
    """The page of a Markdown source."""
    text, made = executed(source.read_text(encoding="utf-8")), reader()
    title = text.split("\n", 1)[0].removeprefix("# ")
    slides = re.split(r"^---$", text, flags=re.MULTILINE)
    sections = "".join(section(slide, made) for slide in slides)
    sections = re.sub(r'<span class="math inline">(.*?)</span>', r"\\(\1\\)", sections, flags=re.DOTALL)
    block = r'<(?:div|span) class="math (?:block|inline)">(.*?)</(?:div|span)>'
    sections = re.sub(block, r"\\[\1\\]", sections, flags=re.DOTALL)
    if source.stem == "handout":
        return PAGE.format(title=title, links="", style=STYLE + SHEET, body=sections)
    return PAGE.format(title=title, links=LINKS, style=STYLE, body=DECK.format(sections=sections, script=START))


def print_pdf(page: Path) -> Path | None:
    """The page as PDF beside it, or None without Chromium; a deck with one page a slide."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        return None
    pdf = page.with_suffix(".pdf")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    address = page.as_uri() + ("" if page.stem == "handout" else "?print-pdf")
    words = [chromium, *options, "--virtual-time-budget=60000", f"--print-to-pdf={pdf}", address]
    subprocess.run(words, check=True, capture_output=True, timeout=180)
    return pdf


def packaged(distribution: str, ending: str) -> Path:
    """A file of an installed package, by the end of its path."""
    files = importlib.metadata.files(distribution) or []
    return next(Path(str(file.locate())) for file in files if str(file).endswith(ending))


def copy_scripts(folder: Path) -> None:
    """What the pages load: MathJax, reveal.js and the moving picture."""
    wanted = [packaged("sphinx-mathjax-offline", "tex-svg.js")]
    wanted += [packaged("sphinx-revealjs", f"_static/revealjs/{name}") for name in REVEAL]
    wanted += [HERE.parent / "_static" / name for name in MOVING]
    for file in wanted:
        shutil.copyfile(file, folder / file.name)


def build(folder: Path, *, pdf: bool = True) -> list[Path]:
    """Write every source to the folder, with the scripts beside it; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    copy_scripts(folder)
    sys.path.insert(0, str(HERE))  # the blocks import `moving`
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
