"""Requests survive being written, become commands, and refuse what has no effect."""

import shlex
from pathlib import Path

import pytest

from protolabel.experiments.studies import Request, find_study, freeze_method_settings

FULL = Request(
    datasets=("yeast", "emotions"),
    methods=("pnml-single",),
    tuning="grid",
    thresholds="tuned",
    settings=freeze_method_settings({"pnml-single": {"batch_size": 64, "mixing": "uniform"}}),
    epochs=3,
    n_folds=4,
    seed=7,
    first_folds=2,
)


def test_a_written_request_is_read_as_it_was(tmp_path):
    for request in (FULL, Request()):
        request.save(tmp_path)
        assert Request.load(tmp_path) == request


def test_a_new_folder_has_no_request(tmp_path):
    assert Request.load(tmp_path) is None


def test_a_request_of_another_version_is_refused(tmp_path):
    (tmp_path / "request.json").write_text('{"datasets": null}')
    with pytest.raises(ValueError, match="written by another version"):
        Request.load(tmp_path)


def test_the_command_names_every_choice():
    words = shlex.split(FULL.command("ablation", Path("my results")))
    assert words[:3] == ["protolabel", "reproduce", "ablation"]
    assert words[-2:] == ["--output", "my results"]
    for option, value in {
        "--datasets": "yeast,emotions",
        "--methods": "pnml-single",
        "--tuning": "grid",
        "--thresholds": "tuned",
        "--epochs": "3",
        "--folds": "4",
        "--seed": "7",
        "--first-folds": "2",
    }.items():
        assert words[words.index(option) + 1] == value
    assert "pnml-single.batch_size=64" in words
    assert 'pnml-single.mixing="uniform"' in words


def test_epochs_go_to_every_form_of_pnml_and_to_nothing_else():
    found = Request(epochs=2).settings_of(["br", "pnml", "pnml-d"])
    assert found == {"pnml": {"max_epochs": 2}, "pnml-d": {"max_epochs": 2}}


def test_epochs_of_one_method_go_before_those_of_all():
    settings = freeze_method_settings({"pnml": {"max_epochs": 5}})
    assert Request(epochs=2, settings=settings).settings_of(["pnml"]) == {"pnml": {"max_epochs": 5}}


def test_settings_of_a_method_that_is_not_run_are_refused():
    with pytest.raises(ValueError, match="settings for pnml-single, which is not among"):
        FULL.settings_of(["br"])


@pytest.mark.parametrize("name", ["statistics", "prototypes", "correlation"])
def test_options_without_effect_are_refused(name):
    with pytest.raises(ValueError, match=r"makes no use of .*tuning"):
        find_study(name).check(FULL)


def test_several_studies_at_once_take_what_each_can_use():
    relevant = find_study("correlation").relevant_part(FULL)
    assert relevant.given == {"datasets", "methods", "settings", "epochs", "seed"}
    assert find_study("statistics").relevant_part(FULL).is_empty
    without_methods = Request(settings=FULL.settings)
    assert find_study("sensitivity").relevant_part(without_methods).settings == ()
    assert find_study("sampling").relevant_part(without_methods).settings == FULL.settings


def test_an_unknown_study_names_the_known_ones():
    with pytest.raises(ValueError, match="no study 'mian'; choose one of correlation, "):
        find_study("mian")
