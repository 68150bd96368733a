"""JSON lines and plain text -> chunks: of columns where every line is a flat record, else of objects."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import IO, Any

from eocc.files.chunk import CHUNK_ROWS, Chunk
from eocc.files.node_link import graph_of_node_link, is_node_link

# A deeper value is an attack or a mistake: the parser would run out of stack.
LONGEST_LINE = 2**26


def text_chunks(file: IO[str], where: str) -> Iterator[Chunk]:
    """Yield the lines of a text file as strings, without their line ends."""
    first = 0
    while lines := [line.rstrip("\r\n") for line in islice(file, CHUNK_ROWS)]:
        yield Chunk(first, objects=lines)
        first += len(lines)


def json_chunks(file: IO[str], where: str) -> Iterator[Chunk]:
    """Yield the values of a file with one JSON value a line; blank lines do not count."""
    first = 0
    values = _values(file, where)
    while objects := list(islice(values, CHUNK_ROWS)):
        yield _chunk(first, objects)
        first += len(objects)


def _values(file: IO[str], where: str) -> Iterator[Any]:
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        if len(line) > LONGEST_LINE:
            raise ValueError(f"{where}, line {number} is longer than {LONGEST_LINE} characters; one value a line")
        try:
            value = json.loads(line, parse_constant=_no_constant)
        except RecursionError:
            raise ValueError(f"{where}, line {number} is nested too deep") from None
        except ValueError as error:
            what = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            raise ValueError(f"{where}, line {number} is no JSON value: {what}") from None
        yield graph_of_node_link(value, f"{where}, line {number}") if is_node_link(value) else value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number JSON knows; write null")


def _chunk(first: int, objects: list[Any]) -> Chunk:
    if not all(isinstance(value, dict) for value in objects):
        return Chunk(first, objects=objects)
    names = list(dict.fromkeys(name for value in objects for name in value))
    return Chunk(first, {name: [value.get(name) for value in objects] for name in names})
