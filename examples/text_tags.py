"""Tags for short texts: words in, sets of names out, and the words that decided.

The posts are made up from the words of their tags and from words that say nothing.

    python examples/text_tags.py [FOLDER]      FOLDER receives a page on one prediction
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from protolabel import PNMLClassifier
from protolabel.inspection import explain
from protolabel.report import explanation_report

WORDS = {
    "cooking": "oven butter flour recipe bake sauce onion taste",
    "travel": "train ticket hotel border map coast ferry suitcase",
    "garden": "soil seeds water bloom shade tomato spade spring",
    "budget": "cheap price saving cost discount coupon pay afford",
}
FILLERS = "today really a the my our with and for some good long little again friend"
NEW_POSTS = [
    "a cheap train ticket, a discount for the hotel on the coast",
    "tomato sauce with butter and onion from my own soil",
    "the price of seeds and water this spring",
]


def made_up_posts(n_posts: int, seed: int = 0) -> tuple[list[str], list[set[str]]]:
    """Texts of a dozen words, half of them from one to three tags."""
    rng = np.random.default_rng(seed)
    texts, tags = [], []
    for _ in range(n_posts):
        chosen = rng.choice(
            list(WORDS), size=rng.choice([1, 2, 3], p=[0.5, 0.4, 0.1]), replace=False
        )
        own = [word for tag in chosen for word in WORDS[tag].split()]
        words = [*rng.choice(own, size=6), *rng.choice(FILLERS.split(), size=6)]
        texts.append(" ".join(rng.permutation(words)))
        tags.append({str(tag) for tag in chosen})
    return texts, tags


def main(folder: Path | None) -> None:
    """Learn from 500 posts, tag three new ones, show what the first answer rests on."""
    texts, tags = made_up_posts(500)
    words = CountVectorizer()
    X = words.fit_transform(texts)  # sparse counts; the model weights and scales them itself
    model = PNMLClassifier(effort="fast", random_state=0).fit(X, tags)

    X_new = words.transform(NEW_POSTS)
    for text, names in zip(NEW_POSTS, model.predict_label_sets(X_new), strict=True):
        print(f"{text}\n  -> {', '.join(sorted(names))}")
    print("Labels in order of their probability, first text:")
    probabilities = model.predict_proba(X_new[:1])[0]
    for k in np.argsort(-probabilities):
        bar = "#" * round(40 * probabilities[k])
        print(f"  {model.label_names_[k]:<8} {probabilities[k]:.2f} {bar}")

    names = words.get_feature_names_out().tolist()
    why = explain(model, X_new[:1], n_labels=2, n_features=4, feature_names=names)
    for label in why.labels:
        pulls = ", ".join(f"{pull.name} {pull.pull:+.2f}" for pull in label.pulls)
        print(f"Words for and against {label.label}: {pulls}")
    if folder is not None:
        page = explanation_report(why, title=NEW_POSTS[0])
        (folder / "text_tags.html").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
