"""Text of a stranger's file as a terminal may see it: nothing that moves the cursor, paints or turns the text."""


def printable(text: str) -> str:
    r"""Return text on one line, a question mark for every character that is not to be seen.

    >>> printable("two\nlines, \x1b[31mred")
    'two?lines, ?[31mred'
    """
    return text if text.isprintable() else "".join(letter if letter.isprintable() else "?" for letter in text)


def printable_lines(text: str) -> str:
    r"""Return text of several lines likewise, with its lines.

    >>> printable_lines("two\nlines, \x1b[31mred\n")
    'two\nlines, ?[31mred\n'
    """
    return "\n".join(map(printable, text.split("\n")))
