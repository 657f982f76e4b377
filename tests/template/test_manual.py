"""docs/templates.md: every filter and test is there, and every example gives what it says."""
import pathlib
import re

import pytest

from test_jinja import Probe

ROOT = pathlib.Path(__file__).resolve().parents[2]
MANUAL = (ROOT / "docs/templates.md").read_text(encoding="utf-8")


def section(name):
    return MANUAL.split("## %s\n" % name, 1)[1].split("\n## ", 1)[0]


def rows(name):
    for line in section(name).splitlines():
        cells = [cell.strip().strip("`").replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 4 and cells[0] not in ("name", "---"):
            yield cells


def declared(file):
    text = (ROOT / "src/template" / file).read_text(encoding="utf-8")
    return re.findall(r"^(?:FILTER|VARIADIC|TEST|OPERATOR)\((\w+),", text, re.M)


@pytest.mark.parametrize("name, file", [("Filters", "filters.def"), ("Tests", "tests.def")])
def test_every_name_is_documented_with_an_example_that_works(name, file):
    probe = Probe()
    assert [row[0] for row in rows(name)] == declared(file) == sorted(declared(file))
    for _, _, example, expected in rows(name):
        assert probe.render(example, data={}).get("text", "").strip() == expected.strip(), example
    probe.close()


def test_the_limits_are_those_of_the_program():
    limits = (ROOT / "contracts/limits.def").read_text(encoding="utf-8")
    values = dict(re.findall(r"LIMIT\(TEMPLATE_(\w+), +(\d+),", limits))
    assert values == {"BYTES": "1048576", "NODES": "100000", "NESTING": "64", "DEPTH": "400", "INCLUDES": "256", "STEPS": "500000",
                      "MEMORY_BYTES": "33554432", "OUTPUT_BYTES": "1048576"}
    for shown in ("1 MiB", "100,000", "| 64 |", "| 400 |", "| 256 |", "500,000", "32 MiB"):
        assert shown in section("Limits")
