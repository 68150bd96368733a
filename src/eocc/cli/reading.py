"""Patterns for commands: which file, which columns, which rows."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from eocc.classifier import EntropicOneClassClassifier
from eocc.cli.app import say
from eocc.files import Schema, guess_schema, open_chunks, schema_of_model
from eocc.files.chunk import Chunk

Data = Annotated[
    Path,
    typer.Argument(
        help="CSV, TSV, Parquet, Arrow, JSON lines, text; a folder, zip or CXL index of GXL; - for standard input."
    ),
]
Model = Annotated[Path, typer.Argument(help="A model file, written by eocc fit.")]
InputFormat = Annotated[str, typer.Option(help="The format, where the suffix does not tell it.")]
Label = Annotated[str, typer.Option(help="The column (or, of a CXL index, 'class') that says what a pattern is.")]
Target = Annotated[str, typer.Option(help="Its value for targets.")]
Drop = Annotated[str, typer.Option(help="Columns that do not count, with commas between them.")]

CLASS = "class"


@dataclass(frozen=True, eq=False)
class Read:
    """All patterns of a file, what they hold, and which are targets (all, where no label was named)."""

    patterns: Any
    schema: Schema
    is_target: np.ndarray[Any, Any]
    names: Sequence[str]


def read_all(path: Path, form: str, label: str, target: str, drop: str, measure: str | None) -> Read:
    """Read a file to train on, and say aloud what it holds."""
    apart = [name.strip() for name in drop.split(",") if name.strip()]
    chunks = list(open_chunks(path, form or None))
    in_table = bool(chunks) and bool(chunks[0].columns)
    schema = guess_schema(chunks, str(path), [*apart, *([label] if label and in_table else [])], measure)
    say(f"{path}: {sum(map(len, chunks))} patterns, {schema.describe()}.")
    return _read(chunks, schema, path, label, target)


def read_for(classifier: EntropicOneClassClassifier, path: Path, form: str, label: str = "", target: str = "") -> Read:
    """Read a file to judge with a model."""
    chunks = list(open_chunks(path, form or None))
    if not any(map(len, chunks)):
        raise ValueError(f"{path} holds no patterns; at least 1 is required")
    return _read(chunks, schema_of_model(classifier), path, label, target)


def _read(chunks: Sequence[Chunk], schema: Schema, path: Path, label: str, target: str) -> Read:
    parts = [schema.patterns(chunk, str(path)) for chunk in chunks if len(chunk)]
    whole = np.concatenate(parts) if schema.kind == "numbers" else [pattern for part in parts for pattern in part]
    is_target = np.concatenate([targets_of(chunk, path, label, target) for chunk in chunks if len(chunk)])
    if not is_target.any():
        raise ValueError(f"{path} has no pattern with {label} = {target!r}; look for blanks or another spelling")
    return Read(whole, schema, is_target, [name for chunk in chunks for name in names_of(chunk)])


def targets_of(chunk: Chunk, path: Path, label: str, target: str) -> np.ndarray[Any, Any]:
    """Return which patterns of a chunk have the target's label; all, where no label was named."""
    if not label:
        if target:
            raise ValueError("--target needs --label, the column that holds it")
        return np.ones(len(chunk), bool)
    if not target:
        raise ValueError(f"--label {label} needs --target, its value for targets")
    if chunk.columns and label in chunk.columns:
        return np.array([str(cell).strip() == target for cell in chunk.columns[label]])
    if chunk.labels and label == CLASS:
        return np.array([cell == target for cell in chunk.labels])
    known = list(chunk.columns) or ([CLASS] if chunk.labels else [])
    raise ValueError(
        f"{path} has no column {label!r}" + (f"; its columns are {', '.join(known[:12])}" if known else "")
    )


def names_of(chunk: Chunk) -> list[str]:
    """Return what to call the patterns: their files, or their numbers from 1."""
    return list(chunk.names) or [str(chunk.first + index + 1) for index in range(len(chunk))]


def stream_for(classifier: EntropicOneClassClassifier, path: Path, form: str) -> Iterator[tuple[list[str], Any]]:
    """Yield (names, patterns) of a file, a chunk at a time."""
    schema = schema_of_model(classifier)
    any_read = False
    for chunk in open_chunks(path, form or None):
        if len(chunk):
            any_read = True
            yield names_of(chunk), schema.patterns(chunk, str(path))
    if not any_read:
        raise ValueError(f"{path} holds no patterns; at least 1 is required")


@contextmanager
def without_names() -> Iterator[None]:
    """Let arrays whose columns were matched by name already pass without scikit-learn's doubts about names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield
