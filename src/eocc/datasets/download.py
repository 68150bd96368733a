"""Download one file over https, verify its checksum, and write it completely or not at all."""

import hashlib
import http.client
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from eocc.base.atomic import drafted
from eocc.base.printing import printable


class DownloadError(OSError):
    """A file could not be downloaded completely and unchanged; the message is one line."""


def download(
    address: str, sha256: str, path: Path, *, size_limit: int = 2**28, timeout: float = 30.0, scheme: str = "https"
) -> Path:
    """Download an https address to `path`, and return that path; raise DownloadError if anything fails.

    The file appears only if the SHA-256 of its bytes is `sha256`. At most `size_limit` bytes are accepted; `timeout`
    seconds without an answer are a failure. Progress is shown on standard error.
    """
    _check_scheme(address, scheme)
    try:
        with _response(address, timeout, scheme) as response:
            path.parent.mkdir(parents=True, exist_ok=True)
            with drafted(path) as draft:
                with draft.open("xb") as file:
                    found = _copy(response, file, path.name, size_limit)
                if found != sha256.lower():
                    raise DownloadError(f"the SHA-256 is {found}, not {sha256}: the file has changed, or was changed")
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise DownloadError(printable(f"{address}: {_reason(error)}")) from None
    return path


def _check_scheme(address: str, scheme: str) -> None:
    if urlsplit(address).scheme != scheme:
        raise DownloadError(printable(f"{address}: only {scheme} addresses are downloaded"))


class _SameScheme(urllib.request.HTTPRedirectHandler):
    """Follows a redirection only to an address of the same scheme."""

    def __init__(self, scheme: str) -> None:
        self.scheme = scheme

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if urlsplit(newurl).scheme != self.scheme:
            fp.close()  # urllib closes it only when it follows
        _check_scheme(newurl, self.scheme)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _response(address: str, timeout: float, scheme: str) -> http.client.HTTPResponse:
    opener = urllib.request.build_opener(_SameScheme(scheme))
    request = urllib.request.Request(address, headers={"User-Agent": "eocc", "Accept-Encoding": "identity"})
    response: http.client.HTTPResponse = opener.open(request, timeout=timeout)
    return response


def _copy(response: http.client.HTTPResponse, file: IO[bytes], name: str, size_limit: int) -> str:
    """Copy the response to a file, and return its SHA-256 in hexadecimal digits."""
    length = response.headers.get("Content-Length", "")
    declared = int(length) if length.isdecimal() else None
    report = _reporter(name, declared)
    digest, size = hashlib.sha256(), 0
    while chunk := response.read(2**16):
        size += len(chunk)
        if max(size, declared or 0) > size_limit:
            raise DownloadError(f"is larger than the limit of {size_limit} bytes")
        digest.update(chunk)
        file.write(chunk)
        report(size)
    # http.client returns a short last piece without an error when a connection is cut.
    if declared is not None and size != declared:
        raise DownloadError(f"the transfer was cut: {size} of {declared} bytes came")
    return digest.hexdigest()


def _reporter(name: str, declared: int | None) -> Callable[[int], None]:
    if declared is None or not sys.stderr.isatty():
        print(f"downloading {name}" + (f", {declared} bytes" if declared else ""), file=sys.stderr)
        return lambda size: None

    def report(size: int) -> None:
        end = "\n" if size == declared else ""
        print(f"\rdownloading {name}: {size} of {declared} bytes", end=end, file=sys.stderr, flush=True)

    return report


def _reason(error: Exception) -> str:
    if isinstance(error, HTTPError):
        error.close()  # it holds the connection
        return f"the server answers {error.code} {error.reason}"
    if isinstance(error, URLError):
        return f"cannot be reached: {error.reason}"
    return str(error) or type(error).__name__
