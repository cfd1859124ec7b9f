"""Further datasets of the Mulan and MEKA collections."""

from __future__ import annotations

from protolabel.datasets.catalogue.mulan_project import from_mulan
from protolabel.datasets.catalogue.spec import DataFile, DatasetSpec, RemoteFile, SplitRule

FURTHER: tuple[DatasetSpec, ...] = (
    DatasetSpec(
        name="yeast",
        domain="genes",
        n_samples=2417,
        n_features=103,
        n_labels=14,
        cardinality=4.2371,
        citation=(
            "A. Elisseeff, J. Weston: A kernel method for multi-labelled classification. NIPS 2001"
        ),
        licence="GPL v3 for the software of the source; none stated for the data",
        sources=(
            "https://github.com/tsoumakas/mulan",
            "https://www.uco.es/kdis/mllresources/",
        ),
        files=(
            DataFile(
                "yeast.arff.gz",
                "679b93061c68a6f243785f3a3907cfa0bad93f690d1ad0a3dab1abb1ac94de2c",
                840977,
            ),
            DataFile(
                "yeast.xml", "c3056cc26444b5158b1588d1b73bec9c45429e10f0957ad085903423cb81f247", 526
            ),
        ),
        remote=(
            RemoteFile(
                "yeast.arff",
                "55c07a3b6ff885ae338fb6987a1d57f55572b29809922c2822c4885c61230dd7",
                from_mulan("yeast/yeast.arff"),
            ),
            RemoteFile(
                "yeast.xml",
                "c3056cc26444b5158b1588d1b73bec9c45429e10f0957ad085903423cb81f247",
                from_mulan("yeast/yeast.xml"),
            ),
        ),
        split=SplitRule("test-first", n_train=1500, n_test=917),
        notes=("the XML file lists the labels in another order than the ARFF file",),
        feature_density=1.0,
        mean_imbalance_ratio=7.197,
    ),
    DatasetSpec(
        name="delicious",
        domain="web pages",
        n_samples=16105,
        n_features=500,
        n_labels=983,
        cardinality=19.02,
        citation=(
            "G. Tsoumakas, I. Katakis, I. Vlahavas: Effective and Efficient Multilabel "
            "Classification in Domains with Large Number of Labels. MMD 2008"
        ),
        licence="GPL v3 for the software of the source; none stated for the data",
        sources=(
            "https://github.com/tsoumakas/mulan",
            "https://www.uco.es/kdis/mllresources/",
        ),
        files=(
            DataFile(
                "delicious.arff.gz",
                "8767431c6af11b2743849c39edcf01d99f3bd5dca24a193423c23c8bc96380af",
                769388,
            ),
            DataFile(
                "delicious.xml",
                "4e0c0f93c7d86a39b9fca4aaefaa00e9428f2c80277732dfbf03ca48e2c14da2",
                34303,
            ),
        ),
        remote=(
            RemoteFile(
                "delicious.arff",
                "b944de0bca910050c11d97eed57d17b073110ea3646a587f3d15d127cf581aab",
                from_mulan("delicious/delicious.arff"),
            ),
            RemoteFile(
                "delicious.xml",
                "4e0c0f93c7d86a39b9fca4aaefaa00e9428f2c80277732dfbf03ca48e2c14da2",
                from_mulan("delicious/delicious.xml"),
            ),
        ),
        split=SplitRule("train-first", n_train=12920, n_test=3185),
        notes=(
            "label TAG_m'usica is written with an escaped quote",
            "14 rows have no label",
        ),
        feature_density=0.03659,
        mean_imbalance_ratio=71.134,
    ),
    DatasetSpec(
        name="tmc2007-500",
        domain="flight reports",
        n_samples=28596,
        n_features=500,
        n_labels=22,
        cardinality=2.1579,
        citation=(
            "A.N. Srivastava, B. Zane-Ulman: Discovering recurring anomalies in text reports "
            "regarding complex space systems. IEEE Aerospace 2005; 500 features by G. "
            "Tsoumakas, I. Vlahavas, ECML 2007"
        ),
        licence="GPL v3 for the software of the source; none stated for the data",
        sources=(
            "https://github.com/tsoumakas/mulan",
            "https://www.uco.es/kdis/mllresources/",
        ),
        files=(
            DataFile(
                "tmc2007-500.arff.gz",
                "8387fe9b99871a7a266f9d1d84eef03607e6c8092e0def43dcd9037712799f66",
                733402,
            ),
            DataFile(
                "tmc2007-500.xml",
                "cb6a67c8ae72fd9b47d89f77aa5b7f6cafb4ba9c20b1124c65a95a3f2caec38d",
                783,
            ),
        ),
        remote=(
            RemoteFile(
                "tmc2007-500.arff",
                "3ea7e95dd80a78a3e7d521d77c3371bfef888da1d364b5a3bb71c7222ad7f013",
                from_mulan("tmc2007/tmc2007-500.arff"),
            ),
            RemoteFile(
                "tmc2007-500.xml",
                "cb6a67c8ae72fd9b47d89f77aa5b7f6cafb4ba9c20b1124c65a95a3f2caec38d",
                from_mulan("tmc2007/tmc2007.xml", "tmc2007/tmc2007-500.xml"),
            ),
        ),
        split=SplitRule("train-first", n_train=21519, n_test=7077),
        feature_density=0.04536,
        mean_imbalance_ratio=15.157,
    ),
    DatasetSpec(
        name="cal500",
        domain="music",
        n_samples=502,
        n_features=68,
        n_labels=174,
        cardinality=26.0438,
        citation=(
            "D. Turnbull, L. Barrington, D. Torres, G. Lanckriet: Semantic Annotation and "
            "Retrieval of Music and Sound Effects. IEEE TASLP 16(2), 2008"
        ),
        licence="GPL v3 for the software of the source; none stated for the data",
        sources=(
            "https://github.com/tsoumakas/mulan",
            "https://www.uco.es/kdis/mllresources/",
        ),
        files=(
            DataFile(
                "cal500.arff.gz",
                "642cf1c1efa2adb51371d3db1c4a9f5720fc777b9c8abcc030c39e1585b1e4db",
                143916,
            ),
            DataFile(
                "cal500.xml",
                "877e128531268d7661faa3e44f7bb43cbcda829c0895e49879168775b192728c",
                7901,
            ),
        ),
        remote=(
            RemoteFile(
                "cal500.arff",
                "cfe6097ba5fd6e8584e54911ab9783dcab34e898446b7c9370c71d477eae56d3",
                from_mulan("cal500/cal500.arff"),
            ),
            RemoteFile(
                "cal500.xml",
                "877e128531268d7661faa3e44f7bb43cbcda829c0895e49879168775b192728c",
                from_mulan("cal500/cal500.xml"),
            ),
        ),
        stems=("CAL500",),
        feature_density=0.9985,
        mean_imbalance_ratio=20.578,
    ),
    DatasetSpec(
        name="flags",
        domain="flags of countries",
        n_samples=194,
        n_features=19,
        n_labels=7,
        cardinality=3.3918,
        citation=(
            "E.C. Goncalves, A. Plastino, A.A. Freitas: A Genetic Algorithm for Optimizing "
            "the Label Ordering in Multi-Label Classifier Chains. ICTAI 2013"
        ),
        licence="GPL v3 for the software of the source; none stated for the data",
        sources=(
            "https://github.com/tsoumakas/mulan",
            "https://www.uco.es/kdis/mllresources/",
        ),
        files=(
            DataFile(
                "flags.arff.gz",
                "e9593c80177d2a7de0a08280ff15a85b6bf20aeb1b458d1f5796c2be171010b2",
                2335,
            ),
            DataFile(
                "flags.xml", "7c9ed21a91b716b91f811323e20ee5a260ea2da62a5edcfeb1b91ec855a48f17", 304
            ),
            DataFile(
                "test_rows.txt",
                "aa4ab4b8d1adab2929f3f5227d19eb4549d6ddf6531f23f00dc1b0c96a0921ea",
                227,
            ),
        ),
        remote=(
            RemoteFile(
                "flags.arff",
                "d3ed8b5683f1b27e68069aad2c29388bb57d4caa5041b559e646cc3854a0cd1e",
                from_mulan("flags/flags.arff"),
            ),
            RemoteFile(
                "flags.xml",
                "7c9ed21a91b716b91f811323e20ee5a260ea2da62a5edcfeb1b91ec855a48f17",
                from_mulan("flags/flags.xml"),
            ),
        ),
        split=SplitRule("test-rows", n_train=129, n_test=65),
        notes=("nominal features whose values are numbers are read as these numbers",),
        feature_density=0.4528,
        mean_imbalance_ratio=2.255,
    ),
    DatasetSpec(
        name="ohsumed",
        domain="medical abstracts",
        n_samples=13929,
        n_features=1002,
        n_labels=23,
        cardinality=1.6631,
        citation="W. Hersh et al.: OHSUMED. SIGIR 1994; T. Joachims, ECML 1998 (MEKA collection)",
        licence="MIT for the software of the source; none stated for the data",
        sources=("https://github.com/mrapp-ke/Boomer",),
        files=(
            DataFile(
                "ohsumed.arff.gz",
                "98196f7191bdd5cbec96846a585882e49d10b86c60601d206b25897f481c33cd",
                817719,
            ),
            DataFile(
                "ohsumed.xml",
                "d94524f27a1d49510e5477c5b1f67f63c780d1e84fe12a658acaa4c1acb4ee9e",
                730,
            ),
            DataFile(
                "test_rows.txt",
                "40406f923cd89e1125790df6b6dc02aa5cf8a8a5347cf5e3293847f7e9562004",
                25102,
            ),
        ),
        split=SplitRule("test-rows", n_train=9301, n_test=4628),
        stems=(
            "OHSUMED-F",
            "Ohsumed",
        ),
        notes=("the labels come first in the ARFF file",),
        feature_density=0.03968,
        mean_imbalance_ratio=7.869,
    ),
    DatasetSpec(
        name="medical",
        domain="clinical reports",
        n_samples=978,
        n_features=1449,
        n_labels=45,
        cardinality=1.245,
        citation=(
            "J.P. Pestian et al.: A shared task involving multi-label classification of "
            "clinical free text. BioNLP 2007"
        ),
        licence="none stated",
        sources=(
            "https://github.com/tsoumakas/mulan",
            "https://github.com/fcharte/mldr.datasets",
            "https://www.uco.es/kdis/mllresources/",
        ),
        files=(DataFile("medical.arff.gz"), DataFile("medical.xml")),
        notes=(
            "sizes are those of the paper, not measured here; the cardinality was not checked "
            "against a source; imbalance ratio and feature density are assumptions, used for "
            "synthetic data alone",
        ),
        cardinality_tolerance=6e-4,
        feature_density=0.01,
        mean_imbalance_ratio=89.501,
        is_measured=False,
    ),
)
