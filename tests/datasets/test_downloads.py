"""Downloads from a server on this machine that can be told to misbehave."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from protolabel.datasets import find_spec, load_dataset
from protolabel.datasets import loading as loading_module
from protolabel.datasets.catalogue import RemoteFile
from protolabel.datasets.download import fetch_file, fetch_files
from protolabel.exceptions import DatasetError

CONTENT = bytes(range(256)) * 2000
CHECKSUM = hashlib.sha256(CONTENT).hexdigest()


@dataclass
class Server:
    """Address of the server, what it serves and how it misbehaves."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    cut_after: int | None = None
    ignores_ranges: bool = False
    requests: list[tuple[str, str | None]] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server(files={"/file": CONTENT, "/wrong": b"x" + CONTENT[1:]})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            state.requests.append((self.path, wanted))
            content = state.files.get(self.path)
            if content is None:
                self.send_error(404)
                return
            start = 0
            if wanted and not state.ignores_ranges:
                start = int(wanted.removeprefix("bytes=").removesuffix("-"))
                if start >= len(content):
                    self.send_error(416)
                    return
            body = content[start:]
            self.send_response(206 if start else 200)
            if start:
                self.send_header(
                    "Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}"
                )
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if state.cut_after is not None:
                body = body[: state.cut_after]
                state.cut_after = None
                self.wfile.write(body)
                self.wfile.flush()
                self.connection.close()
                return
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Keep the test output clean."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    state.address = f"http://127.0.0.1:{httpd.server_port}"
    yield state
    httpd.shutdown()
    httpd.server_close()


def remote(server: Server, *paths: str) -> RemoteFile:
    return RemoteFile("data.bin", CHECKSUM, tuple(server.address + path for path in paths))


def test_a_download_appears_under_its_name_once_verified(server: Server, tmp_path: Path) -> None:
    path = fetch_file(remote(server, "/file"), tmp_path)
    assert path.read_bytes() == CONTENT
    assert [file.name for file in tmp_path.iterdir()] == ["data.bin"]
    fetch_file(remote(server, "/file"), tmp_path)
    assert len(server.requests) == 1


def test_a_cut_download_is_not_taken_for_a_whole_one_and_goes_on(
    server: Server, tmp_path: Path
) -> None:
    server.cut_after = 200_000
    with pytest.raises(DatasetError, match=r"data.bin could not be downloaded"):
        fetch_file(remote(server, "/file"), tmp_path)
    assert not (tmp_path / "data.bin").exists()
    done = (tmp_path / "data.bin.partial").stat().st_size
    assert 0 < done <= 200_000
    assert fetch_file(remote(server, "/file"), tmp_path).read_bytes() == CONTENT
    assert server.requests[-1] == ("/file", f"bytes={done}-")
    assert [file.name for file in tmp_path.iterdir()] == ["data.bin"]


def test_another_mirror_goes_on_where_the_first_broke_off(server: Server, tmp_path: Path) -> None:
    server.files["/mirror"] = CONTENT
    server.cut_after = 100_000
    assert fetch_file(remote(server, "/file", "/mirror"), tmp_path).read_bytes() == CONTENT
    path, wanted = server.requests[-1]
    assert path == "/mirror"
    assert wanted is not None


def test_a_server_without_ranges_starts_over(server: Server, tmp_path: Path) -> None:
    server.ignores_ranges = True
    (tmp_path / "data.bin.partial").write_bytes(b"left over")
    assert fetch_file(remote(server, "/file"), tmp_path).read_bytes() == CONTENT


def test_wrong_partial_bytes_are_dropped_and_fetched_afresh(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.bin.partial").write_bytes(b"wrong bytes")
    assert fetch_file(remote(server, "/file"), tmp_path).read_bytes() == CONTENT
    (tmp_path / "data.bin").unlink()
    (tmp_path / "data.bin.partial").write_bytes(CONTENT + b"too long")
    assert fetch_file(remote(server, "/file"), tmp_path).read_bytes() == CONTENT


def test_wrong_bytes_and_missing_mirrors_are_passed_over(server: Server, tmp_path: Path) -> None:
    path = fetch_file(remote(server, "/missing", "/wrong", "/file"), tmp_path)
    assert path.read_bytes() == CONTENT
    assert [request for request, _ in server.requests] == ["/missing", "/wrong", "/file"]


def test_when_every_mirror_fails_each_reason_is_given(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DatasetError) as caught:
        fetch_file(remote(server, "/missing", "/wrong"), tmp_path)
    message = str(caught.value)
    assert "404" in message
    assert CHECKSUM in message
    assert "put the file into" in message
    assert list(tmp_path.iterdir()) == []


def test_a_file_name_cannot_lead_elsewhere(server: Server, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a plain file name"):
        fetch_file(replace(remote(server, "/file"), name="../data.bin"), tmp_path)


def test_a_dataset_is_downloaded_into_the_cache_and_loaded(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arff = b"@relation t\n@attribute x numeric\n@attribute a {0,1}\n@data\n0.5,1\n0.7,0\n"
    xml = b'<labels><label name="a"/></labels>'
    server.files |= {"/t.arff": arff, "/t.xml": xml}
    spec = replace(
        find_spec("emotions"),
        n_samples=2,
        n_features=1,
        n_labels=1,
        cardinality=0.5,
        split=None,
        remote=tuple(
            RemoteFile(name, hashlib.sha256(content).hexdigest(), (server.address + url,))
            for name, url, content in (
                ("emotions.arff", "/t.arff", arff),
                ("emotions.xml", "/t.xml", xml),
            )
        ),
    )
    monkeypatch.setattr(loading_module, "find_spec", lambda name: spec)
    monkeypatch.delenv("PROTOLABEL_DATA", raising=False)
    monkeypatch.setenv("PROTOLABEL_CACHE", str(tmp_path / "cache"))
    dataset = load_dataset("emotions")
    assert dataset.X.tolist() == [[0.5], [0.7]]
    assert (tmp_path / "cache" / "emotions" / "emotions.arff").is_file()
    n_requests = len(server.requests)
    load_dataset("emotions")
    assert len(server.requests) == n_requests


def test_a_dataset_without_checksum_is_never_downloaded(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no checksum is known to download 'bookmark' by"):
        fetch_files(find_spec("bookmark"), tmp_path)
