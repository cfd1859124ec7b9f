"""Features, labels and folds between reading data and fitting a model."""
