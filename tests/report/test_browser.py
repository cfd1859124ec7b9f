"""Reports in a real browser: sorting, tips, themes, phones, paper, and no error."""

import time

import numpy as np
import pytest

from protolabel import PNMLClassifier
from protolabel.inspection import explain
from protolabel.report import explanation_report, model_report, run_report
from report.browser import PHONE, Visits, launched_browser
from report.structure import HOSTILE
from report.synthetic_run import failed, make_records, write_records

# The machine may be busy: the fastest of several loads says how heavy the page is.
MOST_LOADS, LONGEST_LOAD = 25, 1.0


@pytest.fixture(scope="module")
def browser():
    with launched_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Files of a large run, of a run with hostile names, of a model and of an explanation."""
    folder = tmp_path_factory.mktemp("pages")
    records = make_records()
    records[7] = failed(records[7])
    hostile = make_records([HOSTILE, "x" * 500], [HOSTILE, "y" * 300], n_folds=2)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    Y = (X[:, :4] + 0.4 * rng.normal(size=(120, 4)) > 0.2).astype(int)
    model = PNMLClassifier(
        "multiple", n_members=2, max_epochs=3, max_prototypes=3, n_landmarks=0, n_trees=0,
        random_state=0,
    ).fit(X, Y)  # fmt: skip
    texts = {
        "run": run_report(write_records(folder / "run", records)),
        "hostile": run_report(write_records(folder / "hostile", hostile)),
        "model": model_report(model, X, Y),
        "explanation": explanation_report(explain(model, X[0], X_train=X), title="Row 0"),
    }
    files = {}
    for name, text in texts.items():
        files[name] = folder / f"{name}.html"
        files[name].write_text(text, encoding="utf-8")
    return files


@pytest.fixture
def open_page(browser, pages):
    """Open a page; at the end keep a picture of it and check that nothing went wrong."""
    visits = Visits(browser)
    yield lambda name, **options: visits.open(pages[name], f"report-{name}", **options)
    visits.close()


def test_a_table_is_sorted_by_a_click_and_by_the_keyboard(open_page):
    page = open_page("run")
    table = "#metric-accuracy table"
    head = page.locator(f"{table} th").nth(1)

    def values():
        cells = page.locator(f"{table} tbody tr td:nth-child(2)").all_inner_texts()
        return [float(cell.split()[0]) for cell in cells]

    before = values()
    head.get_by_role("button").click()
    assert values() == sorted(before)
    assert head.get_attribute("aria-sort") == "ascending"
    head.get_by_role("button").press("Enter")
    assert values() == sorted(before, reverse=True)
    assert head.get_attribute("aria-sort") == "descending"
    first = page.locator(f"{table} th").first
    first.get_by_role("button").click()
    names = page.locator(f"{table} tbody th").all_inner_texts()
    assert names == sorted(names)
    assert head.get_attribute("aria-sort") is None


def test_rows_and_columns_are_filtered(open_page):
    page = open_page("run")
    page.get_by_label("Datasets").fill("RCV1")
    names = page.locator("#metric-accuracy tbody tr:visible th").all_inner_texts()
    assert names == ["rcv1-s1", "rcv1-s3", "rcv1-s5"]
    assert page.locator('[data-count="results"]').inner_text() == "3 of 15 rows"
    box = page.locator('input[data-column="1"]')
    box.uncheck()
    assert not page.locator("#metric-accuracy th").nth(1).is_visible()
    box.check()
    assert page.locator("#metric-accuracy th").nth(1).is_visible()


def test_metrics_are_tabs_on_the_screen_and_stand_below_each_other_on_paper(open_page):
    page = open_page("run")
    panels = page.locator("#results .panel")
    assert [panels.nth(k).is_visible() for k in range(5)] == [True, False, False, False, False]
    page.locator("#results").get_by_role("tab").nth(1).click()
    assert panels.nth(1).is_visible()
    page.keyboard.press("ArrowRight")
    assert panels.nth(2).is_visible()
    page.emulate_media(media="print")
    assert all(panels.nth(k).is_visible() for k in range(5))
    assert not page.locator("nav").is_visible()


def test_the_theme_follows_the_system_until_it_is_switched(open_page):
    page = open_page("run", scheme="dark")

    def brightness():
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in colour[4:-1].split(","))

    assert brightness() < 200
    switch = page.get_by_role("button", name="Theme")
    switch.click()
    assert switch.inner_text() == "Theme: light"
    assert brightness() > 600
    switch.click()
    assert brightness() < 200
    page.emulate_media(color_scheme="light")
    assert brightness() < 200
    switch.click()
    assert brightness() > 600


def test_a_prototype_tells_about_itself_on_hover_and_on_focus(open_page):
    page = open_page("model")
    tip = page.locator("#tip")
    assert not tip.is_visible()
    marks = page.locator("#prototype-map .marks > :visible")
    marks.first.hover()
    assert "prototype 1 of" in tip.inner_text()
    assert "nearest rows:" in tip.inner_text()
    page.mouse.move(2, 2)
    assert not tip.is_visible()
    marks.nth(1).focus()
    assert tip.is_visible()
    assert tip.inner_text() == marks.nth(1).get_attribute("data-tip")
    page.keyboard.press("Escape")
    assert not tip.is_visible()


def test_the_map_shows_one_label_or_all(open_page):
    page = open_page("model")
    marks = page.locator("#prototype-map .marks > *")
    chooser = page.locator("select[data-map]")
    label = chooser.input_value()
    visible = page.locator("#prototype-map .marks > :visible")
    assert 0 < visible.count() < marks.count()
    assert all(mark.get_attribute("data-labels") == label for mark in visible.all())
    chooser.select_option(label="all labels")
    assert visible.count() == marks.count()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["run", "model", "explanation", "hostile"])
def test_nothing_sticks_out_on_a_phone(open_page, name, scheme):
    page = open_page(name, width=PHONE, height=844, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["run", "model", "explanation"])
def test_pages_open_in_both_themes_without_a_problem(open_page, name, scheme):
    page = open_page(name, scheme=scheme)
    assert page.locator("section:visible").count() > 1


def test_hostile_names_run_nothing(open_page):
    page = open_page("hostile")
    assert page.locator("img").count() == 0
    assert page.get_by_text(HOSTILE, exact=True).count() > 0


def test_a_page_reads_without_its_script(browser, pages):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(pages["run"].as_uri())
    assert page.locator("#results .panel:visible").count() == 5
    assert not page.locator("#theme").is_visible()
    assert not page.get_by_label("Datasets").is_visible()
    context.close()


def test_a_large_report_opens_within_a_second(browser, pages):
    context = browser.new_context()
    page = context.new_page()
    times = []
    while len(times) < MOST_LOADS and min(times, default=LONGEST_LOAD) >= LONGEST_LOAD:
        start = time.perf_counter()
        page.goto(pages["run"].as_uri())
        times.append(time.perf_counter() - start)
    context.close()
    assert min(times) < LONGEST_LOAD


def test_headings_of_tables_are_not_broken_within_a_word(open_page):
    page = open_page("model", width=PHONE, height=844)
    heights = page.locator("#labels thead th").evaluate_all(
        "heads => heads.map(head => {"
        " const range = document.createRange(); range.selectNodeContents(head);"
        " return [head.innerText.trim().split(/\\s+/).length, range.getClientRects().length]; })"
    )
    assert len(heights) == 10
    for n_words, n_lines in heights:
        assert n_lines <= n_words + 1
