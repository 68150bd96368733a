"""The paper's method, in its order.

- ``graph``         space -> Euclidean graph, minimum spanning tree, Rényi entropy
- ``partition``     spanning tree -> clusters, modularity
- ``regions``       clusters -> fuzzy decision regions -> membership, score, decision
- ``search``        maximise any function of the dissimilarity's parameters p
- ``synthesis``     p + data -> model: EOCC-1 and EOCC-2
"""
