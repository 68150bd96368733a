import contextlib
import hashlib
import io
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from eocc.datasets.download import DownloadError, download

BODY = bytes(range(256)) * 600  # more than two chunks
SHA256 = hashlib.sha256(BODY).hexdigest()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        getattr(self, "answer_" + self.path.strip("/").replace("-", "_"))()

    def answer_good(self):
        self.begin(200, {"Content-Length": len(BODY)})
        self.wfile.write(BODY)

    def answer_unannounced(self):
        self.begin(200, {})
        self.wfile.write(BODY)

    def answer_cut(self):
        self.begin(200, {"Content-Length": len(BODY)})
        self.wfile.write(BODY[:1000])

    def answer_missing(self):
        self.begin(404, {"Content-Length": 0})

    def answer_moved(self):
        self.begin(302, {"Location": "/good", "Content-Length": 0})

    def answer_moved_to_a_file(self):
        self.begin(302, {"Location": "ftp://localhost/etc/passwd", "Content-Length": 0})

    def answer_silent(self):
        self.server.released.wait(30)

    def answer_rude(self):
        self.wfile.write(b"nonsense\r\n\r\n")

    def begin(self, code, headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def address(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.released = threading.Event()
    server.handle_error = lambda *_: None  # a client that hangs up is what some tests are about
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.released.set()
    server.shutdown()
    thread.join()
    server.server_close()


def get(address, path, sha256=SHA256, size_limit=10**6, timeout=10.0):
    return download(address, sha256, path, size_limit=size_limit, timeout=timeout, scheme="http")


def failure(address, path, **options):
    with pytest.raises(DownloadError) as caught:
        get(address, path, **options)
    assert str(caught.value).isprintable()
    assert str(caught.value).startswith(address)
    return str(caught.value)


@pytest.mark.parametrize("page", ["good", "unannounced", "moved"])
def test_download_writes_the_file_and_nothing_else(address, tmp_path, page):
    path = tmp_path / "new" / "folder" / "file.bin"
    assert get(f"{address}/{page}", path) == path
    assert path.read_bytes() == BODY
    assert list(path.parent.iterdir()) == [path]


def test_checksum_may_be_in_upper_case(address, tmp_path):
    assert get(f"{address}/good", tmp_path / "a", sha256=SHA256.upper()).read_bytes() == BODY


@pytest.mark.parametrize(
    ("page", "options", "said"),
    [
        ("good", {"sha256": "0" * 64}, f"the SHA-256 is {SHA256}, not {'0' * 64}"),
        ("cut", {}, f"1000 of {len(BODY)} bytes came"),
        ("good", {"size_limit": len(BODY) - 1}, f"larger than the limit of {len(BODY) - 1} bytes"),
        ("unannounced", {"size_limit": len(BODY) - 1}, f"larger than the limit of {len(BODY) - 1} bytes"),
        ("missing", {}, "the server answers 404"),
        ("moved-to-a-file", {}, "ftp://localhost/etc/passwd: only http addresses are downloaded"),
        ("silent", {"timeout": 0.2}, "timed out"),
        ("rude", {}, "nonsense"),
    ],
)
def test_failed_download_is_a_one_line_error_and_leaves_the_folder_unchanged(address, tmp_path, page, options, said):
    path = tmp_path / "file.bin"
    path.write_bytes(b"before")
    assert said in failure(f"{address}/{page}", path, **options)
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("file.bin", b"before")]


def test_file_of_exactly_the_size_limit_is_accepted(address, tmp_path):
    assert get(f"{address}/good", tmp_path / "a", size_limit=len(BODY)).stat().st_size == len(BODY)


def test_unreachable_server_is_a_one_line_error(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert "cannot be reached" in failure(f"http://127.0.0.1:{port}/good", tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_interrupted_download_removes_the_temporary_file(address, tmp_path, monkeypatch):
    def interrupt(*_):
        assert len(list(tmp_path.iterdir())) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr("eocc.datasets.download._copy", interrupt)
    with pytest.raises(KeyboardInterrupt):
        get(f"{address}/good", tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_file_in_place_of_the_folder_is_a_one_line_error(address, tmp_path):
    (tmp_path / "folder").write_bytes(b"")
    failure(f"{address}/good", tmp_path / "folder" / "a")


@pytest.mark.parametrize("start", ["http://127.0.0.1/", "file:///etc/", "ftp://127.0.0.1/", ""])
def test_only_https_is_accepted(tmp_path, start):
    with pytest.raises(DownloadError, match="only https addresses are downloaded"):
        download(start + "a", SHA256, tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_progress_without_a_terminal_is_one_line_on_standard_error(address, tmp_path, capsys):
    get(f"{address}/good", tmp_path / "a.bin")
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", f"downloading a.bin, {len(BODY)} bytes\n")


def test_progress_on_a_terminal_overwrites_one_line(address, tmp_path):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    with contextlib.redirect_stderr(terminal):
        get(f"{address}/good", tmp_path / "a.bin")
    updates = terminal.getvalue().split("\r")
    assert len(updates) > 2
    assert updates[-1] == f"downloading a.bin: {len(BODY)} of {len(BODY)} bytes\n"
    assert not any("\n" in update for update in updates[:-1])
