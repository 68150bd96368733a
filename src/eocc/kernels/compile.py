"""Decorators that compile kernels: without the interpreter lock, cached on disk, dividing like numpy."""

from numba import njit

# no_cfunc_wrapper: saves compile time; no kernel is called from C.
_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy", "no_cfunc_wrapper": True}

kernel = njit(**_OPTIONS)

# May reorder sums to vectorise them. The order is fixed at compile time, so the same numbers always give the same sum;
# infinities and NaN keep their meaning.
summing_kernel = njit(**_OPTIONS, fastmath={"reassoc", "contract"})

# May fuse multiplication and addition; sums keep their order.
contracting_kernel = njit(**_OPTIONS, fastmath={"contract"})

# For functions that only kernels call: without an entry for Python, they compile faster.
helper = njit(**_OPTIONS, no_cpython_wrapper=True)

# For small helpers in hot loops: a call would pass every array as seven words.
inlined_kernel = njit(**_OPTIONS, forceinline=True, no_cpython_wrapper=True)

# The same, where sums may be reordered.
summing_inlined_kernel = njit(**_OPTIONS, forceinline=True, no_cpython_wrapper=True, fastmath={"reassoc", "contract"})

# For minima of numbers without NaN, which vectorise.
minimum_kernel = njit(**_OPTIONS, fastmath={"nnan", "nsz"})
minimising_kernel = njit(**_OPTIONS, forceinline=True, no_cpython_wrapper=True, fastmath={"nnan", "nsz"})
