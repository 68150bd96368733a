"""JSON, plain text, SMILES and GXL -> chunks: columns if every value is a flat record, else objects."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from eocc.base.printing import complaint, quoted
from eocc.formats.archive import SAFE, Collection, read_file
from eocc.formats.files.formats import LONGEST_LINE, Lines, numbered
from eocc.formats.files.rows import Chunk, portions
from eocc.formats.graphs.gxl_graph import Document, SameKinds, parse_gxl
from eocc.formats.graphs.node_link import graph_of_node_link, is_node_link, molecule
from eocc.formats.strict_json import JsonError, parse_json
from eocc.measures.labelled_graph import LabelledGraph
from eocc.tables.sources import column_of_cells
from eocc.tables.table import Table

RECORD, NUMBER, GRAPH, OBJECT = "a record", "a number", "a graph", "a list or text"
File = tuple[str, bytes, str]  # name, content, where it is


def text_chunks(lines: Lines) -> Iterator[Chunk]:
    """Yield the lines of a text file as strings, without blank lines."""
    strings = ((lines.number, line.removesuffix("\n").removesuffix("\r")) for line in lines if line.strip())
    for numbers, objects in portions(strings, lambda: lines.size):
        yield Chunk(lines.where, objects=objects, lines=numbers)


def json_line_chunks(lines: Lines) -> Iterator[Chunk]:
    """Yield the values of a file with one JSON value per line; blank lines are ignored."""

    def parsed(line: str) -> Any:
        try:
            return parse_json(line)
        except JsonError as error:
            hint = "write one JSON value per line" if lines.number > 1 else (
                "if the file is one array over several lines, its format is json"
            )  # fmt: skip
            raise lines.fault(f"{error}; {hint}") from None

    return _of_values(((lines.number, parsed(line)) for line in lines if line.strip()), lines)


def json_chunks(lines: Lines) -> Iterator[Chunk]:
    """Yield the items of a JSON array, a single graph or record, or one value per line; the file is read whole."""
    text = list[str]()
    for line in lines:
        if lines.size > LONGEST_LINE:
            raise lines.fault(f"more than {LONGEST_LINE} bytes in one value; write one value per line, as .jsonl")
        text.append(line)
    try:
        whole = parse_json("".join(text))
        values = [(0, value) for value in (whole if isinstance(whole, list) else [whole])]
    except JsonError as error:
        values = []
        with suppress(JsonError):
            each = enumerate(text if error.is_extra else (), 1)  # one value per line
            values = [(number, parse_json(line)) for number, line in each if line.strip()]
        if not values:
            raise complaint(lines.where, error.line, str(error)) from None
    yield from _of_values(iter(values), lines)


def _of_values(values: Iterator[tuple[int, Any]], lines: Lines) -> Iterator[Chunk]:
    """Yield values, each with its line or 0, as chunks of one layout, that of the first value."""
    expected, kinds = OBJECT, SameKinds()
    parts = (
        Chunk(lines.where, objects=objects, lines=numbers if all(numbers) else ())
        for numbers, objects in portions(values, lambda: lines.size)
    )
    for chunk in numbered(parts):
        objects = chunk.objects
        if chunk.rows[0] == 0:
            expected, model = _layout_of(objects[0]), objects[0]
        for index, value in enumerate(objects):
            layout = _layout_of(value)
            if layout != expected:
                raise chunk.fault(index, f"{layout}, but the first is {expected}; all must be of one kind")
            if layout == RECORD and value.keys() != model.keys():
                odd = min(value.keys() ^ model.keys())
                lacks, has = ("this record", "the first") if odd in model else ("the first record", "this one")
                remedy = "give every record the same keys, null for missing values"
                raise chunk.fault(index, f"{lacks} has no {quoted(odd)}, but {has} has; {remedy}")
        if expected == GRAPH:
            documents = [_graph(chunk, index) for index in range(len(chunk))]
            kinds.check(documents)
            yield replace(chunk, objects=[document.graph for document in documents])
        elif expected == NUMBER or (expected == RECORD and model):
            cells = {"value": objects} if expected == NUMBER else {key: [one[key] for one in objects] for key in model}
            yield replace(chunk, table=Table(tuple(map(column_of_cells, cells, cells.values()))), objects=())
        else:
            yield chunk


def _layout_of(value: Any) -> str:
    if isinstance(value, dict):
        return GRAPH if is_node_link(value) else RECORD
    return NUMBER if isinstance(value, int | float) and not isinstance(value, bool) else OBJECT


def _graph(chunk: Chunk, index: int) -> Any:
    line = chunk.lines[index] if chunk.lines else chunk.rows[index] + 1
    try:
        return graph_of_node_link(chunk.objects[index], chunk.where if chunk.lines else f"{chunk.where}, row", line)
    except ValueError as error:
        raise chunk.fault(index, str(error)) from None


def graph_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the one graph of a GXL file."""
    data, where = read_file(path, SAFE)
    yield from _of_graphs(str(path), [(path.name, data, where)])


def smiles_chunks(lines: Lines) -> Iterator[Chunk]:
    """Yield the molecules of a file with one SMILES per line, and perhaps a name; a header "SMILES ..." is left out."""

    def molecules() -> Iterator[tuple[int, str, LabelledGraph]]:
        for line in lines:
            smiles, *name = line.split(maxsplit=1) or [""]
            if not smiles or (lines.number == 1 and smiles.lower() == "smiles"):
                continue
            try:
                yield lines.number, (name or [smiles])[0].strip(), molecule(smiles)
            except ValueError as error:
                raise lines.fault(str(error)) from None

    for numbers, names, graphs in portions(molecules(), lambda: lines.size):
        yield Chunk(lines.where, objects=graphs, names=names, lines=numbers)


def collection_chunks(path: Path) -> Iterator[Chunk]:
    """Yield all GXL graphs of a folder or a zip file, in the order of their names."""
    files = Collection(path, SAFE)
    names = sorted(name for name in files.names if name.lower().endswith(".gxl"))
    if not names:
        raise complaint(str(path), None, "holds no .gxl file; pass a folder or a zip file of graphs")
    yield from _of_graphs(str(path), ((name, *files.read(name)) for name in names), len(names))


def _of_graphs(where: str, files: Iterable[File], n_files: int = 1) -> Iterator[Chunk]:
    kinds, sizes = SameKinds(), [0]

    def parsed() -> Iterator[tuple[str, Document]]:
        for name, data, place in files:
            sizes.append(sizes.pop() + len(data))
            yield name.encode("utf-8", "replace").decode(), parse_gxl(data, place)

    for names, documents in portions(parsed(), lambda: sizes[0]):
        kinds.check(documents)
        yield Chunk(where, objects=[document.graph for document in documents], names=names, file_rows=n_files)
