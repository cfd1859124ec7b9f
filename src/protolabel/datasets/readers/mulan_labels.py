"""The label list that comes with a Mulan ARFF file, an XML file."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import ParseError

from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException

from protolabel.datasets.lines import problem_at
from protolabel.exceptions import DatasetError

_MAX_XML_BYTES = 64 * 1024 * 1024


def read_label_names(path: Path) -> list[str]:
    """Read the names of the labels, nested ones included, in document order.

    Parameters
    ----------
    path : Path
        XML file with ``<label name="...">`` elements.

    Returns
    -------
    list of str
        The names, all different.

    Raises
    ------
    DatasetError
        When the file is not well formed, repeats or lacks a name, or declares entities or
        external references.
    """
    try:
        size = path.stat().st_size
        content = path.read_bytes() if size <= _MAX_XML_BYTES else b""
    except OSError as error:
        raise DatasetError(f"{path} cannot be opened ({error.strerror or error})") from error
    if size > _MAX_XML_BYTES:
        raise problem_at(path, 1, f"{size} bytes; a label list has at most {_MAX_XML_BYTES}")
    try:
        root = ElementTree.fromstring(content, forbid_dtd=True)
    except DefusedXmlException as error:
        raise problem_at(
            path, 1, f"declares entities or external references, which are refused ({error})"
        ) from error
    except ParseError as error:
        raise problem_at(path, error.position[0], f"is not well-formed XML ({error})") from error
    except (ValueError, LookupError) as error:
        raise problem_at(path, 1, f"is not readable XML ({error})") from error
    names: dict[str, None] = {}
    for element in root.iter():
        if not isinstance(element.tag, str) or element.tag.rpartition("}")[2] != "label":
            continue
        name = element.get("name")
        if name is None:
            raise problem_at(path, 1, "has a <label> without a name attribute")
        if name in names:
            raise problem_at(path, 1, f"lists label {name!r} twice")
        names[name] = None
    if not names:
        raise problem_at(path, 1, 'has no <label name="..."> element; is it the label list?')
    return list(names)
