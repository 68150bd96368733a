"""Small workbooks that unpack to much, or take long: each is read or refused in one line, with bounded time and memory.

``python benchmarks/hostile_workbooks.py [kind ...]`` prints for every kind the size of the file, the processor time and
the peak memory of the process that reads the sheet and of this one, and how it ends. The exit status is 1 if one takes
more than MOST_SECONDS or MOST_BYTES, or ends otherwise.
"""

import io
import resource
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from eocc.formats.files.formats import open_files

MOST_SECONDS, MOST_BYTES = 60, 2**29
MIB = 2**20
ROW = "<row r='{k}'><c r='A{k}'><v>{k}</v></c><c r='B{k}'><v>2</v></c></row>"
HEAD = "<row r='1'><c r='A1' t='inlineStr'><is><t>a</t></is></c><c r='B1' t='inlineStr'><is><t>b</t></is></c></row>"
ROWS = HEAD + "".join(ROW.format(k=k) for k in range(2, 30))
LAUGHS = "<!DOCTYPE x [<!ENTITY a0 'ha'>" + "".join(
    f"<!ENTITY a{k} '{'&a' + str(k - 1) + ';'}{('&a' + str(k - 1) + ';') * 9}'>" for k in range(1, 10)
) + "]>"  # fmt: skip
MAIN = "xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'"
LINKS = "xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships'"
KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def xlsx(sheet=ROWS, before="", dimension="A1:B30", n_sheets=1, n_parts=None, strings="", more="", after=""):
    """Return the bytes of a workbook whose sheets all have the same rows; `before` stands before the XML."""
    n_parts = n_sheets if n_parts is None else n_parts
    names = "".join(f"<sheet name='s{k}' sheetId='{k + 1}' r:id='r{k}'/>" for k in range(n_sheets))
    links = "".join(
        f"<Relationship Id='r{k}' Type='{KIND}/worksheet' Target='worksheets/sheet{k % n_parts}.xml'/>"
        for k in range(n_sheets)
    )
    links += f"<Relationship Id='strings' Type='{KIND}/sharedStrings' Target='sharedStrings.xml'/>" if strings else ""
    body = f"<dimension ref='{dimension}'/>{more}<sheetData>{sheet}</sheetData>{after}"
    body = f"{before}<worksheet {MAIN}>{body}</worksheet>"
    parts = {
        "[Content_Types].xml": "<Types xmlns='http://schemas.openxmlformats.org/package/2006/content-types'/>",
        "_rels/.rels": f"<Relationships xmlns='{PACKAGE}'><Relationship Id='r' Type='{KIND}/officeDocument' "
        "Target='xl/workbook.xml'/></Relationships>",
        "xl/workbook.xml": f"<workbook {MAIN} {LINKS}><sheets>{names}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f"<Relationships xmlns='{PACKAGE}'>{links}</Relationships>",
        **{f"xl/worksheets/sheet{k}.xml": body for k in range(n_parts)},
        **({"xl/sharedStrings.xml": strings} if strings else {}),
    }
    return packed(parts)


def ods(rows):
    office = "urn:oasis:names:tc:opendocument:xmlns"
    content = (
        f"<office:document-content xmlns:office='{office}:office:1.0' xmlns:table='{office}:table:1.0' "
        f"xmlns:text='{office}:text:1.0'><office:body><office:spreadsheet><table:table table:name='s'>{rows}"
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    return packed_ods(content)


def packed_ods(content):
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    entry = f"<m:file-entry m:full-path='/' m:media-type='{kind}'/>"
    manifest = f"<m:manifest xmlns:m='urn:oasis:names:tc:opendocument:xmlns:manifest:1.0'>{entry}</m:manifest>"
    return packed({"mimetype": kind, "META-INF/manifest.xml": manifest, "content.xml": content})


def packed(parts):
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return sink.getvalue()


def strings_of(items, count=1):
    return f"<sst {MAIN} count='{count}' uniqueCount='{count}'>{items}</sst>"


CELL = "<table:table-cell office:value-type='float' office:value='1'{}/>"
REPEATED = " table:number-columns-repeated='{}'"
SHARED = "".join(f"<row r='{k}'><c r='A{k}' t='s'><v>0</v></c></row>" for k in range(2, 100_000))
KINDS = {
    "harmless.xlsx": lambda: xlsx(),
    "entities.xlsx": lambda: xlsx(HEAD + "<row r='2'><c r='A2' t='inlineStr'><is><t>&a9;</t></is></c></row>", LAUGHS),
    "shared entities.xlsx": lambda: xlsx(SHARED[:99], strings=LAUGHS + strings_of("<si><t>&a9;</t></si>")),
    "comment.xlsx": lambda: xlsx(ROWS + "<!--" + "x" * (50 * MIB) + "-->"),
    "padding.xlsx": lambda: xlsx(ROWS + " " * (200 * MIB)),
    "padding inside a tag.xlsx": lambda: xlsx(ROWS + "<row" + " " * (100 * MIB) + "/>"),
    "repeated rows.xlsx": lambda: xlsx(HEAD + ROW.format(k=2) * 2_000_000),
    "long text.xlsx": lambda: xlsx(
        HEAD + f"<row r='2'><c r='A2' t='inlineStr'><is><t>{'x' * 100 * MIB}</t></is></c></row>"
    ),
    "long shared text.xlsx": lambda: xlsx(HEAD + SHARED, strings=strings_of(f"<si><t>{'x' * MIB}</t></si>")),
    "many shared texts.xlsx": lambda: xlsx(strings=strings_of("<si><t>x</t></si>" * 5_000_000, 5_000_000)),
    "shared texts declared.xlsx": lambda: xlsx(SHARED[:99], strings=strings_of("<si><t>x</t></si>", 2**32 - 1)),
    "many sheets.xlsx": lambda: xlsx(n_sheets=20_000, n_parts=1),
    "many large sheets.xlsx": lambda: xlsx(HEAD + ROW.format(k=2) * 20_000, n_sheets=20_000, n_parts=1),
    "dimension.xlsx": lambda: xlsx(dimension="A1:XFD1048576"),
    "dimension beyond.xlsx": lambda: xlsx(dimension="A1:ZZZZZZZ99999999999"),
    "far cell.xlsx": lambda: xlsx(ROWS + "<row r='1048576'><c r='XFD1048576'><v>1</v></c></row>"),
    "far row.xlsx": lambda: xlsx(ROWS + "<row r='1048576'><c r='A1048576'><v>1</v></c></row>"),
    "deep.xlsx": lambda: xlsx(ROWS + "<a>" * 2_000_000 + "</a>" * 2_000_000),
    "many attributes.xlsx": lambda: xlsx(ROWS + "<row " + " ".join(f"a{k}='1'" for k in range(500_000)) + "/>"),
    "merged cells.xlsx": lambda: xlsx(
        after="<mergeCells>" + "<mergeCell ref='A1:XFD1048576'/>" * 500_000 + "</mergeCells>"
    ),
    "columns.xlsx": lambda: xlsx(more="<cols>" + "<col min='1' max='16384'/>" * 1_000_000 + "</cols>"),
    "repeated cells.ods": lambda: ods("<table:table-row>" + CELL.format(REPEATED.format(2**31)) + "</table:table-row>"),
    "repeated rows.ods": lambda: ods(
        f"<table:table-row table:number-rows-repeated='{2**31}'>{CELL.format('')}</table:table-row>"
    ),
    "repeated both.ods": lambda: ods(
        f"<table:table-row table:number-rows-repeated='1048576'>{CELL.format(REPEATED.format(16384))}</table:table-row>"
    ),
    "entities.ods": lambda: packed_ods(LAUGHS + "<a>&a9;</a>"),
    "comment.ods": lambda: ods("<!--" + "x" * (50 * MIB) + "-->"),
    "harmless.ods": lambda: ods(f"<table:table-row>{CELL.format('')}</table:table-row>" * 9),
    "zeros.xls": lambda: bytes.fromhex("d0cf11e0a1b11ae1") + bytes(5 * MIB),
}  # fmt: skip


def ending(path):
    """Return how reading a file ends: rows read, or the error; "BAD ..." if it is not of one line."""
    try:
        return f"{sum(len(chunk.table) for chunk in open_files([path]))} rows"
    except (ValueError, OSError) as error:
        text = str(error)
        return text.split(": ", 1)[-1] if text.isprintable() and len(text) < 1000 else f"BAD {text[:200]!r}"
    except BaseException as error:
        return f"BAD {type(error).__name__}: {str(error)[:200]}"


def in_process(path):
    """Return how reading ends, its processor seconds, and the peak memory of the reader and of its caller."""
    command = [sys.executable, __file__, "--measure", str(path)]
    seconds, child, own, said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split(
        "\n", 3
    )
    return said, float(seconds), int(child), int(own)


def measure(path):
    """Print how reading ends, its seconds and peaks: in a process of its own, which has read nothing else."""
    said = ending(path)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(one.ru_utime + one.ru_stime for one in used)
    # Not ru_maxrss: it begins with the peak of the process that started this one, which made the workbooks.
    own = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
    print(f"{seconds}\n{used[1].ru_maxrss * 1024}\n{int(own) * 1024}\n{said}", end="")


def main():
    n_bad = 0
    with tempfile.TemporaryDirectory() as folder:
        list(open_files([_written(folder, "harmless.xlsx")]))  # imports
        for kind in sys.argv[1:] or KINDS:
            path = _written(folder, kind)
            said, seconds, child, own = in_process(path)
            is_bad = said.startswith("BAD") or seconds > MOST_SECONDS or child > MOST_BYTES or own > MOST_BYTES
            n_bad += is_bad
            size = f"{path.stat().st_size / 1024:8.0f} KB {seconds:6.1f} s {child / MIB:6.0f} MiB {own / MIB:6.0f} MiB"
            print(f"{kind:28} {size}  {'BAD ' * (is_bad and not said.startswith('BAD'))}{said}", flush=True)
            path.unlink()
    print(f"{len(sys.argv[1:] or KINDS)} workbooks, {n_bad} bad")
    return 1 if n_bad else 0


def _written(folder, kind):
    path = Path(folder) / kind
    path.write_bytes(KINDS[kind]())
    return path


if __name__ == "__main__" and sys.argv[1:2] == ["--measure"]:
    measure(Path(sys.argv[2]))
elif __name__ == "__main__":
    sys.exit(main())
