"""Only regular files are ever replaced."""

import os
import socket
from pathlib import Path

import pytest

from protolabel.datasets.writers.atomic import replace_when_done
from protolabel.exceptions import DatasetError
from protolabel.report.writing import write_page
from protolabel.safefiles.folder import publish_file
from protolabel.safefiles.places import is_stream, open_stream, replaceable_file


def write_with_block(path):
    with replace_when_done(path) as partial:
        partial.write_text("new")


WRITERS = {
    "block": write_with_block,
    "page": lambda path: write_page("new", path, force=True),
    "bytes": lambda path: publish_file(path, b"new", force=True),
}


@pytest.fixture(params=WRITERS)
def write(request):
    return WRITERS[request.param]


def test_a_pipe_is_never_replaced(write, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to(pipe)
    for path in (pipe, tmp_path / "link"):
        with pytest.raises((DatasetError, FileExistsError), match="is a pipe, which is never"):
            write(path)
    assert pipe.is_fifo()
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe"]


def test_the_file_that_a_link_leads_to_is_replaced(write, tmp_path):
    target, link = tmp_path / "deep" / "target", tmp_path / "link"
    target.parent.mkdir()
    link.symlink_to("deep/target")
    for text in ("nothing", "old"):
        if text == "old":
            target.write_text(text)
        write(link)
        assert target.read_text() == "new"
        assert link.is_symlink()
    assert os.listdir(target.parent) == ["target"]


def test_devices_sockets_folders_and_circles_are_refused_by_name(tmp_path):
    main, side = os.openpty()
    terminal = os.ttyname(side)
    with socket.socket(socket.AF_UNIX) as server, pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)  # names of sockets are short
        server.bind("socket")
        (tmp_path / "circle").symlink_to("circle")
        for path, kind in [
            (terminal, "device"),
            ("socket", "socket"),
            (".", "folder"),
            ("circle", "link in a circle"),
            ("/dev/stdout", "stream of this process"),
            (f"/dev/fd/{side}", "stream of this process"),
        ]:
            with pytest.raises(FileExistsError, match=f"{path} is a {kind}, which is never"):
                replaceable_file(Path(path))
        assert is_stream(Path(terminal))
        assert not is_stream(Path("socket"))
    os.close(main)
    os.close(side)


def test_text_is_appended_to_an_open_file(tmp_path):
    path = tmp_path / "log"
    with path.open("w") as file:
        file.write("first\n")
        file.flush()
        with open_stream(Path(f"/dev/fd/{file.fileno()}")) as stream:
            stream.write("second\n")
    assert path.read_text() == "first\nsecond\n"


def test_what_is_not_there_may_be_written(tmp_path):
    assert replaceable_file(tmp_path / "new") == (tmp_path / "new").resolve()
    assert not is_stream(tmp_path / "new")
