"""Datasets of the paper with dense or web-page features."""

from __future__ import annotations

from protolabel.datasets.catalogue.mulan_project import from_mulan
from protolabel.datasets.catalogue.spec import DataFile, DatasetSpec, RemoteFile, SplitRule

PAPER_SMALL: tuple[DatasetSpec, ...] = (
    DatasetSpec(
        name="emotions",
        domain="music",
        n_samples=593,
        n_features=72,
        n_labels=6,
        cardinality=1.8685,
        citation=(
            "K. Trohidis, G. Tsoumakas, G. Kalliris, I. Vlahavas: Multilabel Classification "
            "of Music into Emotions. ISMIR 2008"
        ),
        licence="GPL v3 for the software of the source; none stated for the data",
        sources=(
            "https://github.com/tsoumakas/mulan",
            "https://www.uco.es/kdis/mllresources/",
        ),
        files=(
            DataFile(
                "emotions.arff.gz",
                "162592ef5baa548599285ee392269ab3128cd552714696e8a126d7fde68a1015",
                154330,
            ),
            DataFile(
                "emotions.xml",
                "dbce8e6ccbbb2fcbfd9e9edbb230d7ed12692c6e13f59fdbc0161fa9b6cf2dc0",
                323,
            ),
        ),
        remote=(
            RemoteFile(
                "emotions.arff",
                "6f2f790047073d1293ac0872c0d55f2dc98b6177802fc96c6b66b309dfee1e4b",
                from_mulan("emotions/emotions.arff"),
            ),
            RemoteFile(
                "emotions.xml",
                "dbce8e6ccbbb2fcbfd9e9edbb230d7ed12692c6e13f59fdbc0161fa9b6cf2dc0",
                from_mulan("emotions/emotions.xml"),
            ),
        ),
        split=SplitRule("train-first", n_train=391, n_test=202),
        feature_density=0.9967,
        mean_imbalance_ratio=1.478,
        is_in_paper=True,
    ),
    DatasetSpec(
        name="scene",
        domain="images",
        n_samples=2407,
        n_features=294,
        n_labels=6,
        cardinality=1.074,
        citation=(
            "M.R. Boutell, J. Luo, X. Shen, C.M. Brown: Learning multi-label scene "
            "classification. Pattern Recognition 37(9), 2004"
        ),
        licence="GPL v3 for the software of the source; none stated for the data",
        sources=(
            "https://github.com/tsoumakas/mulan",
            "https://www.uco.es/kdis/mllresources/",
        ),
        files=(
            DataFile(
                "scene.arff.gz",
                "dfe6852da8125e0a82e8394e5620e1dba4f8712c89cbe7eefba38381fce845ba",
                2343156,
            ),
            DataFile(
                "scene.xml", "55d8b247b949ad5c52e5a73d8c6775ec6e5469ce9682465b45b333b68ee4bcc5", 285
            ),
        ),
        split=SplitRule("train-first", n_train=1211, n_test=1196),
        feature_density=0.9885,
        mean_imbalance_ratio=1.254,
        is_in_paper=True,
    ),
    DatasetSpec(
        name="image",
        domain="images",
        n_samples=2000,
        n_features=294,
        n_labels=5,
        cardinality=1.236,
        citation=(
            "M.-L. Zhang, Z.-H. Zhou: ML-KNN: A lazy learning approach to multi-label "
            "learning. Pattern Recognition 40(7), 2007 (the 2000 natural scene images of "
            "Z.-H. Zhou, M.-L. Zhang, NIPS 2006)"
        ),
        licence="MIT for the software of the source; none stated for the data",
        sources=("https://github.com/mrapp-ke/Boomer",),
        files=(
            DataFile(
                "image.arff.gz",
                "433d073bd0e94e3be4c2c0459f99b00e804f542daff152c03a4736525471474c",
                1912340,
            ),
            DataFile(
                "image.xml", "d1feb933924093f582052b20a1c1417ebcca5ca6267c5973fdc32a2f49014afc", 241
            ),
        ),
        split=SplitRule("train-first", n_train=1501, n_test=499),
        notes=(
            "the source names the labels label1 to label5 only",
            "cardinality 1.236; the paper prints 1.240",
        ),
        feature_density=0.9969,
        mean_imbalance_ratio=1.193,
        is_in_paper=True,
    ),
    DatasetSpec(
        name="arts",
        domain="web pages",
        n_samples=5000,
        n_features=462,
        n_labels=26,
        cardinality=1.636,
        citation=(
            "N. Ueda, K. Saito: Parametric mixture models for multi-labeled text. NIPS 2002; "
            "reduced to 2000+3000 pages and the 2% most frequent words by M.-L. Zhang, Z.-H. "
            "Zhou (Pattern Recognition 40(7), 2007)"
        ),
        licence="none stated",
        sources=(
            "https://github.com/jiunhwang/LLSF",
            "https://github.com/ZesenChen/multi-label-dataset",
        ),
        files=(
            DataFile(
                "arts.npz",
                "cbee668615b149ed551853e3a6fb998959c713a366fa9ffbda647b0ba310e7e7",
                444700,
            ),
        ),
        split=SplitRule("train-first", n_train=2000, n_test=3000),
        notes=(
            "the source has no feature or label names",
            (
                "reduced to 2000 + 3000 pages and the 2 % most frequent words by M.-L. Zhang and "
                "Z.-H. Zhou"
            ),
        ),
        feature_density=0.07538,
        mean_imbalance_ratio=69.449,
        is_in_paper=True,
    ),
    DatasetSpec(
        name="science",
        domain="web pages",
        n_samples=5000,
        n_features=743,
        n_labels=40,
        cardinality=1.4506,
        citation=(
            "N. Ueda, K. Saito: Parametric mixture models for multi-labeled text. NIPS 2002; "
            "reduced to 2000+3000 pages and the 2% most frequent words by M.-L. Zhang, Z.-H. "
            "Zhou (Pattern Recognition 40(7), 2007)"
        ),
        licence="none stated",
        sources=(
            "https://github.com/jiunhwang/LLSF",
            "https://github.com/ZesenChen/multi-label-dataset",
        ),
        files=(
            DataFile(
                "science.npz",
                "cd4d06c5e20effb7a9fa423b2a4af10b3e25e908ddd0a816d7fc6fb09d8ad60b",
                723548,
            ),
        ),
        split=SplitRule("train-first", n_train=2000, n_test=3000),
        notes=(
            "the source has no feature or label names",
            (
                "reduced to 2000 + 3000 pages and the 2 % most frequent words by M.-L. Zhang and "
                "Z.-H. Zhou"
            ),
        ),
        feature_density=0.07935,
        mean_imbalance_ratio=48.008,
        is_in_paper=True,
    ),
    DatasetSpec(
        name="education",
        domain="web pages",
        n_samples=5000,
        n_features=550,
        n_labels=33,
        cardinality=1.4606,
        citation=(
            "N. Ueda, K. Saito: Parametric mixture models for multi-labeled text. NIPS 2002; "
            "reduced to 2000+3000 pages and the 2% most frequent words by M.-L. Zhang, Z.-H. "
            "Zhou (Pattern Recognition 40(7), 2007)"
        ),
        licence="none stated",
        sources=(
            "https://github.com/jiunhwang/LLSF",
            "https://github.com/peipeilihfut/PMLFS",
        ),
        files=(
            DataFile(
                "education.npz",
                "ffb844ef9e7b7209c19a46788d4fbbb0c2ba2fea6133e8a3da21ac15aa1a9e30",
                534831,
            ),
        ),
        split=SplitRule("train-first", n_train=2000, n_test=3000),
        notes=(
            "the source has no feature or label names",
            (
                "reduced to 2000 + 3000 pages and the 2 % most frequent words by M.-L. Zhang and "
                "Z.-H. Zhou"
            ),
        ),
        feature_density=0.07671,
        mean_imbalance_ratio=179.594,
        is_in_paper=True,
    ),
)
