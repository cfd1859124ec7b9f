"""A search with a fixed number of trials, by Optuna, that goes on where it was stopped.

Trials are kept in a journal file. The sampler is seeded anew for each trial by the number of
trials finished before it: what a trial proposes depends on the seed and on the earlier results
alone, so that an interrupted search ends with the same choice as an undisturbed one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from protolabel.experiments.grid_search import cut_unfinished_line
from protolabel.experiments.inner_folds import InnerFolds, Params, plain_space
from protolabel.experiments.record import Search
from protolabel.methods import Space

if TYPE_CHECKING:
    import optuna

N_STARTUP_TRIALS = 5


def search_with_budget(
    inner: InnerFolds, space: Space, *, n_trials: int, seed: int, storage: Path | None = None
) -> tuple[Params, Search]:
    """Best candidate of a number of trials by the tree-structured Parzen estimator.

    After each inner fold a trial is given up when its mean so far is below the median of the
    earlier trials at that fold.

    Parameters
    ----------
    inner : InnerFolds
        Scores candidates.
    space : mapping of str to sequence
        Values to choose from; ordered numbers are searched as such.
    n_trials : int
        Budget, trials of earlier, interrupted calls included.
    seed : int
        Seed of the search.
    storage : Path, default=None
        Journal file of the trials; None keeps them in memory.

    Returns
    -------
    params : dict
        The chosen values.
    search : Search
        What was looked at.

    References
    ----------
    Akiba, Sano, Yanase, Ohta, Koyama. Optuna: a next-generation hyperparameter optimization
    framework. KDD 2019.
    """
    optuna = import_optuna()
    states = optuna.trial.TrialState
    study = optuna.create_study(
        study_name="search",
        storage=None if storage is None else _open_journal(storage),
        direction="maximize",
        load_if_exists=True,
        pruner=optuna.pruners.MedianPruner(n_startup_trials=N_STARTUP_TRIALS),
    )
    for trial in study.get_trials(deepcopy=False, states=(states.RUNNING,)):
        study.tell(trial.number, state=states.FAIL)  # its process was killed
    finished = (states.COMPLETE, states.PRUNED)
    while (n_done := len(study.get_trials(deepcopy=False, states=finished))) < n_trials:
        study.sampler = optuna.samplers.TPESampler(
            seed=int(np.random.SeedSequence([seed, n_done]).generate_state(1)[0]),
            n_startup_trials=N_STARTUP_TRIALS,
        )
        _run_trial(study, inner, space)
    trials = study.get_trials(deepcopy=False, states=finished)
    best = study.best_trial
    return _params_of(best, space), Search(
        space=plain_space(space),
        n_candidates=len({tuple(sorted(trial.params.items())) for trial in trials}),
        n_pruned=sum(trial.state == states.PRUNED for trial in trials),
        best_value=float(best.value),
    )


def _run_trial(study: optuna.Study, inner: InnerFolds, space: Space) -> None:
    """Score one proposal fold by fold, and give it up where it falls behind."""
    optuna = import_optuna()
    states = optuna.trial.TrialState
    trial = study.ask(_distributions(space))
    for earlier in study.get_trials(deepcopy=False, states=(states.COMPLETE, states.PRUNED)):
        if earlier.params == trial.params:  # grids are small: it costs nothing a second time
            for step, value in earlier.intermediate_values.items():
                trial.report(value, step)
            is_complete = earlier.state == states.COMPLETE
            study.tell(trial, earlier.value if is_complete else None, state=earlier.state)
            return
    params = _params_of(trial, space)
    values: list[float] = []
    for fold in range(len(inner.folds)):
        values.append(inner.score(params, fold))
        trial.report(float(np.mean(values)), step=fold)
        if fold + 1 < len(inner.folds) and trial.should_prune():
            study.tell(trial, state=states.PRUNED)
            return
    study.tell(trial, float(np.mean(values)))


def _distributions(space: Space) -> dict[str, Any]:
    """Positions in the list of values; as a range where the values have an order."""
    optuna = import_optuna()
    return {
        name: (
            optuna.distributions.IntDistribution(0, len(values) - 1)
            if _is_ordered(values)
            else optuna.distributions.CategoricalDistribution(range(len(values)))
        )
        for name, values in space.items()
    }


def _is_ordered(values: Sequence[Any]) -> bool:
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    return numbers and list(values) in (sorted(values), sorted(values, reverse=True))


def _params_of(trial: Any, space: Space) -> Params:
    return {name: values[trial.params[name]] for name, values in space.items()}


def _open_journal(path: Path) -> Any:
    """Open the file of a study; the claim on the unit keeps other processes away from it."""
    from optuna.storages import JournalStorage  # noqa: PLC0415
    from optuna.storages.journal import JournalFileBackend  # noqa: PLC0415

    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        cut_unfinished_line(path)
    lock: Any = _NoLock()
    return JournalStorage(JournalFileBackend(str(path), lock_obj=lock))


class _NoLock:
    """In place of Optuna's own lock, which outlives a killed process by half a minute."""

    def acquire(self) -> bool:
        return True

    def release(self) -> None:
        return


def import_optuna() -> Any:
    """Import Optuna, or say how to get it."""
    try:
        import optuna  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "A search with a number of trials needs Optuna, which is not installed; "
            "install it with `pip install protolabel[tune]`, or use tuning=grid."
        ) from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna
