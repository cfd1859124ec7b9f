"""The directive ``example``: a script of the folder ``examples``, what it prints and writes.

The script is run when its page is read, without benchmark files at hand; one that fails ends the
build. Pages that it writes become part of the site.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from markupsafe import escape
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

SCRIPTS = Path(__file__).parent.parent.parent / "examples"
FOLDER = "_examples"
_SECONDS = 900


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive, and copy the pages once the site is written.

    ``-D run_examples=0`` shows the code alone, for a quick look at other pages.
    """
    app.add_config_value("run_examples", True, "env", [bool])
    app.add_directive("example", Example)
    app.connect("build-finished", _copy_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


class Example(SphinxDirective):
    """Show code, output and page of one example, named without its suffix."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Run the script and return what to show."""
        name = self.arguments[0]
        script = SCRIPTS / f"{name}.py"
        if not script.is_file():
            raise self.error(f"there is no example {script}")
        self.env.note_dependency(str(script))
        code = script.read_text(encoding="utf-8")
        shown: list[nodes.Node] = [
            nodes.rubric(text="Code"),
            nodes.literal_block(code, code, language="python"),
        ]
        return [*self._results(name, script), *shown] if self.config.run_examples else shown

    def _results(self, name: str, script: Path) -> list[nodes.Node]:
        """What the script prints and writes, which is what most readers came for."""
        folder = Path(self.env.app.doctreedir) / FOLDER / name
        output = run_example(script, folder)
        shown: list[nodes.Node] = [
            nodes.rubric(text="Output"),
            nodes.literal_block(output, output, language="text"),
        ]
        up = "../" * self.env.docname.count("/")
        for page in sorted(folder.glob("*.html")):
            address = escape(f"{up}{FOLDER}/{page.name}")
            shown += [nodes.rubric(text="Page"), nodes.raw("", _frame(address), format="html")]
        return shown


def run_example(script: Path, folder: Path) -> str:
    """Run a script that writes into an empty folder, and return what it prints.

    Parameters
    ----------
    script : Path
        The example.
    folder : Path
        Emptied first, and given to the script.

    Returns
    -------
    str
        Its standard output.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = os.environ | {"PROTOLABEL_CACHE": str(folder / "no-cache"), "COLUMNS": "100"}
    environment.pop("PROTOLABEL_DATA", None)
    environment.setdefault("OMP_NUM_THREADS", "1")
    done = subprocess.run(
        [sys.executable, str(script), str(folder)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=_SECONDS,
    )
    if done.returncode != 0:
        raise ExtensionError(f"{script} ended with code {done.returncode}:\n{done.stderr}")
    return done.stdout


def _frame(address: str) -> str:
    return (
        f'<p><a href="{address}">Open the page that it wrote</a></p>\n'
        f'<iframe class="written-page" src="{address}" title="The page that the example wrote" '
        'loading="lazy"></iframe>\n'
    )


def _copy_pages(app: Sphinx, problem: Exception | None) -> None:
    if problem is not None or app.builder.format != "html":
        return
    target = Path(app.outdir) / FOLDER
    for page in (Path(app.doctreedir) / FOLDER).glob("*/*.html"):
        target.mkdir(exist_ok=True)
        shutil.copy(page, target / page.name)
