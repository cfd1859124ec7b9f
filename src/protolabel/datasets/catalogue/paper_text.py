"""Datasets of the paper with word, motif or image-cluster features."""

from __future__ import annotations

from protolabel.datasets.catalogue.mulan_project import from_mulan
from protolabel.datasets.catalogue.spec import DataFile, DatasetSpec, RemoteFile, SplitRule

PAPER_TEXT: tuple[DatasetSpec, ...] = (
    DatasetSpec(
        name="enron",
        domain="e-mails",
        n_samples=1702,
        n_features=1001,
        n_labels=53,
        cardinality=3.3784,
        citation=(
            "B. Klimt, Y. Yang: The Enron corpus. ECML 2004; J. Read, B. Pfahringer, G. "
            "Holmes: Multi-label classification using ensembles of pruned sets. ICDM 2008"
        ),
        licence="GPL v3 for the software of the source; none stated for the data",
        sources=(
            "https://github.com/tsoumakas/mulan",
            "https://www.uco.es/kdis/mllresources/",
        ),
        files=(
            DataFile(
                "enron.arff.gz",
                "47a960f677ec7ec302b8e602ba4b68909593dc9e44b454f685e43d4b7a3d9857",
                127166,
            ),
            DataFile(
                "enron.xml",
                "ed40c92d7f613eed51714912cab10dddc4ce456262137d8fef230d44c7f4457b",
                1604,
            ),
            DataFile(
                "test_rows.txt",
                "ed46fb14b2a9ed92acc9b3b300b94e24a1822f16f5a3ffa999df5b7b88483e0d",
                2529,
            ),
        ),
        remote=(
            RemoteFile(
                "enron.arff",
                "d0889ef0576d4e7b5ec0df3b3e4760e476ac11a6e7d7ddeee4c4a34470dedf97",
                from_mulan("enron/enron.arff"),
            ),
            RemoteFile(
                "enron.xml",
                "ed40c92d7f613eed51714912cab10dddc4ce456262137d8fef230d44c7f4457b",
                from_mulan("enron/enron.xml"),
            ),
        ),
        split=SplitRule("test-rows", n_train=1123, n_test=579),
        notes=("the XML file lists the labels in another order than the ARFF file",),
        feature_density=0.08399,
        mean_imbalance_ratio=73.953,
        is_in_paper=True,
    ),
    DatasetSpec(
        name="genbase",
        domain="proteins",
        n_samples=662,
        n_features=1185,
        n_labels=27,
        cardinality=1.2523,
        citation=(
            "S. Diplaris, G. Tsoumakas, P. Mitkas, I. Vlahavas: Protein Classification with "
            "Multiple Algorithms. PCI 2005"
        ),
        licence="GPL v3 for the software of the source; none stated for the data",
        sources=(
            "https://github.com/tsoumakas/mulan",
            "https://www.uco.es/kdis/mllresources/",
        ),
        files=(
            DataFile(
                "genbase.arff.gz",
                "3dcd45c062e13bc2383d529958983d5d5f64877c15f38a8d66e8244240b55496",
                18511,
            ),
            DataFile(
                "genbase.xml",
                "198e8a1d7070e9603119e02e626cedc589db7577339b307b06f5192047b69eb9",
                992,
            ),
            DataFile(
                "test_rows.txt",
                "354a46e09d6d313bb70ca1b16f91d9e850140260f17b079e8b9f6af3e7ca5133",
                760,
            ),
        ),
        remote=(
            RemoteFile(
                "genbase.arff",
                "cb23052a49191e36e9a59cd661e97d79bed2e3f2583030a206692b57bf1e3671",
                from_mulan("genbase/genbase.arff"),
            ),
            RemoteFile(
                "genbase.xml",
                "198e8a1d7070e9603119e02e626cedc589db7577339b307b06f5192047b69eb9",
                from_mulan("genbase/genbase.xml"),
            ),
        ),
        split=SplitRule("test-rows", n_train=463, n_test=199),
        drop_features=("protein",),
        notes=(
            "features are YES and NO, read as 1 and 0",
            (
                "the first attribute, protein, is a row identifier and is dropped: 1185 features,"
                " not the 1186 of the paper"
            ),
            "1073 of the 1185 features are constant",
            (
                "the split of the source is no partition (Q9XEL8 on both sides, O88658 on "
                "neither); the test rows are those of its test file"
            ),
        ),
        feature_density=0.002139,
        mean_imbalance_ratio=37.315,
        is_in_paper=True,
    ),
    DatasetSpec(
        name="bibtex",
        domain="bibliography entries",
        n_samples=7395,
        n_features=1836,
        n_labels=159,
        cardinality=2.4019,
        citation=(
            "I. Katakis, G. Tsoumakas, I. Vlahavas: Multilabel Text Classification for "
            "Automated Tag Suggestion. ECML/PKDD 2008 Discovery Challenge"
        ),
        licence="GPL v3 for the software of the source; none stated for the data",
        sources=(
            "https://github.com/tsoumakas/mulan",
            "https://www.uco.es/kdis/mllresources/",
        ),
        files=(
            DataFile(
                "bibtex.arff.gz",
                "d8b0a532e7ecec03a026dc6af2b2b671f00a51f03817d24b124f675bdb2b2d28",
                763904,
            ),
            DataFile(
                "bibtex.xml",
                "08fe20013c1e75dcf1888c185f5187c95e76495b8518ce289b4d3afce38d1232",
                5880,
            ),
            DataFile(
                "test_rows.txt",
                "009a5afb81ce35090b2afdaae5732673e3f6088762cbec8270dfc67138861f78",
                12217,
            ),
        ),
        remote=(
            RemoteFile(
                "bibtex.arff",
                "a282a6d1fb3cdaf39bde3f81cd4e6079850a7a538a6bc44f8b4ed95dfe1e5014",
                from_mulan("bibtex/bibtex.arff"),
            ),
            RemoteFile(
                "bibtex.xml",
                "08fe20013c1e75dcf1888c185f5187c95e76495b8518ce289b4d3afce38d1232",
                from_mulan("bibtex/bibtex.xml"),
            ),
        ),
        split=SplitRule("test-rows", n_train=4880, n_test=2515),
        feature_density=0.0374,
        mean_imbalance_ratio=12.498,
        is_in_paper=True,
    ),
    DatasetSpec(
        name="corel5k",
        domain="images",
        n_samples=5000,
        n_features=499,
        n_labels=374,
        cardinality=3.522,
        citation=(
            "P. Duygulu, K. Barnard, N. de Freitas, D. Forsyth: Object recognition as machine"
            " translation. ECCV 2002"
        ),
        licence="GPL v3 for the software of the source; none stated for the data",
        sources=(
            "https://github.com/tsoumakas/mulan",
            "https://www.uco.es/kdis/mllresources/",
        ),
        files=(
            DataFile(
                "corel5k.arff.gz",
                "6ba6daade057d6d99f8b3043278cba105e498a4b0b42cb16db2e73823f8051f7",
                84941,
            ),
            DataFile(
                "corel5k.xml",
                "54ef6a6ccb7ca9b77524052b34b306d5d501661a5609b9d1cc7085b2b597679d",
                11222,
            ),
        ),
        remote=(
            RemoteFile(
                "corel5k.arff",
                "12c06161d2367f919f6da912089a6c9180c115cfcefa37afacfdeb903930eb7e",
                from_mulan("corel5k/Corel5k-sparse.arff"),
            ),
            RemoteFile(
                "corel5k.xml",
                "54ef6a6ccb7ca9b77524052b34b306d5d501661a5609b9d1cc7085b2b597679d",
                from_mulan("corel5k/Corel5k.xml", "corel5k/corel5k.xml"),
            ),
        ),
        split=SplitRule("train-first", n_train=4500, n_test=500),
        stems=(
            "Corel5k-sparse",
            "Corel5k",
        ),
        feature_density=0.01657,
        mean_imbalance_ratio=189.568,
        is_in_paper=True,
    ),
    DatasetSpec(
        name="bookmark",
        domain="web bookmarks",
        n_samples=87856,
        n_features=2150,
        n_labels=208,
        cardinality=2.028,
        citation=(
            "I. Katakis, G. Tsoumakas, I. Vlahavas: Multilabel Text Classification for Automated "
            "Tag Suggestion. ECML/PKDD 2008 Discovery Challenge"
        ),
        licence="none stated for the data",
        sources=(
            "https://github.com/tsoumakas/mulan",
            "https://github.com/mrapp-ke/Boomer-Datasets",
            "https://github.com/fcharte/mldr.datasets",
            "https://www.uco.es/kdis/mllresources/",
        ),
        files=(DataFile("bookmark.arff.gz"), DataFile("bookmark.xml")),
        aliases=("bookmarks",),
        stems=("bookmarks",),
        notes=(
            "sizes and cardinality are those of the paper, not measured here; imbalance ratio and "
            "feature density (that of bibtex) are assumptions, used for synthetic data alone",
        ),
        cardinality_tolerance=6e-4,
        feature_density=0.0374,
        mean_imbalance_ratio=12.308,
        is_in_paper=True,
        is_measured=False,
    ),
    DatasetSpec(
        name="imdb",
        domain="film plots",
        n_samples=120919,
        n_features=1001,
        n_labels=28,
        cardinality=2.0,
        citation="J. Read: Scalable multi-label classification. PhD thesis, Waikato 2010",
        licence="none stated for the data",
        sources=(
            "https://waikato.github.io/meka/datasets",
            "https://github.com/mrapp-ke/Boomer-Datasets",
            "https://github.com/fcharte/mldr.datasets",
            "https://www.uco.es/kdis/mllresources/",
        ),
        files=(DataFile("imdb.arff.gz"), DataFile("imdb.xml")),
        stems=("IMDB-F", "IMDB"),
        notes=(
            "sizes and cardinality are those of the paper, not measured here; imbalance ratio and "
            "feature density are assumptions, used for synthetic data alone",
        ),
        cardinality_tolerance=6e-4,
        feature_density=0.02,
        mean_imbalance_ratio=25.124,
        is_in_paper=True,
        is_measured=False,
    ),
)
