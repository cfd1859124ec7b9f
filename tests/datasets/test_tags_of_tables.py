"""Columns with several labels a cell."""

from __future__ import annotations

from pathlib import Path

import pytest

from datasets.table_files import quoted, read_quietly, write
from protolabel.datasets import (
    TableOptions,
    read_csv,
    read_text,
)
from protolabel.exceptions import DatasetError

LISTS = {
    "python": ["['calm', 'happy; very']", "[]", '["it\'s"]', "['calm']"],
    "json": ['["calm","happy; very"]', "[]", '["it\'s"]', '["calm"]'],
    "numpy": ["['calm' 'happy; very']", "[]", '["it\'s"]', "[np.str_('calm')]"],
    "sets": ["{'happy; very', 'calm'}", "set()", '{"it\'s"}', "{'calm'}"],
    "tuples": ["('calm', 'happy; very')", "()", '("it\'s",)', "('calm',)"],
    "escaped": [r'["c\u0061lm", "happy; very"]', "nan", r"['it\'s']", r"['\x63alm', None]"],
}


@pytest.mark.parametrize("cells", LISTS.values(), ids=LISTS)
def test_cells_with_the_text_of_a_list_are_lists(tmp_path: Path, cells: list[str]) -> None:
    path = write(tmp_path, "size\ttags\n" + "".join(f"1.5\t{quoted(cell)}\n" for cell in cells))
    dataset = read_quietly(path)
    assert dataset.label_names == ("calm", "happy; very", "it's")
    assert dataset.Y.toarray().tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1], [1, 0, 0]]
    assert "the cells of the tags were read as lists" in dataset.provenance.notes


def test_bare_words_and_numbers_in_brackets_are_lists_too(tmp_path: Path) -> None:
    assert read_quietly(
        write(tmp_path, 'x,tags\n1,"[calm, very happy]"\n2,[calm]\n')
    ).label_names == (
        "calm",
        "very happy",
    )
    assert read_quietly(write(tmp_path, 'x,tags\n1,"[3, 17]"\n2,[17]\n')).label_names == ("17", "3")


@pytest.mark.parametrize(
    "other", ["calm", "[['a']]", "[a;b]", '[{"a": 1}]', "['a", "[__import__('os')]", r"['\ud800']"]
)
def test_a_column_with_another_cell_holds_no_lists(tmp_path: Path, other: str) -> None:
    path = write(tmp_path, f"x\ttags\n1\t['a']\n2\t{quoted(other)}\n")
    assert "['a']" in read_quietly(path).label_names
    path = write(tmp_path, "x\ttags\n" + "1\t['a']\n" * 1000 + f"2\t{quoted(other)}\n")
    with pytest.raises(DatasetError, match=r"line 1002: .* is no list such as"):
        read_quietly(path)


def test_words_for_no_value_are_no_tags(tmp_path: Path) -> None:
    dataset = read_quietly(write(tmp_path, "x,tags\n1,a;b\n2,NA\n3,nan\n4,NA\n5,\n"))
    assert dataset.label_names == ("a", "b")
    assert dataset.Y.toarray().tolist() == [[1, 1], *[[0, 0]] * 4]
    note = "'NA', 'nan', 3 times in the tags, were taken as no tag"
    assert note in dataset.provenance.notes


def test_a_separator_that_first_occurs_late_is_used(tmp_path: Path) -> None:
    path = write(tmp_path, "size,tags\n" + "1,calm\n2,happy\n" * 600 + "3,calm;happy\n")
    dataset = read_csv(path)
    assert dataset.label_names == ("calm", "happy")
    assert dataset.Y[[0, 1, 1200]].toarray().tolist() == [[1, 0], [0, 1], [1, 1]]
    assert "tags were split at ';'" in dataset.provenance.notes


def test_a_second_separator_that_occurs_late_is_an_error_with_the_remedy(tmp_path: Path) -> None:
    rows = '1,"A, x"\n' * 1100 + '2,"A, x|B"\n'
    path = write(tmp_path, "size,tags\n" + rows)
    with pytest.raises(DatasetError) as caught:
        read_csv(path)
    assert str(caught.value) == (
        f"{path}, line 1102: 'A, x|B' in column 'tags' holds '|', but the tags before it were "
        "split at ','; say with tag_separator what stands between tags"
    )
    dataset = read_csv(path, options=TableOptions(tag_separator="|"))
    assert dataset.label_names == ("A, x", "B")


def test_a_tag_that_is_no_label_is_named_by_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, "a b\tjoy\nb b\t7\n", "texts.tsv")
    with pytest.raises(DatasetError, match="line 2: tag '7' is neither a label name"):
        read_text(path, ["joy"])


def test_words_for_no_value_are_no_tags_among_others(tmp_path):
    dataset = read_quietly(write(tmp_path, "x\ttags\n1\ta;none\n2\tNA;b;none\n3\tnone\n"))
    assert dataset.label_names == ("a", "b")
    assert dataset.Y.toarray().tolist() == [[1, 0], [0, 1], [0, 0]]
    assert "'none', 'NA', 4 times in the tags, were taken as no tag" in dataset.provenance.notes
