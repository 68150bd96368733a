"""A terminal for what runs in this process."""

import os
import pty
import threading
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock


def on_terminal(call, *arguments, **environment):
    """What a call shows on a terminal, and what it returns."""
    master, slave = pty.openpty()
    parts = []

    def read():
        try:
            while part := os.read(master, 65536):
                parts.append(part)
        except OSError:  # the other end has closed
            pass

    reader = threading.Thread(target=read)
    reader.start()
    with (
        mock.patch.dict(os.environ, {"COLUMNS": "100", "TERM": "xterm", **environment}),
        os.fdopen(slave, "w", encoding="utf-8") as screen,
        redirect_stdout(screen),
        redirect_stderr(screen),
    ):
        answer = call(*arguments)
    reader.join()
    os.close(master)
    return b"".join(parts).decode(), answer
