"""``protolabel doctor`` and ``protolabel version``."""

import torch

from protolabel import __version__
from protolabel.workflows import environment


def test_a_machine_that_runs_the_tests_is_healthy(protolabel, monkeypatch, tmp_path):
    monkeypatch.setenv("PROTOLABEL_CACHE", str(tmp_path / "not" / "there" / "yet"))
    monkeypatch.setenv("PROTOLABEL_DATA", str(tmp_path))
    done = protolabel("doctor", "--json")
    assert done.code == 0, done.stdout
    assert done.result["healthy"] is True
    found = {finding["name"]: finding for finding in done.result["findings"]}
    assert found["protolabel"]["detail"] == __version__
    assert found["torch"]["detail"].split("+")[0] == torch.__version__.split("+")[0]
    assert found["gpu"]["status"] == ("ok" if torch.cuda.is_available() else "absent")
    assert found["data folder"] == {
        "name": "data folder",
        "status": "ok",
        "detail": str(tmp_path),
    }
    assert "extra frames" in found
    assert protolabel("doctor").stdout.startswith("ok       protolabel")


def test_a_folder_that_is_not_there_is_a_problem_and_exit_code_1(protolabel, monkeypatch, tmp_path):
    monkeypatch.setenv("PROTOLABEL_DATA", str(tmp_path / "none"))
    done = protolabel("doctor")
    assert done.code == 1
    assert "correct or unset it" in done.stdout
    assert "1 problem(s) found" in done.stderr


def test_a_missing_package_is_a_problem_and_a_missing_extra_is_none(monkeypatch):
    monkeypatch.setattr(environment, "_CORE", {"no-such-package": "no_such_package"})
    monkeypatch.setattr(environment, "_EXTRAS", {"wings": ("no-such-package",)})
    found = {finding.name: finding for finding in environment.examine()}
    assert found["no-such-package"].status == "problem"
    assert "pip install no-such-package" in found["no-such-package"].detail
    assert found["extra wings"].status == "absent"
    assert "protolabel[wings]" in found["extra wings"].detail


def test_the_version_is_printed_plain_and_as_json(protolabel):
    assert protolabel("version").stdout == f"{__version__}\n"
    assert protolabel("version", "--json").result == {"version": __version__}
