"""Data sets: the published ones by name, readers of graph collections, and the paper's synthetic problems."""

from eocc.base.registry import Registry

__getattr__, __all__ = Registry("eocc", {}).exports(
    "datasets.published.data_folder",
    "datasets.published.IamSet", "datasets.published.load_iam",
    "datasets.published.UciSet", "datasets.published.load_uci",
    "datasets.synthetic.make_pumps", "datasets.synthetic.OneClassProblem",
    "datasets.synthetic.make_isolated_pattern", "datasets.synthetic.make_narrow_band",
    "datasets.synthetic.make_three_clusters", "datasets.synthetic.make_two_clusters",
    "formats.archive.Limits", "formats.graphs.node_link.molecules",
    "formats.graphs.gxl.GraphSet", "formats.graphs.gxl.read_graph_set", "formats.graphs.gxl.read_gxl",
)  # fmt: skip
