"""SMILES, the usual notation for molecules -> labelled graphs, by RDKit."""

from collections.abc import Iterable
from typing import Any

from eocc.foundation.printing import quoted
from eocc.measures.labelled_graph import LabelledGraph, labelled_graph
from eocc.measures.objects import read_objects

# RDKit takes time that grows with the square of the length: a second for this many characters.
LONGEST = 20_000


def molecules(smiles: Iterable[str]) -> list[LabelledGraph]:
    """Return a graph for each SMILES: its atoms with `symbol` and `charge`, its bonds with `bond`. Needs RDKit.

    Hydrogens are left out, unless they are atoms of their own as in "[H][H]".
    """
    return list(read_objects(smiles, "SMILES", molecule))


def molecule(smiles: Any) -> LabelledGraph:
    """Return the graph of one SMILES; a ValueError of one line says why RDKit refuses it."""
    try:
        from rdkit import Chem, rdBase
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("SMILES need RDKit: pip install rdkit", name=error.name) from error
    if not isinstance(smiles, str) or not smiles.strip():
        raise ValueError(f"{smiles!r} is not a SMILES; leave it out")
    if len(smiles) > LONGEST:
        raise ValueError(f"a SMILES of {len(smiles):,} characters, and at most {LONGEST:,} are read; leave it out")
    with rdBase.BlockLogs():  # RDKit prints its complaints on several lines
        found = Chem.MolFromSmiles(smiles.strip())
        if found is None:
            raw = Chem.MolFromSmiles(smiles.strip(), sanitize=False)
            problems = [] if raw is None else [one.Message() for one in Chem.DetectChemistryProblems(raw)]
            why = problems[0] if problems else "it is not a valid SMILES"
            raise ValueError(f"RDKit refuses {quoted(smiles)}: {' '.join(why.split())}; correct it, or leave it out")
    return labelled_graph(found)
