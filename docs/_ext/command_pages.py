"""The directive ``eocc-command``: usage, options and help of a command, from the command itself."""

import inspect
import re
from typing import Any

import click
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def arguments_and_options(name: str) -> tuple[str, str, list[tuple[str, str]]]:
    """Return the help, the usage, and the options of a command with their texts."""
    from eocc.cli import app

    context = click.Context(app, info_name="eocc")
    command = app.get_command(context, name)
    if command is None:
        raise ValueError(f"no command {name!r}")
    own = click.Context(command, info_name=name, parent=context)
    records = [param.get_help_record(own) for param in command.get_params(own)]
    shared = ("-q, --quiet", "--debug", "--help")
    options = [record for record in records if record and record[0] not in shared]
    text = re.sub(r"Example: (.*)", r"Example: ``\1``", inspect.cleandoc(command.help or ""))
    return text, " ".join(command.get_usage(own).removeprefix("Usage: ").split()), options


class CommandDirective(SphinxDirective):
    """Usage and options of one command."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the help, the usage and a table of the options."""
        text, usage, options = arguments_and_options(self.arguments[0])
        usage_block = nodes.literal_block(usage, usage, language="sh")
        rst = [*text.splitlines(), "", ".. list-table::", "   :widths: 32 68", "   :class: options", ""]
        for option, meaning in options:
            escaped = meaning.replace("\\", "\\\\").replace("*", "\\*").replace("|", "\\|").replace("`", "\\`")
            rst += [f"   * - ``{option}``", f"     - {escaped}"]
        holder = nodes.container()
        self.state.nested_parse(StringList(rst, source="eocc"), self.content_offset, holder)
        return [holder.children[0], usage_block, *holder.children[1:]]


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive."""
    app.add_directive("eocc-command", CommandDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
