"""How strange the values of a row are among the normal rows most like it in the other columns, from the definition."""

import math


def term(value, other, is_code, spread):
    """Return the squared difference of two values in spreads: at most 4, 4 for another code, 2 if one is missing."""
    if math.isnan(value) or math.isnan(other):
        return 2.0
    if is_code:
        return 0.0 if value == other else 4.0
    return min(abs(value - other) / spread, 2.0) ** 2 if spread > 0 else 0.0


def unlikeness(record, row, k, is_code, spreads):
    """Return how unlike a record and a row are in the columns other than k."""
    others = (j for j in range(len(record)) if j != k)
    return sum(term(record[j], row[j], is_code[j], spreads[j]) for j in others)


def near_rows(record, rows, k, is_code, spreads, n_near):
    """Return the indices of the rows most like the record in the columns other than k; the first copy is left out."""
    copies = [j for j, row in enumerate(rows) if unlikeness(record, row, None, is_code, spreads) == 0]
    candidates = [j for j in range(len(rows)) if len(rows) == 1 or j != (copies or [None])[0]]
    return sorted(candidates, key=lambda j: round(unlikeness(record, rows[j], k, is_code, spreads), 9))[:n_near]


def strangeness(record, rows, k, is_code, spreads, n_near):
    """Return the strangeness of value k of the record."""
    value, near = record[k], near_rows(record, rows, k, is_code, spreads, n_near)
    if math.isnan(value):
        return 0.0
    if is_code[k]:
        share, near_share = (sum(rows[j][k] == value for j in some) / len(some) for some in (range(len(rows)), near))
        return math.sqrt(2 * math.log(2 / (share + near_share))) if share > 0 else 10.0
    known = sorted(rows[j][k] for j in near if not math.isnan(rows[j][k]))
    if not known:
        return 0.0
    mean, median = sum(known) / len(known), (known[len(known) // 2] + known[(len(known) - 1) // 2]) / 2
    deviation = math.sqrt(sum((other - mean) ** 2 for other in known) / len(known))
    gap, scale = abs(value - median), (deviation + spreads[k]) / 2
    least = 10.0 if is_in_gap(value, [row[k] for row in rows], spreads[k]) else 0.0
    if gap <= 1e-12 * max(abs(value), abs(median)):
        return least
    return max(min(gap / scale, 1e6) if scale > 0 else 1e6, least)


def is_in_gap(value, column, spread):
    """Return whether values lie on both sides of a number but none near it, too many for chance."""
    nearest = min((abs(value - other) for other in column if not math.isnan(other)), default=0.0)
    sides = sum(other < value for other in column), sum(other > value for other in column)
    return spread > 0 and nearest >= spread / 4 and nearest / spread * min(sides) >= 6
