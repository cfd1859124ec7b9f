"""``protolabel published``: the paper's printed figures, counted again."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from protolabel.cli import common, places

if TYPE_CHECKING:
    from protolabel.experiments.published import PublishedTable, Recount

app = typer.Typer(no_args_is_help=True, help="The paper's printed figures, counted again.")

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
MetricOption = Annotated[
    str,
    typer.Option(
        help="accuracy, micro_f1, macro_f1, average_precision or ranking_loss.",
    ),
]
TableOption = Annotated[str, typer.Option(help="main or ablation.")]


@app.command("recount")
def recount_command(
    as_json: JsonFlag = False,
    all_pairs: Annotated[
        bool, typer.Option("--all-pairs", help="Also pairs that the paper does not compare.")
    ] = False,
) -> None:
    """Count wins, ranks and critical differences again from the printed values."""
    from protolabel.experiments.published import recount

    counted = recount()
    if as_json:
        common.print_json("published recount", _recount_as_dict(counted))
        return
    pairs = [pair for pair in counted.pairs if all_pairs or pair.printed is not None]
    _print_rows(
        "Win/tie/lose over datasets and metrics; superior if wins reach the threshold.",
        ["table", "method", "against", "printed", "recount", "threshold", "superior", "exact p"],
        [
            [
                pair.table,
                pair.method,
                pair.against,
                pair.printed or "-",
                str(pair.counted),
                f"{pair.counted.threshold:.3f}",
                "yes" if pair.counted.is_superior else "no",
                f"{pair.counted.p_value:.2g}",
            ]
            for pair in pairs
        ],
    )
    _print_rows(
        "Better than every baseline (printed for both modes).",
        ["method", "cases", "printed", "outright", "with ties"],
        [
            [
                best.method,
                str(best.n_cases),
                str(best.printed),
                str(best.outright),
                str(best.with_ties),
            ]
            for best in counted.best
        ],
    )
    _print_rows(
        "Average ranks; the paper gives tied methods the best of their ranks.",
        ["metric", "method", "printed", "best of ties", "mid-rank"],
        [
            [
                rank.metric,
                rank.method,
                f"{rank.printed:.2f}",
                f"{rank.competition_rank:.2f}",
                f"{rank.mid_rank:.2f}",
            ]
            for rank in counted.ranks
        ],
    )
    _print_rows(
        "Friedman test (Iman-Davenport F) and Nemenyi critical difference at 0.05.",
        ["metric", "methods", "datasets", "chi2", "p", "F", "p", "CD"],
        [
            [
                test.metric,
                str(test.n_methods),
                str(test.n_datasets),
                f"{test.friedman.chi_square:.2f}",
                f"{test.friedman.p_chi_square:.1e}",
                f"{test.friedman.f_statistic:.2f}",
                f"{test.friedman.p_f:.1e}",
                f"{test.critical_difference:.3f}",
            ]
            for test in counted.metrics
        ],
    )


@app.command("table")
def table_command(
    metric: MetricOption = "accuracy", table: TableOption = "main", as_json: JsonFlag = False
) -> None:
    """Print one metric of a table of the paper."""
    published = _table_or_usage_error(metric, table)
    if as_json:
        result = {
            "metric": metric,
            "table": table,
            "larger_is_better": published.larger_is_better,
            "datasets": published.datasets,
            "methods": published.methods,
            "values": published.values.tolist(),
        }
        common.print_json("published table", result)
        return
    direction = "larger" if published.larger_is_better else "smaller"
    _print_rows(
        f"{metric}, {table} table ({direction} is better).",
        ["dataset", *published.methods],
        [
            [dataset, *(f"{value:.3f}" for value in row)]
            for dataset, row in zip(published.datasets, published.values, strict=True)
        ],
    )


@app.command("diagram")
def diagram_command(
    output: Annotated[Path, typer.Option("--output", "-o", help="SVG file to write.")],
    metric: MetricOption = "accuracy",
    table: TableOption = "main",
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Draw the critical-difference diagram of one metric."""
    from protolabel.experiments.statistics import (
        critical_difference,
        critical_difference_diagram,
        rank_methods,
    )

    published = _table_or_usage_error(metric, table)
    places.check_new_file(output, force=force)
    ranks = rank_methods(published.values, larger_is_better=published.larger_is_better)
    means = dict(zip(published.methods, ranks.mean(axis=0).tolist(), strict=True))
    n_datasets, n_methods = published.values.shape
    difference = critical_difference(n_methods, n_datasets)
    title = f"{metric}: average rank on {n_datasets} datasets"
    output.write_text(critical_difference_diagram(means, difference, title=title), encoding="utf-8")
    typer.echo(f"wrote {output} (critical difference {difference:.3f})")


def _table_or_usage_error(metric: str, table: str) -> PublishedTable:
    """Load a table; a name that does not exist is a usage error."""
    from protolabel.experiments.published import published_table

    try:
        return published_table(metric, table=table)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def _recount_as_dict(counted: Recount) -> dict[str, Any]:
    """Add to the plain fields what a reader of the JSON would otherwise have to derive."""
    result = asdict(counted)
    for entry, pair in zip(result["pairs"], counted.pairs, strict=True):
        entry["counted"]["is_superior"] = pair.counted.is_superior
    return result


def _print_rows(title: str, header: list[str], rows: list[list[str]]) -> None:
    """Print an aligned table, numbers to the right."""
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    typer.echo(f"\n{title}")
    for row in [header, *rows]:
        cells = [
            cell.ljust(width) if not rows or not _is_number(rows[0][column]) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        typer.echo("  ".join(cells).rstrip())


def _is_number(text: str) -> bool:
    """Tell whether a cell should be right-aligned."""
    return text[:1].isdigit()
