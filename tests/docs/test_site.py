"""The site: it builds without a warning, its links hold, it needs no network, mistakes end it."""

import importlib
import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

import protolabel
from docs.markdown import DOCS, ROOT
from docs.test_pages import PACKAGES, PARTS
from report.browser import PHONE, Visits, launched_browser

pytest.importorskip("sphinx", reason="sphinx is not installed: pip install '.[docs]'")
pytest.importorskip("myst_parser", reason="myst-parser is not installed: pip install '.[docs]'")
pytest.importorskip("furo", reason="furo is not installed: pip install '.[docs]'")


def build(source, target, *options):
    return subprocess.run(
        [
            *(sys.executable, "-m", "sphinx", "--fail-on-warning", "--quiet"),
            *("--conf-dir", str(DOCS), "--doctree-dir", str(target / "doctrees"), *options),
            *(str(source), str(target / "site")),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )


class Addresses(HTMLParser):
    """Ids, links, and what a page loads."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loaded = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids |= {found[key] for key in ("id", "name") if key in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in ("script", "img", "iframe", "source") and "src" in found:
            self.loaded.append(found["src"])
        if tag == "link" and found.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(found["href"])

    handle_startendtag = handle_starttag


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site with the code of the examples alone; tests/examples runs them."""
    folder = tmp_path_factory.mktemp("docs")
    done = build(DOCS, folder, "--define", "run_examples=0")
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def addresses(site):
    return {path: Addresses(path) for path in sorted(site.rglob("*.html"))}


def test_links_within_the_site_lead_to_a_file_and_a_place_in_it(addresses):
    assert len(addresses) > 40
    for path, found in addresses.items():
        for address in found.links:
            if re.match(r"[a-z]+:", address):
                continue
            name, _, anchor = address.partition("#")
            target = (path.parent / unquote(name)).resolve() if name else path
            assert target.is_file(), f"{path.name} links to {address}"
            if anchor and target in addresses:
                assert unquote(anchor) in addresses[target].ids, f"{path.name} links to {address}"


def test_nothing_is_loaded_from_elsewhere(site, addresses):
    for path, found in addresses.items():
        for address in found.loaded:
            assert not re.match(r"([a-z]+:)?//", address), f"{path.name} loads {address}"
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert not re.search(r"@import|url\(\s*['\"]?(https?:)?//", text), style.name


def test_the_reference_has_an_entry_for_every_public_name(addresses):
    ids = set().union(
        *(found.ids for path, found in addresses.items() if path.parent.name == "api")
    )
    for package in set(PACKAGES) - PARTS:
        for name in importlib.import_module(package).__all__:
            assert f"{package}.{name}" in ids
    assert "protolabel.PNMLClassifier" in ids
    assert {"fit", "paper", "predict_proba"} <= {name.rpartition(".")[2] for name in ids}
    listed = (next(path for path in addresses if path.match("api/index.html"))).read_text()
    assert all(name in listed for name in protolabel.__all__)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[a page](nowhere.md)", "nowhere.md"),
        ("[a part](#nowhere)", "nowhere"),
        ("{py:func}`protolabel.nothing`", "protolabel.nothing"),
        ("![a picture](nothing.svg)", "nothing.svg"),
        ("```{example} nothing\n```", "no example"),
        ("$$\n\\notacommand{x}\n$$", "notacommand"),
    ],
)
def test_a_page_that_leads_nowhere_ends_the_build(tmp_path, text, complaint):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "index.md").write_text(f"# Title\n\n{text}\n")
    done = build(tmp_path / "pages", tmp_path)
    assert done.returncode != 0
    assert complaint in done.stderr


def test_a_failing_example_ends_the_build_and_none_sees_benchmark_files(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_extensions"))
    examples = importlib.import_module("examples")
    from sphinx.errors import ExtensionError

    script = tmp_path / "bad.py"
    script.write_text("raise SystemExit('out of luck')")
    with pytest.raises(ExtensionError, match="out of luck"):
        examples.run_example(script, tmp_path / "folder")
    script.write_text("import os; print('<script>', os.environ.get('PROTOLABEL_DATA'))")
    monkeypatch.setenv("PROTOLABEL_DATA", "somewhere")
    assert examples.run_example(script, tmp_path / "folder") == "<script> None\n"


@pytest.fixture
def visits():
    with launched_browser() as browser:
        visits = Visits(browser)
        yield visits
        visits.close()


PAGES = [
    "index",
    "concepts/prototypes",
    "concepts/probability",
    "gallery/thresholds",
    "concepts/recommended",
    "api/metrics",
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_open_without_a_problem_in_both_themes_and_on_a_phone(site, visits, scheme):
    for name in PAGES:
        title = f"site-{name.replace('/', '-')}"
        visits.open(site / f"{name}.html", title, scheme=scheme)
        page = visits.open(site / f"{name}.html", title, width=PHONE, height=844, scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE, name


def test_pictures_follow_the_theme_of_the_site_not_only_that_of_the_system(site, visits):
    page = visits.open(site / "concepts" / "metric.html", "site-switched", scheme="light")

    def ink():
        return page.evaluate(
            "getComputedStyle(document.querySelector('svg.picture')).getPropertyValue('--ink')"
        ).strip()

    before = ink()
    page.evaluate("document.body.dataset.theme = 'dark'")
    assert (before, ink()) == ("#1c2024", "#e6e9ec")
