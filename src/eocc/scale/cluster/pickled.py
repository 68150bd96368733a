"""Data that travel to workers as bytes, which a task unpickles.

Dask unpickles data on arrival. If a worker lacks a module, that would end one worker after the other, and the fit would
wait forever. A task that cannot unpickle its data fails with a message instead.
"""

import sys
from threading import RLock
from typing import Any

_one_at_a_time = RLock()


class Pickled:
    """Data, also functions and classes of a script, that are pickled when sent and unpickled when `open` is called."""

    def __init__(self, data: Any) -> None:
        self._data, self._package, self._is_open = data, b"", True

    def __getstate__(self) -> bytes:
        import cloudpickle

        return self._package or bytes(cloudpickle.dumps(self._data, protocol=5))

    def __setstate__(self, package: bytes) -> None:
        self._data, self._package, self._is_open = None, package, False

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sys.getsizeof(self._package)  # Dask asks how much memory a worker uses

    def open(self) -> Any:
        """Return the data, unpickled once per worker."""
        import cloudpickle

        with _one_at_a_time:
            if not self._is_open:
                try:
                    self._data = cloudpickle.loads(self._package)
                except (ImportError, AttributeError) as error:
                    if isinstance(error, AttributeError) and "Can't get attribute" not in str(error):
                        raise  # raised by the data themselves
                    raise ImportError(
                        f"a worker cannot load the measure, the data or the model: {error}; install the module on all "
                        "workers, or send it to them with client.upload_file('module.py')"
                    ) from None
                self._is_open = True
        return self._data
