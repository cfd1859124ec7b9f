"""``protolabel predict``: labels for the rows of a file."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TextIO

import typer

from protolabel.cli import common, places


def predict(
    model: common.ModelPlace,
    data: common.DataSource,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", help="CSV file or pipe to write; the standard output by default and for -."
        ),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Probabilities in place of 0 and 1.")
    ] = False,
    as_tags: Annotated[
        bool, typer.Option("--tags", help="One column with the names of the labels.")
    ] = False,
    top_k: Annotated[
        int | None, typer.Option(min=1, help="The names of the K likeliest labels.")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Probability from which on a label is given; else the model's own."
        ),
    ] = None,
    separator: Annotated[str, typer.Option(help="What stands between names of labels.")] = "|",
    keep: Annotated[
        str | None,
        common.names_option("column", "Columns of the file to repeat first, as id,title."),
    ] = None,
    jobs: common.Jobs = None,
    file_format: common.FileFormat = None,
    delimiter: common.Delimiter = None,
    encoding: common.Encoding = "utf-8",
    force: common.Force = False,
    quiet: common.Quiet = False,
    as_json: common.AsJson = False,
) -> None:
    """Predict the labels of rows, as CSV.

    The file needs the columns of the training data, in any order; label columns and others
    are ignored. Cells may be empty.

    Example: protolabel predict songs-model new.csv --output tags.csv --tags --keep title

    Example: protolabel predict songs-model new.csv --proba

    Example: protolabel predict songs-model new.csv --top-k 3
    """
    from protolabel.workflows.prediction import (
        PredictionForm,
        check_kept,
        check_separator,
        predicted_rows,
        write_predictions,
    )

    if proba and (as_tags or top_k is not None):
        raise typer.BadParameter("--proba is a column a label, --tags and --top-k are names.")
    with common.usage_errors():
        form = PredictionForm(
            "probabilities" if proba else "tags" if as_tags or top_k is not None else "decisions",
            top_k,
            threshold,
            separator,
        )
    from protolabel.safefiles.places import is_stream

    # The device may lead to a file that other output is appended to.
    output = None if output in (Path("-"), Path("/dev/stdout")) else output
    if output is not None and not is_stream(output):
        places.check_new_file(output, force=force)
    options = common.file_options(file_format=file_format, delimiter=delimiter, encoding=encoding)
    from protolabel.workflows.file_options import format_of

    format_of(data, options)
    from protolabel.workflows.model_folder import load_trained
    from protolabel.workflows.new_rows import read_rows

    tell = common.messenger(quiet=quiet)
    common.limit_threads(jobs)
    with common.plain_warnings(tell):
        trained = load_trained(model)
        names = trained.label_names
        with common.usage_errors():
            check_separator(names, form)
            check_kept(common.split_names(keep), names, form)
        rows = read_rows(data, trained.inputs, names, options, keep=common.split_names(keep))
        for note in rows.notes:
            tell(f"Note: {note}")
        said = predicted_rows(trained, rows.X, form)
        if output is not None:
            with _opened(output) as file:
                write_predictions(file, names, said, form, rows.kept)
        elif not as_json:
            text = io.StringIO()
            write_predictions(text, names, said, form, rows.kept)
            sys.stdout.write(text.getvalue())
    if as_json:
        answer = {
            "n_rows": rows.X.shape[0],
            "label_names": names,
            "form": form.form,
            "output": None if output is None else str(output),
            "rows": None if output is not None else list(said),
            "notes": rows.notes,
        }
        common.print_json("predict", answer)
    elif output is not None:
        tell(f"{common.counted(rows.X.shape[0], 'row')} written to {output}")


@contextmanager
def _opened(output: Path) -> Iterator[TextIO]:
    """Give a file to write to: a pipe or device itself, else one that appears when it is whole."""
    from protolabel.datasets.writers.atomic import replace_when_done
    from protolabel.safefiles.places import is_stream, open_stream

    if is_stream(output):
        with _named(output), open_stream(output) as file:
            yield file
        return
    with (
        replace_when_done(output.absolute()) as partial,
        partial.open("w", encoding="utf-8", newline="") as file,
    ):
        yield file
    _as_readable_as_others(output)


@contextmanager
def _named(stream: Path) -> Iterator[None]:
    """Say which stream it was that took no more; one that nobody reads is no error of its own."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(
            f"{stream} cannot be written to ({error.strerror}); choose another place."
        ) from error


def _as_readable_as_others(path: Path) -> None:
    """Give a file that began as a private one the rights that the umask says."""
    import os

    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)
