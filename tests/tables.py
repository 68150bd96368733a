"""What the chunks of a training file hold, in a form that tests compare."""

from eocc.formats.files.rows import learn


def records(chunks, reading=None):
    """Return the rows as dicts, as the model sees them; read by the reading of another table, if given."""
    learnt = learn(chunks, "", choices=None)
    table = learnt.X.patterns if reading is None else reading.table(chunks[0].table)
    return [{column.name: column.cell(row) for column in table.columns} for row in range(len(table))]


def remarks(chunks, measure="auto", choices=None):
    return list(learn(chunks, "", None if measure == "auto" else measure, choices).remarks)
