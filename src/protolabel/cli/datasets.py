"""``protolabel datasets``: list, describe, fetch, convert and verify data."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from protolabel.cli import common, places

if TYPE_CHECKING:
    from protolabel.datasets import DatasetSpec

app = typer.Typer(
    help="Multi-label data: list, info, fetch, convert, verify.", no_args_is_help=True
)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
DataHome = Annotated[
    Path | None,
    typer.Option("--data-home", help="Folder to use instead of PROTOLABEL_DATA and the cache."),
]


@app.command("list")
def list_command(as_json: AsJson = False) -> None:
    """List the datasets of the catalogue and where each can be loaded from."""
    from protolabel.datasets import CATALOGUE

    rows = [
        {
            "name": spec.name,
            "domain": spec.domain,
            "n_samples": spec.n_samples,
            "n_features": spec.n_features,
            "n_labels": spec.n_labels,
            "cardinality": spec.cardinality,
            "in_paper": spec.is_in_paper,
            "available": _availability(spec),
        }
        for spec in CATALOGUE
    ]
    if as_json:
        common.print_json("datasets list", rows)
        return
    typer.echo(
        f"{'name':<24}{'samples':>8}{'features':>9}{'labels':>7}{'cardinality':>12}"
        f"  {'available':<11}domain"
    )
    for row in rows:
        typer.echo(
            f"{row['name']:<24}{row['n_samples']:>8}{row['n_features']:>9}{row['n_labels']:>7}"
            f"{row['cardinality']:>12.3f}  {row['available']:<11}{row['domain']}"
        )


@app.command("info")
def info_command(name: str, as_json: AsJson = False, data_home: DataHome = None) -> None:
    """Describe a dataset, with measured statistics when its files are here."""
    from protolabel.datasets import find_spec, load_dataset

    spec = find_spec(name)
    available = _availability(spec, data_home)
    result: dict[str, Any] = {
        "name": spec.name,
        "domain": spec.domain,
        "declared": {
            "n_samples": spec.n_samples,
            "n_features": spec.n_features,
            "n_labels": spec.n_labels,
            "cardinality": spec.cardinality,
        },
        "citation": spec.citation,
        "licence": spec.licence,
        "sources": list(spec.sources),
        "notes": list(spec.notes),
        "available": available,
    }
    if available in ("package", "files"):
        dataset = load_dataset(name, data_home=data_home)
        result["measured"] = dataset.summary().as_dict()
        result["source"] = dataset.provenance.source
        result["notes"] = list(dataset.provenance.notes)
    if as_json:
        common.print_json("datasets info", result)
        return
    for key, value in result.items():
        if isinstance(value, dict):
            typer.echo(f"{key}:")
            for part, number in value.items():
                typer.echo(
                    f"  {part}: {number:.4g}" if _is_float(number) else f"  {part}: {number}"
                )
        elif isinstance(value, list):
            typer.echo(f"{key}:")
            for item in value:
                typer.echo(f"  - {item}")
        else:
            typer.echo(f"{key}: {value}")


@app.command("fetch")
def fetch_command(name: str, as_json: AsJson = False, data_home: DataHome = None) -> None:
    """Make sure a dataset can be loaded, downloading it if need be."""
    from protolabel.datasets import load_dataset

    dataset = load_dataset(name, data_home=data_home)
    if as_json:
        common.print_json(
            "datasets fetch", {"name": dataset.name, "source": dataset.provenance.source}
        )
        return
    typer.echo(f"{dataset.name}: {dataset.provenance.source}")


@app.command("convert")
def convert_command(
    source: Annotated[str, typer.Argument(help="File to read, or a name of the catalogue.")],
    target: Annotated[Path, typer.Argument(help="File to write: .arff[.gz], .npz or .txt[.gz].")],
    *,
    labels: Annotated[
        str | None,
        common.names_option(
            "label", "XML label list, file of label names, or label columns a,b,c."
        ),
    ] = None,
    tags: common.Tags = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Read one format and write another."""
    common.check_one_source_of_labels(labels, tags)
    writer = _writer_for(target)
    _check_place(target, force=force)
    dataset = _read(source, labels, tags)
    writer(dataset, target)
    if dataset.split is not None:
        typer.echo(
            f"Note: the split of {dataset.name} is not in {target}, which has rows alone.", err=True
        )
    summary = dataset.summary()
    result = {
        "source": source,
        "target": str(target),
        "n_samples": summary.n_samples,
        "n_features": summary.n_features,
        "n_labels": summary.n_labels,
        "cardinality": summary.cardinality,
        "notes": list(dataset.provenance.notes),
    }
    if as_json:
        common.print_json("datasets convert", result)
        return
    typer.echo(
        f"{target}: {common.counted(summary.n_samples, 'sample')}, "
        f"{common.counted(summary.n_features, 'feature')}, "
        f"{common.counted(summary.n_labels, 'label')}"
    )


@app.command("verify")
def verify_command(
    names: Annotated[list[str] | None, typer.Argument(help="Datasets; default: all.")] = None,
    as_json: AsJson = False,
    data_home: DataHome = None,
) -> None:
    """Check files against checksums and declared statistics; exit 3 when one differs."""
    from protolabel.datasets import CATALOGUE, find_spec
    from protolabel.datasets.verification import verify_dataset

    specs = [find_spec(name) for name in names] if names else list(CATALOGUE)
    reports = [verify_dataset(spec, data_home) for spec in specs]
    if as_json:
        common.print_json("datasets verify", [report.as_dict() for report in reports])
    else:
        for report in reports:
            typer.echo(f"{report.name:<24}{report.status:<9}{'; '.join(report.problems)}")
    if any(report.status == "differs" for report in reports):
        raise typer.Exit(3)


def _availability(spec: DatasetSpec, data_home: Path | None = None) -> str:
    """Tell where a dataset would be loaded from: package, files, download or nowhere yet."""
    from protolabel.datasets.folders import find_main_file
    from protolabel.datasets.loading import data_homes, uses_bundled_copy

    if uses_bundled_copy(spec, data_home):
        return "package"
    homes = data_homes(data_home)
    if any(find_main_file(spec, home / spec.data_folder) is not None for home in homes):
        return "files"
    return "download" if spec.remote else "by hand"


def _read(source: str, labels: str | None, tags: str | None) -> Any:
    """Read a file or load a name, and put the messages of reading on stderr."""
    from protolabel.datasets import load_dataset, read_dataset

    if not Path(source).exists():
        return load_dataset(source)
    given: Any = labels
    if labels is not None and not Path(labels).is_file():
        given = common.split_names(labels)
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        dataset = read_dataset(source, labels=given, tags=tags)
    for message in messages:
        typer.echo(str(message.message), err=True)
    return dataset


def _writer_for(target: Path) -> Any:
    """Choose the writer by the ending of the target."""
    from protolabel.datasets import write_mulan, write_npz, write_xmlc

    name = target.name.removesuffix(".gz")
    for ending, writer in ((".arff", write_mulan), (".txt", write_xmlc)):
        if name.endswith(ending):
            return writer
    if target.name.endswith(".npz"):
        return write_npz
    raise typer.BadParameter(f"{target.name} ends in none of .arff, .arff.gz, .npz, .txt, .txt.gz")


def _check_place(target: Path, *, force: bool) -> None:
    """Refuse, before any work, to write where something is."""
    from protolabel.exceptions import DatasetError
    from protolabel.safefiles.places import replaceable_file

    try:
        place = replaceable_file(target)
    except FileExistsError as error:
        raise DatasetError(str(error)) from error
    if place.exists() and not force:
        raise DatasetError(f"{target} exists; pass --force to replace it")
    if place.parent.is_dir():
        places.check_can_be_made(target)


def _is_float(value: object) -> bool:
    return isinstance(value, float)
