"""Figures: names as they are, equal files from equal results, an error without matplotlib."""

import subprocess
import sys
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from protolabel.experiments.figures.bars import draw_bars
from protolabel.experiments.figures.canvas import check_can_draw, plain_name, save_figure
from protolabel.experiments.figures.heatmap import draw_matrices
from protolabel.experiments.figures.lines import Curve, Panel, draw_panels
from protolabel.experiments.figures.scatter import draw_agreement, draw_map

HOSTILE = [
    r"$\frac{1}{",
    "$x$",
    "$$",
    "<script>&amp;</script>",
    "a_b^c{d}~\\",
    "new\nline\ttab",
    "null\x00bell\x07",
    "long" * 50,
    "",
]


def drawings():
    names = HOSTILE
    n = len(names)
    curve = Curve(names[0], [0.1] * n, [0.01] * n)
    panel = Panel(
        "$t$",
        "$x_1$",
        "$y$",
        names,
        [curve, Curve(names[1], [0.2] * n, [0.0] * n)],
        [1],
        0.3,
        "$r$",
    )
    rng = np.random.default_rng(0)
    return {
        "bars": draw_bars(names, {"$s$": [1e-3] * n, "gap": [None] * n}, "$h$"),
        "heatmap": draw_matrices({"$m$": np.eye(n)}, names),
        "lines": draw_panels([panel, panel], share_y=True),
        "agreement": draw_agreement({names[0]: [(0.1, 0.2)]}, "$a$", "$b$"),
        "map": draw_map(rng.normal(size=(4, 2)), np.arange(4), {0: (0.0, 0.0), 3: (1, 1)}, "$t$"),
    }


def texts_of(path):
    return {element.text for element in ET.parse(path).iter("{http://www.w3.org/2000/svg}text")}


@pytest.mark.parametrize("kind", drawings())
def test_hostile_names_are_drawn_as_text(tmp_path, kind):
    png, svg = save_figure(drawings()[kind], tmp_path / "figure", (5, 4))
    assert png.read_bytes().startswith(b"\x89PNG")
    shown = texts_of(svg)
    expected = {
        "bars": r"$\frac{1}{",
        "heatmap": r"$\frac{1}{ 0",
        "lines": "<script>&amp;</script>",
        "agreement": r"$\frac{1}{",
        "map": "$t$",
    }[kind]
    assert expected in shown


def test_equal_drawings_give_equal_files(tmp_path):
    first = save_figure(drawings()["lines"], tmp_path / "first", (5, 4))
    second = save_figure(drawings()["lines"], tmp_path / "second", (5, 4))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_a_style_of_the_user_changes_nothing(tmp_path):
    import matplotlib

    plain = save_figure(drawings()["bars"], tmp_path / "plain", (5, 4))
    with matplotlib.rc_context({"font.size": 20, "text.parse_math": True, "lines.linewidth": 9}):
        styled = save_figure(drawings()["bars"], tmp_path / "styled", (5, 4))
        assert matplotlib.rcParams["font.size"] == 20
    assert plain[0].read_bytes() == styled[0].read_bytes()


def test_a_drawing_that_fails_leaves_no_file_and_keeps_the_old_one(tmp_path):
    old = save_figure(drawings()["bars"], tmp_path / "figure", (5, 4))[0].read_bytes()

    def fail(figure):
        raise RuntimeError("no ink")

    with pytest.raises(RuntimeError, match="no ink"):
        save_figure(fail, tmp_path / "figure", (5, 4))
    assert (tmp_path / "figure.png").read_bytes() == old
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure.png", "figure.svg"]


def test_names_are_shortened_and_control_characters_replaced():
    assert plain_name("a\n b") == "a b"
    assert plain_name("x\x00y") == "x\N{REPLACEMENT CHARACTER}y"
    assert len(plain_name("long" * 50)) == 32


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"protolabel\[plots\].*--no-figures"):
        check_can_draw()


def test_studies_load_matplotlib_only_to_draw():
    code = "import sys, protolabel.experiments.studies; print('matplotlib' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert said.stdout == "False\n"
