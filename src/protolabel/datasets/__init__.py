"""Multi-label data: read what the field uses, find it by name, check it."""

from protolabel.datasets.archives import unpack_archive
from protolabel.datasets.catalogue import CATALOGUE, DatasetSpec, dataset_names, find_spec
from protolabel.datasets.dataset import MultiLabelDataset, Provenance, Split
from protolabel.datasets.limits import ReadLimits
from protolabel.datasets.loading import load_dataset
from protolabel.datasets.open_rows import open_rows
from protolabel.datasets.readers.csv_table import read_csv
from protolabel.datasets.readers.libsvm import read_libsvm
from protolabel.datasets.readers.meka import read_meka
from protolabel.datasets.readers.mulan import read_mulan
from protolabel.datasets.readers.npz import read_npz
from protolabel.datasets.readers.parquet_table import read_parquet
from protolabel.datasets.readers.table import TableOptions
from protolabel.datasets.readers.text_tags import read_text
from protolabel.datasets.readers.xmlc import read_xmlc
from protolabel.datasets.reading import DatasetWarning, read_dataset
from protolabel.datasets.row_source import RowSource
from protolabel.datasets.sniffing import sniff_format
from protolabel.datasets.summary import DatasetSummary
from protolabel.datasets.synthetic import make_multilabel_like
from protolabel.datasets.writers.mulan import write_mulan
from protolabel.datasets.writers.npz import write_npz
from protolabel.datasets.writers.xmlc import write_xmlc

__all__ = [
    "CATALOGUE",
    "DatasetSpec",
    "DatasetSummary",
    "DatasetWarning",
    "MultiLabelDataset",
    "Provenance",
    "ReadLimits",
    "RowSource",
    "Split",
    "TableOptions",
    "dataset_names",
    "find_spec",
    "load_dataset",
    "make_multilabel_like",
    "open_rows",
    "read_csv",
    "read_dataset",
    "read_libsvm",
    "read_meka",
    "read_mulan",
    "read_npz",
    "read_parquet",
    "read_text",
    "read_xmlc",
    "sniff_format",
    "unpack_archive",
    "write_mulan",
    "write_npz",
    "write_xmlc",
]
