"""What travels to workers, closed until a task opens it.

Dask opens what it carries as it arrives; where a worker cannot, because it has no such module, that ends the worker,
then the next, and the fit would wait for ever. A task that cannot do so fails, and says why.
"""

from typing import Any


def sealed(data: Any) -> bytes:
    """Return the data as bytes; functions and classes of a script or a notebook travel along.

    >>> opened(sealed([1, 2, 3]))
    [1, 2, 3]
    """
    import cloudpickle

    return bytes(cloudpickle.dumps(data, protocol=5))


def opened(package: bytes) -> Any:
    """Return the data, on a worker."""
    import cloudpickle

    try:
        return cloudpickle.loads(package)
    except (ImportError, AttributeError) as error:  # no such module there, or an older one
        raise ImportError(
            f"a worker cannot load the measure, the patterns or the model: {error}; install the module on all "
            "workers, or send it to them with client.upload_file('module.py')"
        ) from None
