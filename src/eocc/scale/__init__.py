"""More than one machine or one memory holds: the memory limit of a fit, and Dask."""
