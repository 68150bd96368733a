"""Rows of a table -> how strange each value is among the normal rows that are alike in the other columns."""

import numpy as np

from eocc.kernels.compile import helper, kernel
from eocc.kernels.smallest import insert, insert_value, place_of_least

# Beyond this many spreads a number counts no more, so that strange values do not decide which rows are alike.
FARTHEST = 2.0
# The squared difference, in spreads, of another category, and of a missing value: that of two unrelated numbers is 2.
MISMATCH, GAP = 4.0, 2.0
# The largest of these terms, with room for rounding.
LARGEST = 4.0 + 1e-6
# A number lies in a gap of its column if the nearest value is at least NARROWEST spreads away, and if at least EXPECTED
# values would be nearer, were those on the smaller side spread evenly over one spread.
NARROWEST, EXPECTED = 0.25, 6.0
# The strangeness of a category that no normal row has, or of a number in a gap, and the most that any value reaches.
UNSEEN, MOST = 10.0, 1e6
# Numbers that differ by this share of their size differ by rounding only.
ROUNDING = 1e-12
# The place of a row that is still to be found.
NO_ROW = np.iinfo(np.int64).max


@helper
def fill_terms(record, columns, is_code, spreads, terms, totals):
    """Fill terms_kj with the bounded squared difference of value k and columns_kj, and totals_j with their sum."""
    totals[:] = 0.0
    for k in range(record.shape[0]):
        value, column, row = record[k], columns[k], terms[k]
        scale = 1.0 / spreads[k] if spreads[k] > 0 else 0.0
        if np.isnan(value):
            row[:] = GAP
        elif is_code[k]:
            for j in range(column.shape[0]):
                mismatch = 0.0 if column[j] == value else MISMATCH
                row[j] = mismatch if column[j] == column[j] else GAP
        else:
            for j in range(column.shape[0]):
                gap = min(abs(value - column[j]) * scale, FARTHEST)
                row[j] = gap * gap if column[j] == column[j] else GAP
        for j in range(column.shape[0]):
            totals[j] += row[j]


@helper
def fill_nearest(candidates, totals, terms, smallest, near, k):
    """Fill near[k] with the candidates j of the smallest totals_j - terms[k, j], ascending; of equal ones, the first.

    The totals of the candidates ascend.
    """
    smallest[k], near[k] = np.inf, NO_ROW
    for j in candidates:
        if totals[j] - LARGEST > smallest[k, smallest.shape[1] - 1]:
            return
        insert(totals[j] - terms[k, j], j, smallest, near, k)


@helper
def fill_known(column, near, known, rows):
    """Fill `known` with the values of the near rows that are not missing, ascending, `rows` with these rows.

    Return their number.
    """
    count = 0
    for j in near:
        if column[j] == column[j]:
            place = count
            while place > 0 and known[place - 1] > column[j]:
                known[place], rows[place] = known[place - 1], rows[place - 1]
                place -= 1
            known[place], rows[place] = column[j], j
            count += 1
    return count


@helper
def is_in_gap(value, column, spread):
    """Return whether the column has values on both sides of the number, but none near: see NARROWEST, EXPECTED."""
    below, above, nearest = 0, 0, np.inf
    for other in column:
        below += other < value
        above += other > value
        if abs(other - value) < nearest:
            nearest = abs(other - value)
    return nearest >= NARROWEST * spread and nearest * min(below, above) >= EXPECTED * spread


@helper
def number_strangeness(value, column, known, spread):
    """Return |value - median of the known values| / the mean of their standard deviation and the spread.

    A number in a gap of the column has at least UNSEEN.
    """
    count = known.shape[0]
    if count == 0:
        return 0.0
    total, squares, nearest = 0.0, 0.0, np.inf
    for other in known:
        total += other
        nearest = min(nearest, abs(value - other))
    median, mean = (known[count // 2] + known[(count - 1) // 2]) / 2, total / count
    for other in known:
        squares += (other - mean) ** 2
    gap, scale = abs(value - median), (np.sqrt(squares / count) + spread) / 2
    strange = 0.0 if gap <= ROUNDING * max(abs(value), abs(median)) else min(gap / scale, MOST)
    if strange < UNSEEN and spread > 0 and nearest >= NARROWEST * spread and is_in_gap(value, column, spread):
        return UNSEEN
    return strange


@helper
def code_strangeness(code, column, near):
    """Return sqrt(2 log(1 / p)), p the mean share of the code among the near rows and among all."""
    same, equal = 0, 0
    for other in column:
        same += other == code
    if same == 0:
        return UNSEEN
    for j in near:
        equal += column[j] == code
    return np.sqrt(max(-2 * np.log((equal / near.shape[0] + same / column.shape[0]) / 2), 0.0))


@kernel
def strangeness_of_rows(rows, columns, is_code, spreads, strangeness, near, ends):
    """Fill strangeness_ik of value k of row i, and near_ik with the normal rows most like row i in the other columns.

    `ends_ik` are those of them with the lowest and the highest number k. The first normal row that equals the row is
    not among them: it may be the row itself. There are more normal rows than near ones, unless there is only one.
    """
    n_columns, n = columns.shape
    terms, totals, places = np.empty((n_columns, n)), np.empty(n), np.empty(n, np.int64)
    least, smallest = np.empty(near.shape[2]), np.empty((n_columns, near.shape[2]))
    known, known_rows = np.empty(near.shape[2]), np.empty(near.shape[2], np.int64)
    for i in range(rows.shape[0]):
        fill_terms(rows[i], columns, is_code, spreads, terms, totals)
        itself, count = place_of_least(totals), 0
        if totals[itself] == 0 and n > 1:
            totals[itself] = np.inf
        # Leaving a column out lowers a total by at most the largest term, so only these rows can be near.
        least[:] = np.inf
        for total in totals:
            insert_value(total, least)
        for j in range(n):
            if totals[j] <= least[-1] + LARGEST:
                places[count], count = j, count + 1
        candidates = places[np.argsort(totals[places[:count]])]
        for k in range(n_columns):
            fill_nearest(candidates, totals, terms, smallest, near[i], k)
            if np.isnan(rows[i, k]):
                strangeness[i, k] = 0.0
            elif is_code[k]:
                strangeness[i, k] = code_strangeness(rows[i, k], columns[k], near[i, k])
            else:
                count = fill_known(columns[k], near[i, k], known, known_rows)
                strangeness[i, k] = number_strangeness(rows[i, k], columns[k], known[:count], spreads[k])
                ends[i, k, 0], ends[i, k, 1] = known_rows[0], known_rows[count - 1]
