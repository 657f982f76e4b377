"""Templates compared with Debian's python3-jinja2: the same text, or both refuse."""
import copy
import json
import os
import pathlib
import subprocess

import jinja2
import pytest

import cases

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROBE = os.environ.get("TEMPLATE_PROBE") or str(ROOT / "build/sanitized/tests/template/template_probe")

# What differs by design, as docs/templates.md lists it: (template, what Baton prints; None = it refuses).
DIFFERENT = [
    ("{{ deep.items }}", "[1, 2]"),
    ("{{ 'a'.upper }}", ""),
    ("{{ list|map('string') }}", "['3', '1', '2']"),
    ("{{ 9223372036854775807 + 1 }}", None),
    ("{{ 99999999999999999999 }}", None),
    ("{{ list.append(4) }}", None),
    ("{{ 'x'.__class__ }}", ""),
    ("{{ ''.__class__.__mro__ }}", None),
    ("{{ list|random }}", None),
    ("{{ 'a {}'.format(1) }}", None),
    ("{% set p = {'a': 1} %}{{ '%s'|format(*[1]) }}", None),
    ("{% extends 'part.md' %}", None),
    ("{% block a %}x{% endblock %}", None),
    ("{% import 'part.md' as p %}x", None),
    ("{{ neg ** 0.5 }}", None),
]


class Probe:
    def __init__(self):
        self.process = subprocess.Popen([PROBE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def render(self, source, data=None, files=None, **options):
        return self.ask(source=source, data=cases.DATA if data is None else data,
                        files=cases.FILES if files is None else files, **options)

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(120) == 0


@pytest.fixture(scope="module")
def probe():
    probe = Probe()
    yield probe
    probe.close()


def reference(source, strict=False, **options):
    """What Jinja2 prints, or None and why it refuses."""
    environment = jinja2.Environment(loader=jinja2.DictLoader(cases.FILES),
                                     undefined=jinja2.StrictUndefined if strict else jinja2.Undefined, **options)
    try:
        return environment.from_string(source).render(**copy.deepcopy(cases.DATA)), None
    except Exception as refusal:  # any exception is a refusal
        return None, repr(refusal)


def differences(probe, templates):
    found = []
    for source, options in templates:
        expected, refusal = reference(source, **options)
        answer = probe.render(source, **options)
        if answer.get("text") != expected:
            found.append("%s %s\n  jinja2: %r %s\n  baton:  %r %s" % (source, options or "", expected, refusal or "", answer.get("text"),
                                                                    answer.get("error", "")))
    return found


def check(probe, templates, least):
    templates = list(templates)
    assert len(templates) >= least
    found = differences(probe, templates)
    assert not found, "%d of %d differ:\n%s" % (len(found), len(templates), "\n".join(found[:40]))


def test_written_templates_render_as_in_jinja2(probe):
    check(probe, [(source, {}) for source in cases.WRITTEN] + cases.LONG, 250)


def test_generated_templates_render_as_in_jinja2(probe):
    check(probe, [(source, {}) for source in cases.generated()], 3000)


def test_errors_are_among_the_templates():
    refused = [source for source in cases.WRITTEN if reference(source)[0] is None]
    assert len(refused) > 80


@pytest.mark.parametrize("source, text", DIFFERENT)
def test_differences_by_design(probe, source, text):
    assert probe.render(source).get("text") == text
    assert reference(source)[0] != text or (text is None and reference(source)[0] is None)


def test_differences_are_documented():
    manual = (ROOT / "docs/templates.md").read_text(encoding="utf-8")
    for source, _ in DIFFERENT:
        assert source.replace("|", "\\|") in manual or source in manual, source


def test_every_error_has_the_place(probe):
    for source in cases.WRITTEN:
        error = probe.render(source).get("error")
        if error is not None:
            file, line, column, _ = error.split(":", 3)
            assert file in {"main", *cases.FILES} and int(line) >= 1 and int(column) >= 1, error


@pytest.mark.parametrize("source, place, words", [
    ("a\nb {{ x|uper }}", "main:2:8", 'unknown filter "uper"; did you mean "upper"?'),
    ("{% fro x in y %}{% endfor %}", "main:1:4", 'unknown tag "fro"; did you mean "for"?'),
    ("{{ x is defned }}", "main:1:9", 'unknown test "defned"; did you mean "defined"?'),
    ("x\n{% if a %}\n", "main:2:4", "if has no end: {% endif %} is missing"),
    ("{{ user.name }}", "main:1:8", '"user" is undefined, so it has no "name"'),
    ("{% include 'broken.md' %}", "broken.md:1:7", "expected a value, not %}"),
    ("{{ 1 + 'a' }}", "main:1:6", "+ cannot be applied to an integer and a string"),
    ("{{ a | replace('x') }}", "main:1:8", "replace needs 2 arguments: old new count"),
    ("{% extends 'x' %}", "main:1:4", "the tag extends is not supported"),
])
def test_errors_name_the_place_and_the_fix(probe, source, place, words):
    assert probe.render(source)["error"] == "%s: %s" % (place, words)


@pytest.mark.parametrize("source, files, words", [
    ("{% include 'a' %}", {"a": "{% include 'a' %}"}, "include or call itself"),
    ("{% include 'a' %}", {"a": "{% include 'b' %}", "b": "{% include 'a' %}"}, "include or call itself"),
    ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", {}, "nested more than"),
    ("{% for a in range(1000) %}{% for b in range(1000) %}{% for c in range(1000) %}{% endfor %}{% endfor %}{% endfor %}", {}, "the template takes more than"),
    ("{% for a in range(9000) %}{{ 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 }}"
     "{% endfor %}", {}, "more than 500000 steps"),
    ("{{ range(999999999)|list }}", {}, "the range has 999999999 items"),
    ("{{ 'x' * 999999999 }}", {}, "larger than 1048576 bytes"),
    ("{{ [0] * 999999999 }}", {}, "too many items"),
    ("{% set x = 'aaaaaaaaaa' %}" + "{% set x = x ~ x ~ x ~ x %}" * 20 + "{{ x }}", {}, "larger than 1048576 bytes"),
    ("{% for i in range(100000) %}{{ 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' }}{% endfor %}", {}, "larger than 1048576 bytes"),
    ("{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = ns.l + ns.l %}{% endfor %}", {}, "bytes of memory"),
    ("{{ 'x'|center(999999999) }}", {}, "larger than 1048576 bytes"),
    ("{{ '%999999999d'|format(1) }}", {}, "wider than 1000"),
    ("{{ 'a'|replace('', 'x' * 1000000)|replace('', 'x' * 1000000) }}", {}, "larger than 1048576 bytes"),
    ("{{ " + "(" * 200 + "1" + ")" * 200 + " }}", {}, "deep"),
    ("{{ " + "-" * 200 + "1 }}", {}, "deep"),
    ("{% if t %}" * 100 + "{% endif %}" * 100, {}, "deep"),
    ("{{ 1" + "|abs" * 200 + " }}", {}, "filters"),
    ("{{ 1" + "+1" * 200 + " }}", {}, "operators in a row"),
    ("{{ a" + ".b" * 200 + " }}", {}, "deep"),
    ("x" * 1048577, {}, "the template has 1048577 bytes; the limit is 1048576"),
    ("{{ 1 }}" * 60000, {}, "more than 100000 parts"),
    ("{% set ns = namespace() %}{% for i in range(9999999) %}{% endfor %}", {}, "items"),
])
def test_exploding_templates_end_with_an_error(probe, source, files, words):
    answer = probe.render(source, files=files)
    assert words in answer.get("error", ""), answer


def test_output_of_a_model_is_never_a_template(probe):
    answer = "{{ inputs.secret }} {% include 'part.md' %} {# x #}"
    data = {"answer": answer, "inputs": {"secret": "s"}, "many": [answer]}
    assert probe.render("{{ answer }}|{{ many|join }}|{% set x = answer %}{{ x }}", data=data)["text"] == "|".join([answer] * 3)


@pytest.mark.parametrize("source, names", [
    ("{{ inputs.a }} {{ steps.one.outputs.text }} {{ steps['two'].status }} {{ ctx.x|upper }}",
     ["inputs.a", "steps.one.outputs.text", "steps.two.status", "ctx.x"]),
    ("{% set x = 1 %}{{ x }}{{ y }}", ["y"]),
    ("{% for i in rows %}{{ i }}{{ loop.index }}{{ other }}{% else %}{{ i }}{% endfor %}", ["rows", "other", "i"]),
    ("{% if a %}{% set x = 1 %}{% endif %}{{ x }}", ["a", "?x"]),
    ("{% macro m(p, q=d) %}{{ p }}{{ caller() }}{{ varargs }}{{ z }}{% endmacro %}{{ m(1) }}", ["d", "z"]),
    ("{% with a = b %}{{ a }}{% endwith %}{{ range(3) }}{{ steps[n] }}", ["b", "steps", "n"]),
    ("{% include 'part.md' %}", ["name", "x"]),
    ("{% set name = 1 %}{% include 'folder/deep.md' %}", ["x"]),
    ("{% include 'part.md' without context %}", []),
    ("{% include 'nope.md' ignore missing %}{{ a if b else c }}{{ d[e:f] }}{{ g(h, i=j) }}{{ k is in l }}{{ {m: o} }}",
     ["b", "a", "c", "d", "e", "f", "g", "h", "j", "k", "l", "m", "o"]),
    ("{% for x in a if x.b and c %}{% endfor %}{% call(p) q() %}{{ p }}{{ r }}{% endcall %}{% filter replace(s, 't') %}{{ u }}{% endfilter %}",
     ["a", "c", "q", "r", "s", "u"]),
    ("{% set b %}{{ inner }}{% endset %}{{ b }}", ["inner"]),
])
def test_names_that_a_template_reads(probe, source, names):
    answer = probe.ask(source=source, files=cases.FILES, names=True)
    assert sorted(answer["names"]) == sorted(names), answer


@pytest.mark.parametrize("source, error", [
    ("{% include x %}", "main:1:4: include needs the name of a template in quotes here"),
    ("{% include 'nope.md' %}", "main:1:4: cannot include \"nope.md\""),
    ("a\n{{ refused.x }}", "main:2:4: the name is refused"),
    ("{% include 'broken.md' %}", "broken.md:1:7: expected a value"),
])
def test_names_that_are_refused(probe, source, error):
    assert probe.ask(source=source, files=cases.FILES, names=True)["error"].startswith(error)
