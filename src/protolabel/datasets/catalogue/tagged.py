"""Tagged questions, pictures and short texts."""

from __future__ import annotations

from protolabel.datasets.catalogue.spec import DataFile, DatasetSpec, RemoteFile, SplitRule

_RAW = "https://raw.githubusercontent.com"


def _goemotions(name: str, original_name: str) -> tuple[str, ...]:
    """Return the addresses of a file in the repository of our copy and in the original one."""
    commit = "b75f9d3a8b76bc1060687925b04ca98a1b8ea66b"
    return (
        f"{_RAW}/monologg/GoEmotions-pytorch/{commit}/data/original/{name}",
        f"{_RAW}/google-research/google-research/master/goemotions/data/{original_name}",
    )


TAGGED: tuple[DatasetSpec, ...] = (
    DatasetSpec(
        name="corel16k001",
        domain="images",
        n_samples=13766,
        n_features=500,
        n_labels=153,
        cardinality=2.8587,
        citation=(
            "K. Barnard, P. Duygulu, N. de Freitas, D. Forsyth, D. Blei, M.I. Jordan: "
            "Matching words and pictures. JMLR 3, 2003"
        ),
        licence="LGPL version 3 or later (R package)",
        sources=("https://github.com/fcharte/mldr.datasets",),
        files=(
            DataFile(
                "corel16k001.npz",
                "ced5b9c17ee1b80944519dd10fbc98fefb04c1ddea89bd2f1ef42ffbfd74ba97",
                238288,
            ),
            DataFile(
                "features.txt",
                "d884f18af854df1e5242a72bae9afb9eda0cef2584821cff794e9b4aa1709298",
                5392,
            ),
            DataFile(
                "labels.txt",
                "d11f2c41454f7086d7b42ac91357596dd44320ace6c1e7a94e1549f75b85c301",
                1030,
            ),
        ),
        stems=("Corel16k001",),
        feature_density=0.01683,
        mean_imbalance_ratio=34.155,
    ),
    DatasetSpec(
        name="stackex-cs",
        domain="questions",
        n_samples=9270,
        n_features=635,
        n_labels=274,
        cardinality=2.5562,
        citation=(
            "F. Charte, A.J. Rivera, M.J. del Jesus, F. Herrera: QUINTA: A question tagging "
            "assistant to improve the answering ratio in electronic forums. EUROCON 2015"
        ),
        licence="LGPL version 3 or later (R package)",
        sources=("https://github.com/fcharte/mldr.datasets",),
        files=(
            DataFile(
                "features.txt",
                "ccfc0019bb3dee8df6e6094921890157d9430b9677a2789052e992c602ebe8fc",
                4243,
            ),
            DataFile(
                "labels.txt",
                "36b9712faf06ca1cb02e16530463ecf6198312f82dc35755ab344c907e6b80dc",
                5158,
            ),
            DataFile(
                "stackex-cs.npz",
                "e738650ce66f7bef4f2d012058ec6eacafcaea90a37cf8c88b033d29d9b4ae17",
                396893,
            ),
        ),
        feature_density=0.03156,
        mean_imbalance_ratio=85.002,
    ),
    DatasetSpec(
        name="stackex-cooking",
        domain="questions",
        n_samples=10491,
        n_features=577,
        n_labels=400,
        cardinality=2.2248,
        citation=(
            "F. Charte, A.J. Rivera, M.J. del Jesus, F. Herrera: QUINTA: A question tagging "
            "assistant to improve the answering ratio in electronic forums. EUROCON 2015"
        ),
        licence="LGPL version 3 or later (R package)",
        sources=("https://github.com/fcharte/mldr.datasets",),
        files=(
            DataFile(
                "features.txt",
                "5ba92ab3e1524e5aee2f5363ff5c0a88e9a5211b9388a2d02f8756e42a7fcfb3",
                3471,
            ),
            DataFile(
                "labels.txt",
                "a0b810ff8c1d264b66eda83740c379f7304051efa1b360abd0f1a63af41e6807",
                5277,
            ),
            DataFile(
                "stackex-cooking.npz",
                "0a2283a01ac9c003a441977c023c6e6caeb8309a8b9b16a739b66bf1b7e2b0f1",
                360198,
            ),
        ),
        feature_density=0.02775,
        mean_imbalance_ratio=37.858,
    ),
    DatasetSpec(
        name="goemotions",
        domain="forum comments",
        n_samples=54263,
        n_features=13077,
        n_labels=28,
        cardinality=1.176,
        citation=("D. Demszky et al.: GoEmotions: A Dataset of Fine-Grained Emotions. ACL 2020"),
        licence="Apache 2.0 for the repository; none checked for the original release",
        sources=(
            "https://github.com/monologg/GoEmotions-pytorch",
            "https://github.com/google-research/google-research",
        ),
        files=(
            DataFile(
                "dev.tsv.gz",
                "d4fb2394e2eae4e6da5f590da1c1584040c9f23caae197a00606e31a72e1e3e5",
                202250,
            ),
            DataFile(
                "labels.txt",
                "c2751b598c0da6d866e50058223c79a3d469546e9dc9c134c271e747d3a90ca1",
                249,
            ),
            DataFile(
                "test.tsv.gz",
                "2ba5ddb563bad4c843b7bedfafeb62df589a423a1011f7175f463843a584d35c",
                200813,
            ),
            DataFile(
                "train.tsv.gz",
                "e475c21512fc5f3af853f020606182afc1d05afccf1db89d05b15951d28fdcb3",
                1608935,
            ),
        ),
        remote=(
            RemoteFile(
                "train.tsv",
                "1c254a142be5c00e80d819b9ae1bbd36d94b2eeb8f4b1271846508d57e57d9c5",
                _goemotions("train.tsv", "train.tsv"),
            ),
            RemoteFile(
                "dev.tsv",
                "575489c079c9de1097062a01738f998590d6b7ead66dd1c9fd1d2ba01fd8bc62",
                _goemotions("dev.tsv", "dev.tsv"),
            ),
            RemoteFile(
                "test.tsv",
                "0587b2dd8b27b97352adbfc3fb083d46005c8946657fdc2b1ca8b1cc7f1f8be4",
                _goemotions("test.tsv", "test.tsv"),
            ),
            RemoteFile(
                "labels.txt",
                "c2751b598c0da6d866e50058223c79a3d469546e9dc9c134c271e747d3a90ca1",
                _goemotions("labels.txt", "emotions.txt"),
            ),
        ),
        split=SplitRule("parts", n_train=43410, n_test=5427, n_validation=5426),
        notes=(
            "raw text: the features are the words of the training part in two texts or more, "
            "weighted by inverse document frequency",
            "269 texts occur more than once",
        ),
        feature_density=0.0008462,
        mean_imbalance_ratio=28.354,
    ),
)
