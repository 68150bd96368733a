"""How kernels are compiled: without the interpreter lock, kept on disk, dividing as numpy does."""

from numba import njit

# no_cfunc_wrapper: nobody calls a kernel from C, and every wrapper is compile time at the first fit.
_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy", "no_cfunc_wrapper": True}

kernel = njit(**_OPTIONS)

# Sums may be taken several terms at a time. The order is fixed when the kernel is compiled, so the same
# numbers give the same sum always; infinities and NaN keep their meaning.
summing_kernel = njit(**_OPTIONS, fastmath={"reassoc", "contract"})

# A product and a sum may be rounded once, together: fewer operations where every sum keeps its order.
contracting_kernel = njit(**_OPTIONS, fastmath={"contract"})

# For small functions inside hot loops: a call would pass every array as seven words.
inlined_kernel = njit(**_OPTIONS, forceinline=True)

# For minima: without NaN among them, several numbers are compared at a time.
minimising_kernel = njit(**_OPTIONS, forceinline=True, fastmath={"nnan", "nsz"})
