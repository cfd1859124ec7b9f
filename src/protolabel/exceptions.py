"""The errors a user of the library may want to catch."""


class ProtolabelError(Exception):
    """Base class of every error that is raised on purpose by protolabel."""


class DatasetError(ProtolabelError, ValueError):
    """A dataset file or name could not be used; the message says where and why."""


class TrainingError(ProtolabelError, RuntimeError):
    """Training stopped because going on could only give a useless model."""


class ModelFileError(ProtolabelError, ValueError):
    """A model file or checkpoint was refused; the message says what was found and what to do."""
