"""Pages of the documentation taken apart."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_FENCE = re.compile(r"^```.*?^```[ \t]*$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)


def pages():
    """All pages that a reader may open, also those beside the site."""
    own = sorted(DOCS.rglob("*.md"))
    return [*own, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))]


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def code_blocks(path, language):
    """Texts of the blocks of a language."""
    text = path.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def links(path):
    """Addresses of all links and pictures outside of code."""
    text = _FENCE.sub("", path.read_text(encoding="utf-8"))
    return _LINK.findall(re.sub(r"`[^`\n]*`", "", text))


def anchors(path):
    """Addresses of the headings of a page."""
    text = _FENCE.sub("", path.read_text(encoding="utf-8"))
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        for heading in _HEADING.findall(text)
    }


def navigation(path=DOCS / "index.md"):
    """Pages that the tables of contents of a page lead to, directly or by others."""
    found = []
    for block in code_blocks(path, r"\{toctree\}"):
        for line in block.splitlines():
            if line and not line.startswith(":"):
                name = re.sub(r"^.*<(.*)>$", r"\1", line)
                page = (path.parent / f"{name}.md").resolve()
                found += [page, *(navigation(page) if page.is_file() else [])]
    return found
