"""The speed suites one after another, each in a process of its own, and their comparison.

    python benchmarks/run.py                     # all suites, into build/benchmarks/
    python benchmarks/run.py training --quick    # one suite, fewer repeats
    python benchmarks/run.py --list
    python benchmarks/run.py --compare old.json new.json

A suite that breaks does not keep the others from running, but the command fails. A missed
target is shown, and fails the command with ``--strict``. The other files in this folder are
studies to be run by hand.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measure import FORMAT, describe_machine, write_json

HERE = Path(__file__).parent
# In the order in which they run.
SUITES = (
    "training",
    "literal",
    "mlp",
    "prediction",
    "scaling",
    "memory",
    "startup",
)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join(SUITES))
    parser.add_argument("--quick", action="store_true", help="fewer and smaller runs")
    parser.add_argument("--threads", type=int, default=1, help="of every suite, 1 by default")
    parser.add_argument("--strict", action="store_true", help="fail when a target is missed")
    parser.add_argument("--json", type=Path, help="where to write the ratios")
    parser.add_argument("--list", action="store_true", help="name the suites")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("OLD", "NEW"))
    options = parser.parse_args()
    if options.list:
        print("\n".join(SUITES))
        return 0
    if options.compare:
        print("\n".join(comparison(*(read(path) for path in options.compare))))
        return 0
    unknown = sorted(set(options.suites) - set(SUITES))
    if unknown:
        parser.error(f"unknown suite {', '.join(unknown)}; use one of {', '.join(SUITES)}")
    return run(options.suites or SUITES, options)


def run(names: tuple[str, ...] | list[str], options: argparse.Namespace) -> int:
    """Run suites, print their ratios, write one file; the exit code."""
    machine = describe_machine() | {"threads": options.threads}
    print(f"{machine['cpu']}, {options.threads} thread(s), load {machine['load_before']:.1f}")
    suites: dict[str, Any] = {}
    broken = []
    for name in names:
        print(f"\n{name}", flush=True)
        found = run_one(name, options)
        if found is None:
            broken.append(name)
        else:
            suites[name] = {key: found[key] for key in ("seconds", "quick", "ratios")}
    target = options.json or _default_path(machine)
    content = {"format": FORMAT, "machine": machine, "suites": suites}
    write_json(target, content | {"written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())})
    ratios = [ratio for suite in suites.values() for ratio in suite["ratios"]]
    missed = [ratio["name"] for ratio in ratios if ratio["met"] is False]
    print(f"\n{len(ratios)} ratios, {len(missed)} targets missed; written to {target}")
    for name in broken:
        print(f"The suite {name} did not run to its end.", file=sys.stderr)
    return 1 if broken or (options.strict and missed) else 0


def run_one(name: str, options: argparse.Namespace) -> dict[str, Any] | None:
    """Results of one suite, None when it broke."""
    threads = str(options.threads)
    limits = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), threads)
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "ratios.json"
        command = [sys.executable, str(HERE / f"{name}.py"), "--json", str(result)]
        command += ["--quick"] if options.quick else []
        done = subprocess.run(command, env={**os.environ, **limits}, check=False)
        if done.returncode != 0:
            return None
        found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    return found


def read(path: Path) -> dict[str, Any]:
    """Results of an earlier run."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if content.get("format") != FORMAT or "suites" not in content:
        raise SystemExit(f"{path} holds no benchmark run; pass a file written by this command.")
    return content


def comparison(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Lines of a table: each ratio in both runs, and the new one over the old one."""
    before, after = _by_name(old), _by_name(new)
    lines = [
        f"old: {old['machine']['commit']}, {old['machine']['cpu']}",
        f"new: {new['machine']['commit']}, {new['machine']['cpu']}",
        f"{'':68s} {'old':>9s} {'new':>9s} {'new/old':>8s}",
    ]
    for name in dict.fromkeys([*before, *after]):
        a, b = before.get(name), after.get(name)
        shown = [f"{value:9.3g}" if value is not None else f"{'-':>9s}" for value in (a, b)]
        change = f"{b / a:8.2f}" if a and b is not None else f"{'-':>8s}"
        lines.append(f"{name:68s} {' '.join(shown)} {change}")
    return lines


def _by_name(content: dict[str, Any]) -> dict[str, float]:
    return {
        f"{suite}: {ratio['name']}": ratio["value"]
        for suite, found in content["suites"].items()
        for ratio in found["ratios"]
    }


def _default_path(machine: dict[str, Any]) -> Path:
    name = f"{machine['versions']['protolabel']}-{machine['commit']}.json"
    return HERE.parent / "build" / "benchmarks" / name


if __name__ == "__main__":
    sys.exit(main())
