"""Which feelings does a song evoke? Train, tag, look into the model.

The benchmark *emotions* is used where its files are in the folder named by PROTOLABEL_DATA;
otherwise 600 made-up songs whose tempo, loudness, brightness and key suggest their feelings.

    python examples/music_emotions.py [FOLDER]      FOLDER receives a page on the model
"""

import os
import sys
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from protolabel import MultiLabelDataset, PNMLClassifier, evaluate, load_dataset
from protolabel.inspection import explain, explanation_text
from protolabel.preprocessing.splits import MultilabelStratifiedShuffleSplit
from protolabel.report import model_report

FEATURES = ("tempo", "loudness", "brightness", "minor key", "swing", "year")
FEELINGS = ("amazed", "happy", "relaxing", "quiet", "sad", "angry")


def made_up_songs(n_songs: int = 600, seed: int = 0) -> MultiLabelDataset:
    """Songs whose feelings follow noisy rules; swing and year say nothing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_songs, len(FEATURES)))
    X[:, 3] = rng.random(n_songs) < 0.4
    tempo, loudness, brightness, minor = X[:, :4].T
    wishes = np.column_stack(
        [
            loudness + 0.5 * brightness - 1.0,
            tempo + brightness - 2.0 * minor - 0.5,
            -tempo - loudness - 0.5,
            -2.0 * loudness - 1.5,
            2.0 * minor - tempo - 1.5,
            loudness + tempo + 2.0 * minor - 2.5,
        ]
    )
    Y = (wishes + 0.7 * rng.normal(size=wishes.shape) > 0).astype(np.int32)
    return MultiLabelDataset("made-up songs", X, csr_matrix(Y), FEATURES, FEELINGS)


def songs() -> MultiLabelDataset:
    """The benchmark where it is at hand; nothing is downloaded."""
    home = os.environ.get("PROTOLABEL_DATA", "")
    if home and (Path(home) / "emotions").is_dir():
        return load_dataset("emotions")
    return made_up_songs()


def main(folder: Path | None) -> None:
    """Train on four fifths, measure on the rest, explain one song."""
    data = songs()
    print(f"{data.name}: {data.X.shape[0]} songs, {data.X.shape[1]} features")
    splitter = MultilabelStratifiedShuffleSplit(test_size=0.2, random_state=0)
    train, test = next(splitter.split(data.X, data.Y))
    model = PNMLClassifier(effort="fast", random_state=0).fit(data.X[train], data.Y[train])
    model.label_names_ = np.array(data.label_names, dtype=object)

    X, Y = data.X[test], data.Y[test]
    for name, value in evaluate(Y, model.predict(X), model.decision_function(X)).items():
        print(f"  {name:<18}{value:.3f}")
    print(
        "First new songs:", *(sorted(tags) for tags in model.predict_label_sets(X[:3])), sep="\n  "
    )
    why = explain(model, X[0], n_labels=1, n_features=3, feature_names=list(data.feature_names))
    print(explanation_text(why))
    if folder is not None:
        page = model_report(model, X, Y, title="Music and feelings", data_name=data.name)
        (folder / "music_emotions.html").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
