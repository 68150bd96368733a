"""Decorators that compile kernels: without the interpreter lock, cached on disk, dividing like numpy."""

from hashlib import sha256
from pathlib import Path

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.runtime import rtsys

# Of all kernels, as they call each other across files. numba looks only at the file of a kernel itself.
SOURCES = sha256(b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))).hexdigest()


class KernelCache(FunctionCache):
    """Compiled kernels on disk, named after all sources. numba's own cache first imports its compiler, for 0.5 s."""

    def __init__(self, function):
        super().__init__(function)
        name = f"{self._impl.filename_base}-{SOURCES[:12]}"
        self._cache_file = IndexDataCacheFile(self._cache_path, name, self._cache_file._source_stamp)

    def load_overload(self, sig, target_context):
        """Return the compiled kernel of these types, None if there is none yet."""
        try:
            rtsys.initialize(target_context)
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)
        except AttributeError:  # a version of numba with other internals
            return super().load_overload(sig, target_context)


def _compiling(**options):
    # no_cfunc_wrapper saves compile time: no kernel is called from C.
    compiled = njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options)

    def decorated(function):
        found = compiled(function)
        found._cache = KernelCache(function)  # as numba does for cache=True
        return found

    return decorated


kernel = _compiling()

# May reorder sums to vectorise them. The order is fixed at compile time, so the same numbers always give the same sum;
# infinities and NaN keep their meaning.
summing_kernel = _compiling(fastmath={"reassoc", "contract"})

# May fuse multiplication and addition; sums keep their order.
contracting_kernel = _compiling(fastmath={"contract"})

# For functions that only kernels call: without an entry for Python, they compile faster.
helper = _compiling(no_cpython_wrapper=True)

# For small helpers in hot loops: a call would pass every array as seven words.
inlined_kernel = _compiling(forceinline=True, no_cpython_wrapper=True)

# The same, where sums may be reordered.
summing_inlined_kernel = _compiling(forceinline=True, no_cpython_wrapper=True, fastmath={"reassoc", "contract"})

# For minima of numbers without NaN, which vectorise.
minimum_kernel = _compiling(fastmath={"nnan", "nsz"})
minimising_kernel = _compiling(forceinline=True, no_cpython_wrapper=True, fastmath={"nnan", "nsz"})
