"""Where data sets are looked for: one folder, the user's to choose."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path


def data_folder() -> Path:
    """Return the folder that holds uci/ and iam/: EOCC_DATA where that is set, else the user's own folder for data.

    That is XDG_DATA_HOME/eocc or ~/.local/share/eocc, on macOS ~/Library/Application Support/eocc, on Windows
    eocc in LOCALAPPDATA. Nothing is created by asking.

    >>> import os
    >>> before = os.environ.get("EOCC_DATA")
    >>> os.environ["EOCC_DATA"] = "my_data"
    >>> str(data_folder())
    'my_data'
    >>> del os.environ["EOCC_DATA"]
    >>> data_folder().name
    'eocc'
    >>> os.environ.update({} if before is None else {"EOCC_DATA": before})
    """
    chosen = os.environ.get("EOCC_DATA")
    if chosen:
        return Path(chosen).expanduser()
    return users_folder(sys.platform, os.environ, Path("~").expanduser()) / "eocc"


def users_folder(platform: str, environment: Mapping[str, str], home: Path) -> Path:
    """Return the folder in which programs of a platform keep a user's data.

    >>> users_folder("linux", {}, Path("/home/ada")).as_posix()
    '/home/ada/.local/share'
    """
    if platform == "win32":
        local = environment.get("LOCALAPPDATA")
        return Path(local) if local else home / "AppData" / "Local"
    if platform == "darwin":
        return home / "Library" / "Application Support"
    shared = Path(environment.get("XDG_DATA_HOME", ""))
    # The XDG specification has relative paths ignored.
    return shared if shared.is_absolute() else home / ".local" / "share"
