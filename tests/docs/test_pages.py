"""Pages as they lie in the folder: links, code, pictures, names, navigation."""

import doctest
import importlib
import pkgutil
import re
import sys
import warnings
import xml.etree.ElementTree as ET

import pytest

import protolabel
from docs.markdown import DOCS, ROOT, anchors, code_blocks, links, name_of, navigation, pages
from protolabel import PNMLClassifier
from protolabel.automatic import find_effort
from protolabel.companions import MAX_ROWS

WITH_CODE = [path for path in pages() if code_blocks(path, "pycon")]
# Pages that may be missing, as docs/conf.py says.
OPTIONAL = {"recommended", "ingredients", "speed", "scale"}
PACKAGES = [
    "protolabel.decision.thresholds",
    *(
        package.name
        for package in pkgutil.walk_packages(protolabel.__path__, "protolabel.")
        if package.ispkg and hasattr(importlib.import_module(package.name), "__all__")
    ),
]
# The names of a part that its parent exports as well, or documents one by one.
PARTS = {"protolabel.datasets.catalogue"}
PICTURES = sorted((DOCS / "concepts").glob("*.svg"))
LARGEST = 60_000


@pytest.mark.parametrize("path", pages(), ids=name_of)
def test_every_link_leads_to_a_file_and_to_a_heading(path):
    for address in links(path):
        if re.match(r"[a-z]+:", address):
            continue
        name, _, anchor = address.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), f"{name_of(path)} links to {address}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{name_of(path)} links to {address}"


@pytest.mark.parametrize("path", WITH_CODE, ids=name_of)
def test_marked_code_gives_what_the_page_shows(path):
    text = "\n".join(code_blocks(path, "pycon"))
    examples = doctest.DocTestParser().get_doctest(text, {}, name_of(path), str(path), 0)
    assert examples.examples
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    said = []
    runner.run(examples, out=said.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)


def test_the_steps_of_the_command_line_run_in_python_without_a_warning(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{row},{row % 7},{row % 2},{row % 3 % 2},{row % 5 % 2}" for row in range(60)]
    for name in ("songs.csv", "new.csv"):
        (tmp_path / name).write_text("\n".join(["tempo,mode,calm,happy,sad", *lines]) + "\n")
    [block] = code_blocks(DOCS / "cli.md", "python")
    names = {}
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="X does not have valid feature names")
        exec(block, names)
    assert len(names["probabilities"]) == 60


def test_quick_start_guide_and_all_concepts_have_code_that_is_run():
    names = {name_of(path) for path in WITH_CODE}
    concepts = {name_of(path) for path in (DOCS / "concepts").glob("*.md")}
    assert concepts - {"docs/concepts/index.md"} <= names
    assert {"docs/quickstart.md", "docs/guide.md", "docs/add_a_method.md"} <= names


def test_every_page_is_in_the_navigation_and_every_entry_is_a_page():
    found = navigation()
    assert len(found) == len(set(found))
    # The pages of the folder itself that are not listed take the place of this entry.
    found.remove(DOCS / "others.md")
    missing = {path for path in found if not path.is_file()}
    assert {path.stem for path in missing} <= OPTIONAL
    unlisted = set(DOCS.rglob("*.md")) - set(found) - {DOCS / "index.md"}
    assert {path.parent for path in unlisted} <= {DOCS}


def test_every_public_name_is_in_the_reference():
    reference = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "api").glob("*.md"))
    index = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    for name in protolabel.__all__:
        assert re.search(rf"\b{name}\b", index), name
    assert "protolabel.metrics" in PACKAGES
    for package in set(PACKAGES) - PARTS:
        assert re.search(rf"^\.\. public-names:: {package}$", reference, re.MULTILINE), package
    for part in PARTS:
        parent = importlib.import_module(part.rpartition(".")[0])
        for name in importlib.import_module(part).__all__:
            assert name in parent.__all__ or f".. autoclass:: {part}.{name}" in reference, name


def test_every_concept_has_a_picture_that_is_small_and_needs_nothing_else():
    assert len(PICTURES) == 9
    for path in PICTURES:
        text = path.read_text(encoding="utf-8")
        assert len(text) < LARGEST, path.name
        tree = ET.fromstring(text)
        assert tree.find("{http://www.w3.org/2000/svg}title") is not None
        assert "prefers-color-scheme:dark" in text
        without_name_space = text.replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|<script|<image|href|url\(|NaN", without_name_space), (
            path.name
        )
    shown = {
        (page.parent / link).resolve()
        for page in (DOCS / "concepts").glob("*.md")
        for link in links(page)
    }
    assert set(PICTURES) <= shown


def test_a_picture_is_drawn_from_a_run(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "pictures"))
    before = set(sys.modules)
    draw = importlib.import_module("draw")
    try:
        assert {path.stem for path in PICTURES} == set(draw.PICTURES)
        drawn = draw.PICTURES["prototypes"]()
    finally:
        for name in {"draw", "geometry", "measured", "plot", "toy"} & (set(sys.modules) - before):
            del sys.modules[name]
    committed = (DOCS / "concepts" / "prototypes.svg").read_text(encoding="utf-8")
    for text in (drawn, committed):
        single, multiple = text.split("Single: ")[0], text.split("Single: ")[1]
        assert single.count("<polygon") == single.count("<rect") == 1
        assert multiple.count("<polygon") > 1


def test_the_levels_of_effort_are_those_of_the_library():
    text = (DOCS / "concepts" / "recommended.md").read_text(encoding="utf-8")
    for name in ("fast", "balanced", "best"):
        row = next(line for line in text.splitlines() if line.startswith(f'| `"{name}"`'))
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        effort = find_effort(name)
        landmarks = str(effort.n_landmarks)
        if effort.n_landmarks:
            landmarks = f"all rows, at most {MAX_ROWS:,}; of wide tables {landmarks}"
        expected = [str(effort.n_members), landmarks, str(effort.n_trees)]
        assert [cells[1], cells[3], cells[4]] == expected
        documented = " ".join(PNMLClassifier.__doc__.split())
        assert f"{effort.n_members} networks" in documented
        assert not effort.n_trees or f"{effort.n_trees} trees" in documented


def test_every_example_has_a_page_in_the_gallery():
    scripts = {path.stem for path in (ROOT / "examples").glob("*.py")}
    shown = {path.stem for path in (DOCS / "gallery").glob("*.md")} - {"index"}
    assert scripts == shown
    for name in scripts:
        page = DOCS / "gallery" / f"{name}.md"
        assert f"```{{example}} {name}\n" in page.read_text(encoding="utf-8")
