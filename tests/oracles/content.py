"""The choice of rows by content, from its definition: integers of any size, and one row at a time."""

import math
import struct
from collections import Counter

WORD = 2**64
CELLS = 2**20


def mix(word):
    """The finaliser of splitmix64."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB % WORD
    return word ^ word >> 31


def hash_of(row):
    state = 0
    for value in row:
        (word,) = struct.unpack("<Q", struct.pack("<d", value + 0.0))
        state = mix(((state ^ word) + 0x9E3779B97F4A7C15) % WORD)
    return state


def cell_counts(rows):
    return Counter(hash_of(row) % CELLS for row in rows)


def key_of(row, counts):
    u = (hash_of(row) // CELLS + 0.5) / 2**44
    return -math.log(u) / counts[hash_of(row) % CELLS]


def kept_numbers(rows, size):
    """Take different rows by ascending key, each as often as its share, then their other copies, up to `size`."""
    rows = [tuple(value + 0.0 for value in row) for row in rows]
    counts, n = cell_counts(rows), len(rows)
    taken, surplus = [], []
    for row in sorted(set(rows), key=lambda row: (key_of(row, counts), hash_of(row))):
        share = max(1, math.floor(counts[hash_of(row) % CELLS] * size / n + 0.5))
        numbers = [number for number, other in enumerate(rows) if other == row]
        taken, surplus = taken + numbers[:share], surplus + numbers[share:]
    return sorted((taken + surplus)[:size])
