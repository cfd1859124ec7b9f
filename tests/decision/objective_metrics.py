"""What every rule can be tuned for, computed by the metrics themselves."""

from protolabel.metrics import accuracy, macro_f1, micro_f1

OBJECTIVES = {
    "accuracy": accuracy,
    "micro_f1": micro_f1,
    "macro_f1": macro_f1,
    "balanced": lambda Y, P: accuracy(Y, P) + micro_f1(Y, P) + macro_f1(Y, P),
}
