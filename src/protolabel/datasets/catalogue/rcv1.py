"""Subsets of the RCV1 news collection, reduced and full."""

from __future__ import annotations

from protolabel.datasets.catalogue.spec import DataFile, DatasetSpec

_CITATION = (
    "D.D. Lewis, Y. Yang, T.G. Rose, F. Li: RCV1: A new benchmark collection for text"
    " categorization research. JMLR 5, 2004; 944-feature files by J. Huang, G. Li, Q."
    " Huang, X. Wu: Learning Label Specific Features for Multi-Label Classification. "
    "ICDM 2015"
)

RCV1: tuple[DatasetSpec, ...] = (
    DatasetSpec(
        name="rcv1-s1",
        domain="news",
        n_samples=6000,
        n_features=944,
        n_labels=101,
        cardinality=2.8797,
        citation=_CITATION,
        licence="none stated",
        sources=(
            "https://github.com/jiunhwang/LLSF",
            "https://github.com/ZesenChen/multi-label-dataset",
        ),
        files=(
            DataFile(
                "features.txt",
                "b6b194cbf730bbeb629872772a3229e2d1ff6f42f4c31e081a6156b63d4baa9f",
                8262,
            ),
            DataFile(
                "labels.txt",
                "b7552ddd51624c525b90fbb190b7d80e455ee3797805916db525a4ed98941074",
                801,
            ),
            DataFile(
                "rcv1-s1.npz",
                "c1a44285ee862349318fd45cf374ae079eeaad0e5e6738a4d0996cfc543496e7",
                457925,
            ),
        ),
        notes=("presence of the 944 words chosen by J. Huang et al., ICDM 2015",),
        feature_density=0.05356,
        mean_imbalance_ratio=54.492,
        is_in_paper=True,
    ),
    DatasetSpec(
        name="rcv1-s3",
        domain="news",
        n_samples=6000,
        n_features=944,
        n_labels=101,
        cardinality=2.6142,
        citation=_CITATION,
        licence="none stated",
        sources=(
            "https://github.com/jiunhwang/LLSF",
            "https://github.com/ZesenChen/multi-label-dataset",
        ),
        files=(
            DataFile(
                "features.txt",
                "e022113468de042d20c9af8563e621d4fb61d48592e676a4b5f6bd3aa13b3db7",
                8275,
            ),
            DataFile(
                "labels.txt",
                "b7552ddd51624c525b90fbb190b7d80e455ee3797805916db525a4ed98941074",
                801,
            ),
            DataFile(
                "rcv1-s3.npz",
                "d2a7ca4a9fad57d015808c3a89541a26e7b2038bec7fbd4707698c7369b6b1a6",
                456257,
            ),
        ),
        notes=("presence of the 944 words chosen by J. Huang et al., ICDM 2015",),
        feature_density=0.05369,
        mean_imbalance_ratio=68.333,
        is_in_paper=True,
    ),
    DatasetSpec(
        name="rcv1-s5",
        domain="news",
        n_samples=6000,
        n_features=943,
        n_labels=101,
        cardinality=2.6415,
        citation=_CITATION,
        licence="none stated for the features, LGPL version 3 or later for the labels",
        sources=(
            "https://github.com/jiunhwang/LLSF",
            "https://github.com/fcharte/mldr.datasets",
        ),
        files=(
            DataFile(
                "features.txt",
                "c04d8ed17aba7203dea50eb2b24d5f61e9dfb103ed1acfa72cfbd2b01660937b",
                8248,
            ),
            DataFile(
                "labels.txt",
                "b7552ddd51624c525b90fbb190b7d80e455ee3797805916db525a4ed98941074",
                801,
            ),
            DataFile(
                "rcv1-s5-fixed.npz",
                "ec0ef7b700d061d4204df0c22eadf7f65ebfe156e17eb2f588f1e15f4e78c6d3",
                455061,
            ),
        ),
        folder="rcv1-s5-fixed",
        aliases=("rcv1-s5-fixed",),
        notes=(
            (
                "repaired: the copy in circulation was cut one column too late, so that label "
                "Class1 is a feature and the last label is empty; here that column is removed "
                "(943 features, not 944) and the labels are those of the original"
            ),
        ),
        feature_density=0.05332,
        mean_imbalance_ratio=69.682,
        is_in_paper=True,
    ),
    DatasetSpec(
        name="rcv1-s5-as-distributed",
        domain="news",
        n_samples=6000,
        n_features=944,
        n_labels=101,
        cardinality=2.625,
        citation=_CITATION,
        licence="none stated",
        sources=(
            "https://github.com/jiunhwang/LLSF",
            "https://github.com/ZesenChen/multi-label-dataset",
            "https://github.com/KKimura360/MLC_toolbox",
        ),
        files=(
            DataFile(
                "rcv1-s5.npz",
                "51406d7c1c302631a1b29e62590a4fb44a854319a20f2e350f84de09d4a9527f",
                455152,
            ),
        ),
        folder="rcv1-s5",
        notes=(
            (
                "broken on purpose: use rcv1-s5. The original subset 5 has 47235 features, the "
                "file was cut at column 47236, so every label is shifted by one: Class1 is lost "
                "and sits among the features (column 6), the last label has no positives"
            ),
        ),
        feature_density=0.05328,
        mean_imbalance_ratio=70.226,
    ),
    DatasetSpec(
        name="rcv1-s1-full",
        domain="news",
        n_samples=6000,
        n_features=47236,
        n_labels=101,
        cardinality=2.8797,
        citation=_CITATION,
        licence="LGPL version 3 or later (R package)",
        sources=("https://github.com/fcharte/mldr.datasets",),
        files=(
            DataFile(
                "labels.txt",
                "b7552ddd51624c525b90fbb190b7d80e455ee3797805916db525a4ed98941074",
                801,
            ),
            DataFile(
                "rcv1-s1-full.npz",
                "fb0e7bf3fdea829013a38c226ffb3d4f24317c5b86649cbb22984f5e343e8688",
                3543968,
            ),
        ),
        feature_density=0.001635,
        mean_imbalance_ratio=54.492,
    ),
    DatasetSpec(
        name="rcv1-s3-full",
        domain="news",
        n_samples=6000,
        n_features=47236,
        n_labels=101,
        cardinality=2.6142,
        citation=_CITATION,
        licence="LGPL version 3 or later (R package)",
        sources=("https://github.com/fcharte/mldr.datasets",),
        files=(
            DataFile(
                "labels.txt",
                "b7552ddd51624c525b90fbb190b7d80e455ee3797805916db525a4ed98941074",
                801,
            ),
            DataFile(
                "rcv1-s3-full.npz",
                "4c7e8f4d976e567fa5d4748936387d15aeb8fdaeca5760edcfefa80be13f500a",
                3566658,
            ),
        ),
        feature_density=0.001649,
        mean_imbalance_ratio=68.333,
    ),
    DatasetSpec(
        name="rcv1-s5-full",
        domain="news",
        n_samples=6000,
        n_features=47235,
        n_labels=101,
        cardinality=2.6415,
        citation=_CITATION,
        licence="LGPL version 3 or later (R package)",
        sources=("https://github.com/fcharte/mldr.datasets",),
        files=(
            DataFile(
                "labels.txt",
                "b7552ddd51624c525b90fbb190b7d80e455ee3797805916db525a4ed98941074",
                801,
            ),
            DataFile(
                "rcv1-s5-full.npz",
                "1ae6f4295e373cb1d2b2c416a83b9d48a078b491503e3d4c671bf83ae64abcc8",
                3528380,
            ),
        ),
        feature_density=0.001631,
        mean_imbalance_ratio=69.682,
    ),
)
