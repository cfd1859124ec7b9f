"""Every study from its request to its files, and once more from its files alone."""

import json

import pytest

from experiments.studies.quick import SMALL, quick_folds, quick_request, run_quick
from protolabel.experiments.store import RecordStore
from protolabel.experiments.studies import Request, find_study, fitted_study, run_study, study

REQUESTS = {
    "ablation": quick_folds("pnml-multiple", "pnml-i", "pnml-d"),
    "main": quick_folds("pnml-single", methods=("br", "ml-knn", "pnml-single", "parabel")),
    "ingredients": quick_folds("pnml", first_folds=1),
    "runtime": quick_folds("pnml-single", "pnml-multiple"),
    "sampling": quick_folds("pnml-single", first_folds=1),
    "sensitivity": quick_folds("pnml-multiple", first_folds=1),
    "prototypes": quick_request("pnml-multiple"),
    "correlation": quick_request("pnml-multiple"),
    "statistics": Request(),
}
FIGURES = {
    "sampling": "sampling-synthetic-emotions-90-pnml-single",
    "sensitivity": "sensitivity-synthetic-emotions-90-pnml-multiple",
    "prototypes": "prototypes-synthetic-emotions-90-pnml-multiple",
    "correlation": "correlation-synthetic-emotions-90-pnml-multiple",
    "runtime": "runtime",
}


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studies")
    for name, request in REQUESTS.items():
        result = run_quick(name, folder, request)
        assert result.n_failed == 0, RecordStore(folder / name / "run").read()[0].error
    return folder


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_study_writes_a_page_data_and_figures(output, name):
    found = contents(output / name)
    assert f"{name}.md" in found
    assert any(file.endswith(".csv") for file in found)
    if name in FIGURES:
        assert {f"{FIGURES[name]}.png", f"{FIGURES[name]}.svg"} <= set(found)


@pytest.mark.parametrize("name", REQUESTS)
def test_a_page_names_its_command_seed_and_versions(output, name):
    page = contents(output / name)[f"{name}.md"].decode()
    assert f"- command: `protolabel reproduce {name} " in page
    assert "- seed: 0" in page
    assert "torch" in page
    assert "- not tuned: " in page


@pytest.mark.parametrize("name", REQUESTS)
def test_a_finished_folder_is_only_drawn_again(output, name, monkeypatch):
    before = contents(output / name)
    records = RecordStore(output / name / "run").path
    written = records.read_bytes() if records.exists() else None

    def refuse(*args, **kwargs):
        raise AssertionError("something was computed")

    monkeypatch.setattr("protolabel.experiments.engines.work.compute_unit", refuse)
    monkeypatch.setattr(fitted_study, "fit_prototypes", refuse)
    run_study(find_study(name), output, Request())
    assert contents(output / name) == before
    assert (records.read_bytes() if records.exists() else None) == written


def test_only_the_first_folds_are_computed_where_asked(output):
    for name, n_units in (("sampling", 6), ("sensitivity", 28), ("runtime", 2)):
        units = [record.unit for record in RecordStore(output / name / "run").read()]
        assert len(units) == n_units
        assert {(unit.fold, unit.n_folds) for unit in units} == {(0, 2)}


def test_a_folder_grows_by_another_dataset(tmp_path):
    other = "synthetic-emotions:80"
    first = quick_folds("pnml-single", methods=("pnml-single",), first_folds=1)
    second = quick_folds("pnml-single", methods=("pnml-single",), first_folds=1, datasets=(other,))
    for request in (first, second):
        run_quick("main", tmp_path, request, figures=False)
    page = (tmp_path / "main" / "main.md").read_text()
    assert SMALL in page
    assert other in page
    assert not list((tmp_path / "main").glob("*.png"))


def test_a_sweep_shows_what_the_last_request_asked_for(tmp_path):
    for seed, first_folds in ((0, None), (1, None), (1, 1)):
        request = quick_folds("pnml-single", seed=seed, first_folds=first_folds)
        result = run_quick("sampling", tmp_path, request, figures=False)
    assert result.n_done == 12
    page = (tmp_path / "sampling" / "sampling.md").read_text()
    assert "- seed: 1," in page
    assert "computed: 1\n" in page
    summary = result.summary.values()
    assert [entry["folds"] for entry in summary] == [1] * 6


def test_a_failed_unit_is_counted_and_in_no_table(tmp_path):
    request = quick_folds(
        "pnml-single",
        methods=("pnml-single", "br"),
        settings=(("pnml-single", (("embedding_dim", -1),)),),
    )
    result = run_quick("main", tmp_path, request, figures=False)
    assert (result.n_done, result.n_failed) == (2, 2)
    page = (tmp_path / "main" / "main.md").read_text()
    assert "failed units: 2" in page
    assert "PNML-single" not in page.split("## Agreement")[1].split("In full precision")[0]


def test_missing_matplotlib_is_told_before_anything_is_computed(tmp_path, monkeypatch):
    def refuse():
        raise ModuleNotFoundError("install protolabel[plots]")

    monkeypatch.setattr(study, "check_can_draw", refuse)
    with pytest.raises(ModuleNotFoundError, match="plots"):
        run_quick("sampling", tmp_path, REQUESTS["sampling"])
    assert not list(tmp_path.iterdir())


def test_results_become_plain_json(output):
    result = run_study(find_study("correlation"), output, Request())
    value = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert value["study"] == "correlation"
    assert value["n_failed"] == 0
