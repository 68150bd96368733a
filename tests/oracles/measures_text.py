"""Measures of strings, sets and fingerprints as their definitions give them: one pair at a time, no shortcuts."""

import math
from collections import Counter


def edit_counts(a, b):
    """(insertions, deletions, substitutions) of the optimal alignment from a to b that is read from the end thus.

    Common endings match. Then, of the ways that are optimal: a deletion; an insertion, if a substitution would not be
    optimal (be it that a match would); else the substitution or the match.
    """
    while len(a) and len(b) and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    d = distances(a, b)
    i, j, counts = len(a), len(b), Counter()
    while i or j:
        if i and d[i][j] == d[i - 1][j] + 1:
            i, step = i - 1, "delete"
        elif not i or (j and d[i][j - 1] + 1 == d[i - 1][j - 1]):
            j, step = j - 1, "insert"
        else:
            i, j, step = i - 1, j - 1, "match" if a[i - 1] == b[j - 1] else "substitute"
        counts[step] += 1
    return counts["insert"], counts["delete"], counts["substitute"]


def distances(a, b):
    """d[i][j]: the fewest operations from a[:i] to b[:j]."""
    d = [[i + j for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            d[i][j] = min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
    return d


def string_edit(a, b, p):
    """(p_1 I + p_2 E + p_3 S) / max(|a|, |b|)."""
    weighted = sum(weight * count for weight, count in zip(p, edit_counts(a, b), strict=True))
    return weighted / max(len(a), len(b), 1)


def jaccard(a, b):
    """1 - |a and b| / |a or b|; 0 for two empty sets."""
    return 1 - len(set(a) & set(b)) / len(set(a) | set(b)) if set(a) | set(b) else 0.0


def cosine(a, b):
    """1 - a.b / (|a| |b|) of two dictionaries; 0 for two empty ones, 1 for one."""
    if not a or not b:
        return 0.0 if not a and not b else 1.0
    product = math.fsum(a[token] * b[token] for token in a if token in b)
    return 1 - product / (math.hypot(*a.values()) * math.hypot(*b.values()))


def tanimoto(a, b):
    """1 - common ones / ones in either; 0 where there is none."""
    either = sum(x or y for x, y in zip(a, b, strict=True))
    return 1 - sum(x and y for x, y in zip(a, b, strict=True)) / either if either else 0.0
