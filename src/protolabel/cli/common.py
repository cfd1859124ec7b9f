"""What all commands share: options, streams, exit codes, and what becomes of an error.

Results go to the standard output and messages to the standard error stream. With ``--json`` the
output is one object, ``{"schema", "command", "result"}``, also when the command fails; it then
has an ``error`` too and its result is null.
"""

from __future__ import annotations

import csv
import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from protolabel.cli.pipes import as_given, readable_twice
from protolabel.exceptions import DatasetError, ModelFileError

if TYPE_CHECKING:
    from protolabel.workflows.file_options import FileOptions

SCHEMA = 1
LARGEST_SEED = 2**32 - 1
EXIT_FAILED, EXIT_USAGE, EXIT_BAD_DATA, EXIT_BAD_MODEL = 1, 2, 3, 4
EXIT_SOME_FAILED, EXIT_INTERRUPTED = 5, 130


def names_option(kind: str, text: str) -> Any:
    """An option that takes names, by commas: a list of none is a slip, and nothing to ignore."""

    def check(names: str | None) -> str | None:
        if names is not None and not split_names(names):
            raise typer.BadParameter(f"{names!r} was given, so no {kind} was named; name one.")
        return names

    return typer.Option(help=text, callback=check)


def check_seed(seed: int | None) -> int | None:
    """A check of an option that takes a seed, before anything is read or computed."""
    if seed is not None and not 0 <= seed <= LARGEST_SEED:
        raise typer.BadParameter(f"{seed} was given; expected a number from 0 to {LARGEST_SEED}.")
    return seed


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress and no messages.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what exists.")]
Seed = Annotated[
    int,
    typer.Option(help="Seed of split and training.", envvar="PROTOLABEL_SEED", callback=check_seed),
]
Device = Annotated[
    str,
    typer.Option(
        help="auto, cpu or cuda; auto takes a GPU if there is one.", envvar="PROTOLABEL_DEVICE"
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Threads to compute with; one per core by default.",
        show_default=False,
        envvar="PROTOLABEL_JOBS",
    ),
]
DataFile = Annotated[
    str, typer.Argument(help="File of any known format, or the name of a dataset.")
]
DataSource = Annotated[
    str,
    typer.Argument(
        help="File of any known format, - for the standard input, or the name of a dataset.",
        callback=readable_twice,
    ),
]
ModelPlace = Annotated[Path, typer.Argument(help="Folder that `protolabel train` wrote.")]
Labels = Annotated[
    str | None,
    names_option(
        "label", "Label names, as a,b,c; an XML label list (ARFF); a file with one name a line."
    ),
]
NumberOfLabels = Annotated[
    int | None, typer.Option("--n-labels", min=1, help="The last K columns are the labels.")
]
Tags = Annotated[
    str | None,
    names_option("column", "Column with several labels a cell, in place of --labels."),
]
TagsOfNewRows = Annotated[
    str | None,
    names_option("column", "Column with several labels a cell, in place of a column a label."),
]
TagSeparator = Annotated[
    str | None, typer.Option(help="What stands between tags; found by default.")
]
Categorical = Annotated[
    str | None,
    names_option("column", "Columns of words that look like numbers, as a,b,c."),
]
Drop = Annotated[
    str | None,
    names_option("column", "Columns to leave out, as a,b,c."),
]
Groups = Annotated[
    str | None,
    names_option(
        "column", "Column that says which rows belong together, as a patient; no feature."
    ),
]
FileFormat = Annotated[
    str | None,
    typer.Option("--format", help="mulan, meka, xmlc, libsvm, csv, parquet, npz or text."),
]
Delimiter = Annotated[str | None, typer.Option(help="Character between cells of a CSV file.")]
Encoding = Annotated[str, typer.Option(help="Encoding of text files, as cp1252.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="A parameter of the method, as max_epochs=5; repeatable."),
]
Effort = Annotated[str | None, typer.Option(help="fast, balanced or best; for the method pnml.")]


def print_json(command: str, result: Any, **more: Any) -> None:
    """Print the one object that ``--json`` promises; numbers that JSON lacks become null."""
    document = {"schema": SCHEMA, "command": command, "result": result, **more}
    typer.echo(json.dumps(_plain(document), allow_nan=False))


def messenger(*, quiet: bool) -> Callable[[str], None]:
    """A function that tells a person something, on the error stream."""

    def tell(text: str) -> None:
        if not quiet:
            typer.echo(text, err=True)

    return tell


@contextmanager
def plain_warnings(tell: Callable[[str], None]) -> Iterator[None]:
    """Say what libraries warn of once, in one line each, without the place in their code."""
    told: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in told:
            tell(f"Warning: {message}")
        told.add(str(message))

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


@contextmanager
def usage_errors() -> Iterator[None]:
    """Make what is refused here a mistake of the command line: exit code 2."""
    try:
        yield
    except DatasetError:
        raise
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def check_is_pnml(folder: Path, model: Any, use: str) -> None:
    """Refuse a model of another method where a command shows the parts of PNML."""
    from protolabel.classifier import PNMLClassifier

    if not isinstance(model, PNMLClassifier):
        raise ValueError(
            f"{folder} holds a {type(model).__name__}; only the methods named pnml... can be {use}."
        )


def limit_threads(jobs: int | None) -> None:
    """Compute with so many threads."""
    if jobs is None:
        return
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(jobs)
    threadpool_limits(jobs)


def split_names(text: str | None) -> tuple[str, ...]:
    """Split a list of names at commas; a name that contains one is quoted."""
    if not text:
        return ()
    [cells] = csv.reader([text], skipinitialspace=True)
    return tuple(cell.strip() for cell in cells if cell.strip())


def counted(number: int, noun: str) -> str:
    """A number of things, of which there may be one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def label_list(text: str | None, encoding: str) -> tuple[str, ...] | None:
    """Names of labels, each once, written out or in a file; None where none are given."""
    if text is None:
        return None
    if not Path(text).is_file():
        return tuple(dict.fromkeys(split_names(text)))
    from protolabel.datasets.readers.label_file import read_label_file

    return tuple(dict.fromkeys(read_label_file(Path(text), encoding)))


def parse_settings(texts: Sequence[str]) -> dict[str, Any]:
    """Turn ``name=value`` into settings; a value that is no JSON is a string."""
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (equals and name.strip()):
            raise typer.BadParameter(f"--set {text} was given; expected name=value.")
        settings[name.strip()] = parse_value(value)
    return settings


def parse_value(text: str) -> Any:
    """Read JSON, or take the text as it is."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def file_options(
    *,
    labels: str | None = None,
    n_labels: int | None = None,
    tags: str | None = None,
    tag_separator: str | None = None,
    categorical: str | None = None,
    drop: str | None = None,
    groups: str | None = None,
    file_format: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> FileOptions:
    """Gather what the options say about a file."""
    from protolabel.workflows.file_options import FileOptions

    check_one_source_of_labels(labels, tags)
    is_file = labels is not None and Path(labels).is_file()
    with usage_errors():
        return FileOptions(
            format=file_format,
            labels=None if labels is None or is_file else split_names(labels),
            label_file=Path(labels) if labels is not None and is_file else None,
            n_labels=n_labels,
            tags=tags,
            tag_separator=tag_separator,
            categorical=split_names(categorical),
            drop=split_names(drop),
            groups=groups,
            delimiter="\t" if delimiter == "\\t" else delimiter,
            encoding=encoding,
        )


def check_one_source_of_labels(labels: str | None, tags: str | None) -> None:
    """Refuse labels that are columns and stand in a column of tags at the same time."""
    if labels is not None and tags is not None:
        raise typer.BadParameter("--labels and --tags both say where the labels are; use one.")


def print_metrics(title: str, metrics: Mapping[str, float]) -> None:
    """Print one metric a line."""
    typer.echo(title)
    for name, value in metrics.items():
        typer.echo(f"  {name.replace('_', ' '):<20}{value:>8.4f}")


def exit_code_of(error: BaseException) -> int:
    """The exit code that says what kind of problem it was."""
    if isinstance(error, ModelFileError):
        return EXIT_BAD_MODEL
    return EXIT_BAD_DATA if isinstance(error, DatasetError) else EXIT_FAILED


def finish_with_error(app: typer.Typer, message: str, code: int, *, shown: bool = False) -> None:
    """End the process with a line for people and, if asked for, an object for programs.

    Parameters
    ----------
    app : Typer
        Command tree, to find the name of the command that was asked for.
    message : str
    code : int
        Exit code.
    shown : bool, default=False
        Whether the message is on the error stream already.
    """
    message = as_given(message)
    if not shown:
        typer.echo(message if code == EXIT_INTERRUPTED else f"Error: {message}", err=True)
    try:
        if "--json" in sys.argv:
            print_json(_asked_command(app), None, error={"message": message, "exit_code": code})
        flush_output()
    except OSError:
        # It may be the very thing that failed, and the message is on the error stream.
        abandon_output()
    sys.exit(code)


def flush_output() -> None:
    """Write what is left of the output, while it can still be told that it could not be."""
    if sys.stdout is not None:
        sys.stdout.flush()


def abandon_output() -> None:
    """Lead the standard output nowhere: at its end, the interpreter writes what is left of it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def wants_traceback() -> bool:
    """Whether ``--debug`` was given."""
    return bool(os.environ.get("PROTOLABEL_DEBUG"))


def _asked_command(app: typer.Typer) -> str:
    node: Any = typer.main.get_command(app) if isinstance(app, typer.Typer) else None
    words: list[str] = []
    for word in sys.argv[1:]:
        children = getattr(node, "commands", {})
        if word in children:
            words.append(word)
            node = children[word]
    return " ".join(words)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
