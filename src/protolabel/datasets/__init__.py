"""Multi-label data: read what the field uses, find it by name, check it."""

from protolabel.datasets.catalogue import CATALOGUE, DatasetSpec, dataset_names, find_spec
from protolabel.datasets.dataset import MultiLabelDataset, Provenance, Split
from protolabel.datasets.limits import ReadLimits
from protolabel.datasets.loading import load_dataset
from protolabel.datasets.readers.meka import read_meka
from protolabel.datasets.readers.mulan import read_mulan
from protolabel.datasets.readers.npz import read_npz
from protolabel.datasets.summary import DatasetSummary
from protolabel.datasets.writers.npz import write_npz

__all__ = [
    "CATALOGUE",
    "DatasetSpec",
    "DatasetSummary",
    "MultiLabelDataset",
    "Provenance",
    "ReadLimits",
    "Split",
    "dataset_names",
    "find_spec",
    "load_dataset",
    "read_meka",
    "read_mulan",
    "read_npz",
    "write_npz",
]
