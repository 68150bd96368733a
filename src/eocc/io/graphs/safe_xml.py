"""XML without entities, without declarations in the DOCTYPE, with nothing fetched, and the line in every error."""

import re
from typing import Any
from xml.parsers import expat

from eocc.foundation.printing import complaint, quoted

# Other encodings, such as UTF-7, are only used to hide something.
ENCODINGS = re.compile(r"utf-?8|utf-?16([lb]e)?|(us-)?ascii|iso-8859-\d+|latin-?1|windows-125\d", re.IGNORECASE)

# Expat reports an unknown entity in text, but drops it from an attribute if a DTD could have declared it.
ENTITY_IN_TAG = re.compile(rb"<[^!?<>][^<>]*&(?!(?:amp|lt|gt|quot|apos|#\w+);)")


class RefusedError(Exception):
    """What a handler finds wrong at the current line."""


def parse_xml(data: bytes, where: str, handler: Any) -> None:
    """Hand a document to the methods `start`, `end` and `text` of a handler; its `parser` knows the current line."""
    handler.parser = parser = expat.ParserCreate(intern={})
    parser.buffer_text = True
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = getattr(handler, "end", None)
    parser.CharacterDataHandler = getattr(handler, "text", None)
    parser.XmlDeclHandler = _check_encoding
    parser.StartDoctypeDeclHandler = _check_doctype
    parser.EntityDeclHandler = parser.SkippedEntityHandler = _refuse_entity
    try:
        parser.Parse(data, True)
    except RefusedError as error:
        raise complaint(where, parser.CurrentLineNumber, str(error)) from None
    except expat.ExpatError as error:
        raise complaint(where, error.lineno, f"not well-formed XML: {expat.ErrorString(error.code)}") from None
    except (LookupError, ValueError) as error:
        raise complaint(where, parser.CurrentLineNumber, f"not well-formed XML: {error}") from None
    finally:
        del handler.parser  # breaks a cycle that would keep everything that was read
    if b"&" in data and (found := ENTITY_IN_TAG.search(data)):
        raise complaint(where, data.count(b"\n", 0, found.end()) + 1, "an attribute names an unknown entity")


def required(tag: str, attributes: dict[str, str], name: str) -> str:
    """Return an attribute that an element must have."""
    value = attributes.get(name, "").strip()
    if not value:
        raise RefusedError(f"<{tag}> has no {name!r}")
    return value


def _check_encoding(version: str, encoding: str | None, standalone: int) -> None:
    if encoding and not ENCODINGS.fullmatch(encoding):
        raise RefusedError(f"the encoding {quoted(encoding)} is not supported: save the file as UTF-8")


def _check_doctype(name: str, system_id: str | None, public_id: str | None, has_internal_subset: int) -> None:
    if has_internal_subset:  # the mere name of a DTD is harmless: it is never looked up
        raise RefusedError("declarations inside the DOCTYPE are refused: they can hide files or bombs")


def _refuse_entity(name: str, *_: object) -> None:
    raise RefusedError(f"the entity {quoted(name)} is refused")
