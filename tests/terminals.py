"""Commands on a terminal."""

import os
import pty
import subprocess


def in_terminal(*command, **environment):
    """What a command shows on a terminal."""
    master, slave = pty.openpty()
    run = subprocess.Popen(
        command, stderr=slave, stdout=slave, env={**os.environ, "COLUMNS": "100", "TERM": "xterm", **environment}
    )
    os.close(slave)
    text = b""
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # the other end has closed
            break
        if not chunk:
            break
        text += chunk
    os.close(master)
    assert run.wait() == 0
    return text.decode()
