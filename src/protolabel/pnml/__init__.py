"""The model of the paper in PyTorch: embedding, prototypes, metric, losses, training."""
