"""Files of findings: whole, escaped, and complete."""

import csv

import pytest

from protolabel.experiments.studies.findings import DataTable, Drawing, Findings, Section
from protolabel.experiments.studies.writing import csv_text, markdown_table, write_findings

HOSTILE = 'a|b<c>"d",\n`e`'


def findings(draw=None):
    drawing = Drawing("figure", HOSTILE, draw or (lambda figure: None), size=(1, 1))
    section = Section("Part", "Text.", ("name", "value"), ((HOSTILE, "1"),), (drawing,))
    table = DataTable("data", ("name", "value"), ((HOSTILE, 0.1), ("none", None)))
    return Findings((section,), (table,), (("seed", "0"),))


def test_all_files_are_written_and_named(tmp_path):
    files = write_findings(findings(), tmp_path, name="page", title="Title")
    assert {file.name for file in files} == {"data.csv", "figure.png", "figure.svg", "page.md"}
    assert {file.name for file in tmp_path.iterdir()} == {file.name for file in files}


def test_the_page_has_title_facts_text_table_figure_and_data(tmp_path):
    write_findings(findings(), tmp_path, name="page", title="Title")
    page = (tmp_path / "page.md").read_text()
    assert page.startswith(
        "# Title\n\n- seed: 0\n\n## Part\n\nText.\n\n| name | value |\n|---|---|\n"
    )
    assert "](figure.png)" in page
    assert "`data.csv`" in page


def test_a_name_cannot_leave_its_cell():
    row = markdown_table(["a", "b"], [[HOSTILE, "1"]]).splitlines()
    assert len(row) == 3
    assert row[2].replace(r"\|", "").count("|") == 3
    assert "<" not in row[2]


def test_data_are_read_back_as_they_were():
    rows = list(csv.reader(csv_text(findings().tables[0]).splitlines(keepends=True)))
    assert rows == [["name", "value"], [HOSTILE, "0.1"], ["none", ""]]


@pytest.mark.parametrize("name", ["=1+1", "+1", "@SUM(A1)"])
def test_a_name_is_no_formula_for_a_spreadsheet(name):
    text = csv_text(DataTable("t", ("name",), ((name,),)))
    assert text == f"name\n'{name}\n"


def test_figures_can_be_left_out(tmp_path):
    files = write_findings(findings(), tmp_path, name="page", title="Title", figures=False)
    assert {file.name for file in files} == {"data.csv", "page.md"}
    assert "figure" not in (tmp_path / "page.md").read_text()


def test_a_page_is_replaced_only_when_everything_is_there(tmp_path):
    write_findings(findings(), tmp_path, name="page", title="Old")

    def fail(figure):
        raise RuntimeError("no ink")

    with pytest.raises(RuntimeError, match="no ink"):
        write_findings(findings(fail), tmp_path, name="page", title="New")
    assert (tmp_path / "page.md").read_text().startswith("# Old")
