"""Scores of a label tree by walking it, one row and one label at a time."""

import math


def log_pass(weights, row, is_sure):
    if is_sure:
        return 0.0
    margin = sum(w * x for w, x in zip(weights, row, strict=True))
    return -(max(0.0, 1.0 - margin) ** 2)


def label_score(tree, row, label):
    total = log_pass(tree.label_weights.toarray()[label], row, tree.sure_labels[label])
    node = tree.leaves[label]
    while node != 0:
        total += log_pass(tree.node_weights.toarray()[node], row, tree.sure_nodes[node])
        node = tree.parents[node]
    return math.exp(total)


def forest_score(trees, row, label):
    return sum(label_score(tree, row, label) for tree in trees) / len(trees)


def unit_with_one(row):
    length = math.sqrt(sum(x * x for x in row))
    return [x / length if length > 0 else 0.0 for x in row] + [1.0]
