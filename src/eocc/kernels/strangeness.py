"""Rows of a table -> how strange each value is among the normal rows that are alike in the other columns."""

import numpy as np

from eocc.kernels.compile import helper, kernel

# Beyond this many spreads a number counts no more, so that strange values do not decide which rows are alike.
FARTHEST = 2.0
# The squared difference, in spreads, of another category, and of a missing value: that of two unrelated numbers is 2.
MISMATCH, GAP = 4.0, 2.0
# The largest of these terms, with room for rounding.
LARGEST = 4.0 + 1e-6
# The strangeness of a category that no normal row has, and the most that any value reaches.
UNSEEN, MOST = 10.0, 1e6
# Numbers that differ by this share of their size differ by rounding only.
ROUNDING = 1e-12


@helper
def fill_number_terms(value, column, spread, terms):
    """Fill terms_j with the bounded squared difference of a number and column_j, in spreads."""
    scale = 1.0 / spread if spread > 0 else 0.0
    for j in range(column.shape[0]):
        gap = min(abs(value - column[j]) * scale, FARTHEST)
        terms[j] = gap * gap if column[j] == column[j] else GAP


@helper
def fill_code_terms(code, column, terms):
    """Fill terms_j with the squared difference of a code and column_j."""
    for j in range(column.shape[0]):
        mismatch = 0.0 if column[j] == code else MISMATCH
        terms[j] = mismatch if column[j] == column[j] else GAP


@helper
def fill_terms(record, columns, is_code, spreads, terms, totals):
    """Fill terms_kj with the bounded squared difference of value k and columns_kj, and totals_j with their sum."""
    totals[:] = 0.0
    for k in range(record.shape[0]):
        if np.isnan(record[k]):
            terms[k] = GAP
        elif is_code[k]:
            fill_code_terms(record[k], columns[k], terms[k])
        else:
            fill_number_terms(record[k], columns[k], spreads[k], terms[k])
        for j in range(totals.shape[0]):
            totals[j] += terms[k, j]


@helper
def fill_nearest(candidates, totals, term, smallest, near):
    """Fill `near` with the candidates j of the smallest totals_j - term_j, ascending; of equal ones, the first."""
    last = near.shape[0] - 1
    smallest[:] = np.inf
    for j in candidates:
        value = totals[j] - term[j]
        if value < smallest[last]:
            place = last
            while place > 0 and smallest[place - 1] > value:
                smallest[place], near[place] = smallest[place - 1], near[place - 1]
                place -= 1
            smallest[place], near[place] = value, j


@helper
def number_strangeness(value, column, near, spread, room):
    """Return |value - median of the near values| / the mean of their standard deviation and the spread."""
    count, mean = 0, 0.0
    for j in near:
        if column[j] == column[j]:
            room[count] = column[j]
            mean += column[j]
            count += 1
    if count == 0:
        return 0.0
    known = np.sort(room[:count])
    mean /= count
    median = (known[count // 2] + known[(count - 1) // 2]) / 2
    variance = 0.0
    for other in known:
        variance += (other - mean) ** 2 / count
    gap, scale = abs(value - median), (np.sqrt(variance) + spread) / 2
    if gap <= ROUNDING * max(abs(value), abs(median)):
        return 0.0
    return min(gap / scale, MOST)


@helper
def code_strangeness(code, column, near):
    """Return sqrt(2 log(1 / p)), p the mean share of the code among the near rows and among all."""
    same = np.count_nonzero(column == code)
    if same == 0:
        return UNSEEN
    equal = 0
    for j in near:
        equal += column[j] == code
    return np.sqrt(max(-2 * np.log((equal / near.shape[0] + same / column.shape[0]) / 2), 0.0))


@kernel
def strangeness_of_rows(rows, columns, is_code, spreads, strangeness, near):
    """Fill strangeness_ik of value k of row i, and near_ik with the normal rows most like row i in the other columns.

    The first normal row that equals the row is left out of these: it may be the row itself. There are more normal rows
    than near ones, unless there is only one.
    """
    n_columns, n = columns.shape
    terms, totals, all_rows, nothing = np.empty((n_columns, n)), np.empty(n), np.arange(n), np.zeros(n)
    smallest, room = np.empty(near.shape[2]), np.empty(near.shape[2])
    for i in range(rows.shape[0]):
        fill_terms(rows[i], columns, is_code, spreads, terms, totals)
        itself = np.argmin(totals)
        if totals[itself] == 0 and n > 1:
            totals[itself] = np.inf
        # Leaving a column out lowers a total by at most the largest term, so only these rows can be near.
        fill_nearest(all_rows, totals, nothing, smallest, near[i, 0])
        candidates = np.flatnonzero(totals <= smallest[-1] + LARGEST)
        for k in range(n_columns):
            fill_nearest(candidates, totals, terms[k], smallest, near[i, k])
            if np.isnan(rows[i, k]):
                strangeness[i, k] = 0.0
            elif is_code[k]:
                strangeness[i, k] = code_strangeness(rows[i, k], columns[k], near[i, k])
            else:
                strangeness[i, k] = number_strangeness(rows[i, k], columns[k], near[i, k], spreads[k], room)
