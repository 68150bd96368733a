"""What travels to workers, closed until a task opens it.

Dask opens what it carries as it arrives; where a worker cannot, because it has no such module, that ends the worker,
then the next, and the fit would wait for ever. A task that cannot do so fails, and says why.
"""

import sys
from threading import RLock
from typing import Any

_one_at_a_time = RLock()


class Pickled:
    """Data that become bytes when they are sent, and stay so where they arrive until they are asked for.

    Functions and classes of a script or a notebook travel along.

    >>> import pickle
    >>> arrived = pickle.loads(pickle.dumps(Pickled([1, 2, 3])))
    >>> arrived.open()
    [1, 2, 3]
    """

    def __init__(self, data: Any) -> None:
        self._data, self._package, self._is_open = data, b"", True

    def __getstate__(self) -> bytes:
        """Return the bytes, made here or as they came."""
        import cloudpickle

        return self._package or bytes(cloudpickle.dumps(self._data, protocol=5))

    def __setstate__(self, package: bytes) -> None:
        self._data, self._package, self._is_open = None, package, False

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sys.getsizeof(self._package)  # dask asks how much a worker holds

    def open(self) -> Any:
        """Return the data; a worker opens them once."""
        import cloudpickle

        with _one_at_a_time:
            if not self._is_open:
                try:
                    self._data = cloudpickle.loads(self._package)
                except (ImportError, AttributeError) as error:
                    if isinstance(error, AttributeError) and "Can't get attribute" not in str(error):
                        raise  # of the data's own making
                    raise ImportError(_remedy(error)) from None
                self._is_open = True
        return self._data


def _remedy(error: Exception) -> str:
    return (
        f"a worker cannot load the measure, the patterns or the model: {error}; install the module on all workers, or "
        "send it to them with client.upload_file('module.py')"
    )
