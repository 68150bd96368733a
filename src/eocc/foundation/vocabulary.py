"""What parameters and fields mean, once for all public names, and docstrings that are completed from it."""

import inspect
import re
from typing import Any

# A name means the same everywhere, except where "Class.name" or "function.name" says otherwise.
MEANINGS = {
    # classifiers and data
    "classifier": "A fitted classifier.",
    "X": "Rows, as for `predict`.",
    "y": "Labels of the rows: +1 normal, -1 not.",
    "names": "Names of the rows. Default: their numbers from 0.",
    "path": "Name of the file.",
    "random_state": "Random seed.",
    "rng": "Source of random numbers.",
    "client": "A Dask client, or the address of a scheduler.",
    "max_wait": "Seconds to wait for a worker.",
    # rivals
    "rejection_rate": "Share of the training rows that the threshold may reject.",
    "metric": 'Metric of scikit-learn, or "precomputed" for a matrix of distances.',
    "k": 'Number of neighbours or centres. "auto": the largest consistent number.',
    "n_clusters": 'Number of clusters. "auto": the largest consistent number.',
    "n_hidden": 'Number of hidden units. "auto": the largest consistent number.',
    "n_components": 'Number of components; "auto": the largest consistent number.',
    "PrincipalComponents.n_components": "Number of components, or below 1 the share of the variance that they keep.",
    "n_neighbors": "Number of neighbours.",
    "n_trees": "Number of trees.",
    "n_starts": "Number of random starts; the best result counts.",
    "n_epochs": "Number of passes over the rows.",
    "max_iter": "Largest number of iterations.",
    "width": 'Width of the kernel. "auto": chosen from the training rows.',
    "SelfOrganisingMap.width": "Width of the neighbourhood on the grid.",
    "regularisation": "Share of the mean variance that is added to the covariance.",
    "gamma": "Exponent of the lengths, or width of the kernel as in scikit-learn.",
    "nu": "Bound on the share of training rows outside. Default: the rejection rate.",
    "kernel": '"gaussian" or "polynomial".',
    "degree": "Degree of the polynomial.",
    "grid": "Rows and columns of the map.",
    "KCentres.search": '"recentring" or "swaps".',
    "PyodKNN.method": '"largest", "mean" or "median" of the distances.',
    # searches and selections
    "population_size": "Number of candidates in a generation.",
    "max_generations": "Largest number of generations.",
    "patience": "Generations without progress after which the search stops.",
    "max_time": "Seconds after which the search stops. Default: no limit.",
    "sigma": "First step size.",
    "strategy": "Strategy of scipy's differential evolution.",
    "mutation": "Mutation constant of scipy's differential evolution.",
    "recombination": "Recombination constant of scipy's differential evolution.",
    "mutation_rate": "Probability that a child mutates.",
    "first_population": '"ones": random, and one candidate of all ones; "random": as printed in the paper.',
    "search": "Name of a search, or an object with its methods.",
    "evaluate": "Function of candidates (m, u) that returns their values (m,), higher is better.",
    "n_parameters": "Number u of parameters.",
    "measure": "Name of a measure, a measure, or a function of two objects.",
    "selection": "Name of a selection, or an object with its methods.",
    "select_prototypes.measure": "A fitted measure.",
    "patterns": "Training rows, as the measure reads them.",
    "count": "Number of prototypes.",
    "prototypes": "Number of prototypes, below 1 the share of the rows, or None for all rows.",
    "n": "Number of rows.",
    # measures
    "measures": "The measure of every part, by its name.",
    "band": "How far a series may be stretched, as a share of its length; None: without limit.",
    "function": "Function of two objects that returns their dissimilarity.",
    "kinds": 'What columns hold, by name: "number", "category", "text", "date", "boolean", or levels in order.',
    "vertex_kinds": 'What attributes of vertices hold: "number", "category" or "text".',
    "edge_kinds": 'What attributes of edges hold: "number", "category" or "text".',
    "vertex_name": "Attribute that names vertices in explanations; not compared.",
    "rescale": "Whether to divide by the largest training dissimilarity.",
    "n_vertices": "Number of vertices.",
    "edges": "Pairs of vertices.",
    "vertex_attributes": "Attributes of vertices: name -> one value per vertex.",
    "edge_attributes": "Attributes of edges: name -> one value per edge.",
    "directed": "Whether edges have a direction.",
    # pictures and pages
    "axes": "Matplotlib axes to draw on. Default: new ones.",
    "most": "Largest number of bars.",
    "row": "Number of the row. Default: the most unusual one.",
    "resolution": "Points per side of the grid.",
    "quantity": '"M", the normalised modularity, or "Q".',
    # stages of the paper
    "distances": "Symmetric matrix of distances (n, n).",
    "lengths": "Lengths of the edges of the spanning tree.",
    "points": "Points (n, d).",
    "tree": "A spanning tree.",
    "cut.k": "Number of clusters.",
    "labels": "Cluster of every row.",
    "q": "Modularity Q.",
    "dimension": "Dimension d of the space.",
    "renyi_entropy.gamma": "Exponent of the lengths, in (0, d).",
    "normalized_entropy.gamma": "Exponent of the lengths, in (0, d).",
    "n_jobs": "Number of threads; -1 uses all cores.",
    # data sets
    "name": "Acronym of the data set.",
    "target": "The class that is normal. Default: that of the paper.",
    "n_per_cluster": "Training rows per cluster.",
    "smiles": "Molecules as SMILES strings.",
    "path_or_file": "Name of a file, or a file that is open for reading bytes.",
    "limits": "What a file may unpack to.",
    "split": 'Name of a split, for example "train".',
    "folder": "Folder inside the archive.",
    "two_classes": "The class that is compared with all others.",
    "read_tudataset.name": "Name of the collection, if a folder holds several.",
    "file_bytes": "Bytes that one file may have.",
    "total_bytes": "Bytes that all files together may have.",
    "members": "Number of files that an archive may hold.",
    "graphs": "The graphs.",
    "GraphSet.labels": "The class of every graph.",
    "title": "The name in words.",
    "source": "Where the data come from.",
    "is_target": "Whether each row is normal.",
    "feature_names": "Names of the columns.",
    "training": "Rows to learn from.",
    "validation": "Rows to validate on.",
    "test": "Rows to test on.",
    "remarks": "What was noticed while reading.",
    "X_train": "Training rows, all normal.",
    "X_validation": "Validation rows.",
    "y_validation": "Labels of the validation rows.",
    "X_test": "Test rows.",
    "y_test": "Labels of the test rows.",
    "found": "Where the set was found; None if it is not at hand.",
    "ListedDataset.row": "The row of the catalogue.",
    "vertex_names": "Names of the vertices, for explanations.",
    "scale": "Unit of the points.",
    "n_threads": "Number of threads.",
    "n_dims": "Dimension d of the space.",
    "first_cut": '"always", as in the pseudo-code, or "if-better", as in the text.',
    # streams
    "out": "Name of the file to write, .csv or .parquet.",
    "chunk_rows": "Rows that are read at a time.",
    "incomplete": '"refuse", or "skip" rows with missing numbers.',
    "DaskPasses.X": "A Dask array or dataframe of numbers.",
    "n_rows": "Number of rows.",
    "minimum": "Smallest value of every column.",
    "maximum": "Largest value of every column.",
    "mean": "Mean of every column.",
    "spread": "Standard deviation of every column.",
    "number": "Number of the generation, from 0.",
    "best": "The best candidate so far.",
    "best_value": "Its value.",
    "mean_value": "Mean value of the generation.",
    "n_evaluations": "Candidates evaluated so far.",
    # explanations
    "Explanation.is_target": "Whether the row is accepted.",
    "membership": "Grade between 0 and 1.",
    "ratio": "How far out the row is; above the limit, mostly 1, it is rejected.",
    "reasons": "What makes the row unusual, the main reason first.",
    "exemplars": "The nearest training rows.",
    "facts": "What is new about the row: unseen categories, values beyond the range, gaps.",
    "p_value": "Share of left-out normal rows that look at least as unusual.",
    "share": "Share of the difference, from 0 to 1.",
    "value": "The value of the row.",
    "low": "Lowest value of normal rows near it.",
    "high": "Highest value of normal rows near it.",
    "text": "The reason in words.",
    "Reason.name": "Name of the column.",
    "region": "Number of the region.",
    "n_members": "Training rows of the region.",
    "n_training": "Number of training rows.",
    "weight": "Share of the training rows.",
    "columns": "The columns in the units of the data.",
    "correlations": "Which columns rise or fall together.",
    "Rule.prototype": "Number of the training row at the centre.",
    "prototype": "The training row that the row is compared with.",
    "prototype_name": "Its name.",
    "description": "What it is like, in a few words.",
    "dissimilarity": "How different the two are.",
    "contributions": "The parts of the difference.",
    "amount": "How much the part adds.",
    "details": "More words.",
    "index": "Number among the prototypes.",
    "TrainingRow.row": "Number of the training row.",
    "TrainingRow.name": "Its name.",
    "pattern": "The new row.",
    "weights": "Weights of the dissimilarity.",
    "Pair.names": "Names of the columns.",
    "Y": "Rows to compare with, one per row of X.",
}

# What functions return whose docstring begins with what they do, by the beginning of their names.
RETURNED = {
    "plot": "The axes.",
    "make_": "Training, validation and test rows.",
    "fit_stream": "The fitted classifier.",
    "score_stream": "Counts of the rows, and their drift.",
    "generations": "The state after each generation.",
    "on": "The client.",
    "write_": "The name of the file.",
}


def completed(thing: Any) -> Any:
    """Return a public class or function whose docstring says what its parameters mean and what it returns."""
    doc, is_class = inspect.getdoc(thing) or "", isinstance(thing, type)
    if not callable(thing) or not doc:
        return thing
    try:
        signature = inspect.signature(thing)
    except ValueError:
        return thing
    found = [(name, one, meaning) for name, one in signature.parameters.items() if (meaning := _meaning(thing, name))]
    sections = []
    if found and not re.search(r"^(Parameters|Attributes)\n-", doc, re.MULTILINE):
        lines = (f"{name} : {_kind(one)}\n    {meaning}" for name, one, meaning in found)
        sections.append("Parameters\n----------\n" + "\n".join(lines))
    if (
        not is_class
        and signature.return_annotation is not None
        and not re.search(r"^(Returns|Yields)\n-", doc, re.MULTILINE)
    ):
        sections.append(f"Returns\n-------\n{_text(signature.return_annotation)}\n    {_returned(thing, doc)}")
    if sections:
        text, _, example = doc.partition("\n\n>>>")
        parts = [text, *sections, *(["Examples\n--------\n>>>" + example] if example else [])]
        thing.__doc__ = "\n\n".join(part.strip() for part in parts) + "\n"
    return thing


def _returned(thing: Any, doc: str) -> str:
    """Return what a function returns: the first sentence of a docstring that says so; a picture returns its axes."""
    first = re.split(r"(?<=\.)\s|\n\n", doc)[0].replace("\n", " ")
    if not first.startswith("Return "):
        return next((text for start, text in RETURNED.items() if thing.__name__.startswith(start)), "")
    return first[7].upper() + first[8:]


def _meaning(thing: Any, name: str) -> str:
    return MEANINGS.get(f"{getattr(thing, '__name__', '')}.{name}") or MEANINGS.get(name, "")


def _kind(parameter: inspect.Parameter) -> str:
    """Return the type of a parameter in words, and its default."""
    default = parameter.default
    shown = "" if default is parameter.empty or "factory" in repr(default) else f", default {default!r}"
    return _text(parameter.annotation) + (shown if len(shown) < 30 else ", optional")


def _text(annotation: Any) -> str:
    """Return a type as text, without the modules of its names."""
    if annotation is inspect.Parameter.empty or annotation is Any:
        return "object"
    text = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    if "numpy" in text or "_Buffer" in text:
        return "array"
    return re.sub(r"\b(?:\w+\.)+", "", text)
