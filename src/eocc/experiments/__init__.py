"""The experiments: every system on every data set, by one protocol, next to the published results."""

from eocc.base.registry import Registry

__getattr__, __all__ = Registry("eocc", {}).exports("experiments.protocol.OneClassFold")
