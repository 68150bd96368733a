"""The Hamming dissimilarity, straight from its definition."""


def dissimilarity(x, y, p):
    """Return sum_k p_k [x_k != y_k] / m."""
    assert len(x) == len(y) == len(p)
    return sum(weight for here, there, weight in zip(x, y, p, strict=True) if here != there) / len(p)
