"""Prompt templates: the command for their authors, and prompts of steps."""
import json
import pathlib

import pytest


def write(folder, **files):
    for name, text in files.items():
        path = pathlib.Path(folder, "prompts", name.replace("__", "/") + ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(pathlib.Path(folder, "prompts"))


# ---- baton template ----


def test_render_prints_the_text(home, tmp_path):
    folder = write(tmp_path, review="Review {{ inputs.title }}.\n{% include 'parts/rules.md' %}\n", parts__rules="Be {{ tone|default('kind') }}.\n")
    status, output, _ = home.cli("template", "render", f"{folder}/review.md", "--data", '{"inputs": {"title": "PR 7"}}')
    assert (status, output) == (0, "Review PR 7.\nBe kind.\n")
    values = tmp_path / "values.yaml"
    values.write_text("inputs: {title: PR 8}\ntone: strict\n")
    status, output, _ = home.cli("template", "render", f"{folder}/review.md", "--data", f"@{values}", "--json")
    assert status == 0 and json.loads(output) == {"text": "Review PR 8.\nBe strict."}
    status, output, errors = home.cli("template", "render", f"{folder}/review.md", "--strict")
    assert status == 2 and output == "" and 'review.md:1:17: "inputs" is undefined' in errors
    status, output, errors = home.cli("template", "render", f"{folder}/review.md", "--data", "[1]")
    assert status == 2 and "--data must be a mapping" in errors


def test_check_prints_problems_or_names(home, tmp_path):
    folder = write(tmp_path, good="{{ inputs.a }} {{ steps.draft.outputs.text }}", bad="one\n{{ x|uper }}")
    status, output, errors = home.cli("template", "check", f"{folder}/good.md", f"{folder}/bad.md")
    assert status == 2
    assert output == f"{folder}/good.md: ok; reads inputs.a, steps.draft.outputs.text\n"
    assert f'{folder}/bad.md:2:6: unknown filter "uper"; did you mean "upper"?' in errors


def test_includes_stay_in_the_folder(home, tmp_path):
    folder = write(tmp_path, up="{% include '../secret.md' %}", link="{% include 'linked.md' %}", absolute="{% include '/etc/passwd' %}")
    (tmp_path / "secret.md").write_text("secret")
    pathlib.Path(folder, "linked.md").symlink_to(tmp_path / "secret.md")
    for name in ("up", "link", "absolute"):
        for command in ("render", "check"):
            status, output, errors = home.cli("template", command, f"{folder}/{name}.md")
            assert status == 2 and output == "" and "leaves the folder" in errors, (name, command, errors)


def test_a_template_of_10_mb_is_refused(home, tmp_path):
    folder = write(tmp_path, big="x" * 10_000_000)
    status, output, errors = home.cli("template", "render", f"{folder}/big.md")
    assert status != 0 and output == "" and "larger than the limit of 1048576 bytes" in errors


# ---- prompts of steps ----


REPLIES = [{"contains": "OK?", "text": "asked well"}, {"text": "asked badly"}]


def flow(step, agent="", before="", more=""):
    return f"""
name: asks
inputs:
  title: {{type: string, default: "PR 7"}}
  notes: {{type: array, default: []}}
  extra: {{type: string, required: false}}
agents:
  ada: {{driver: script, model: play, options: {{replies: {json.dumps(REPLIES)}}}{agent}}}
steps:
{before}
  - name: ask
    agent: ada
{step}
{more}
outputs: {{text: {{from: "${{steps.ask.outputs.text}}", optional: true}}}}
"""




def asked(home, server, yaml, inputs=None):
    run = server.run_of(home.define(yaml), inputs)
    return server.finish(run), json.dumps(server.get(f"/api/runs/{run}/conversation").body), server.events(run)


def test_a_prompt_file_is_rendered_with_what_the_step_can_read(home, server):
    write(home.data, review="{% include 'parts/head.md' %}\n{% for n in inputs.notes %}{{ loop.index }}:{{ n }} {% endfor %}"
                            "{{ steps.one.outputs.word|upper }} {{ steps.one.status }} {{ ctx.kept }} {{ diff|length }} {{ inputs.extra|default('none') }}",
          parts__head="OK? {{ inputs.title }}")
    before = "  - {name: one, tool: echo, inputs: {word: hi}, outputs: {word: kept}}\n"
    step = "    prompt_file: prompts/review.md\n    depends_on: [one]\n    inputs: {diff: 'abc${inputs.title}'}"
    result, talk, _ = asked(home, server, flow(step, before=before), {"notes": ["a", "b"]})
    assert result["status"] == "success" and result["outputs"] == {"text": "asked well"}
    assert "OK? PR 7\\n1:a 2:b HI success hi 7 none" in talk


def test_a_template_in_the_definition_and_of_the_system_prompt(home, server):
    write(home.data, system="You are {{ inputs.title|lower }}.")
    result, talk, events = asked(home, server, flow("    prompt_template: 'OK? {{ inputs.notes|join(\", \") }} ${inputs.title}'",
                                                    agent=", system_file: system.md"), {"notes": ["x", "y"]})
    assert result["outputs"] == {"text": "asked well"}
    (requested,) = [event["data"] for event in events if event["type"] == "turn.requested"]
    assert requested["request"]["is"]["system"] == "You are pr 7."
    assert requested["request"]["is"]["messages"] == [{"role": "user", "content": "OK? x, y ${inputs.title}"}]


def test_what_a_tool_or_model_has_put_out_is_never_a_template(home, server):
    output = "{{ inputs.title }}{% include 'x' %}{# ${inputs.title} #}"
    before = f"  - {{name: one, tool: echo, inputs: {{word: {json.dumps(output.replace('${', '$${'))}}}}}\n"
    result, _, events = asked(home, server, flow("    prompt_template: 'OK? {{ steps.one.outputs.word }}'\n    depends_on: [one]", before=before))
    assert result["status"] == "success"
    (requested,) = [event["data"] for event in events if event["type"] == "turn.requested"]
    assert requested["request"]["is"]["messages"][0]["content"] == "OK? " + output


def test_an_agent_with_tools_and_the_items_of_a_map(home, server):
    yaml = f"""
name: each
agents:
  ada: {{driver: script, model: play, options: {{replies: {json.dumps(REPLIES)}}}, tools: [echo], system_template: "{{{{ index }}}}"}}
steps:
  - name: all
    map:
      over: [{{n: 1}}, {{n: 2}}]
      as: thing
      steps:
        - {{name: ask, agent: ada, prompt_template: "OK? {{{{ thing.n }}}} of {{{{ index }}}}"}}
outputs: {{all: {{from: "${{steps.all.outputs}}"}}}}
"""
    run = server.run_of(home.define(yaml))
    result = server.finish(run)
    assert result["status"] == "success" and json.dumps(result["outputs"]).count("asked well") == 2
    talk = json.dumps(server.get(f"/api/runs/{run}/conversation").body)
    assert "OK? 1 of 0" in talk and "OK? 2 of 1" in talk


def test_a_run_keeps_the_prompts_that_it_began_with(home, server):
    folder = write(home.data, review="OK? {% include 'part.md' %}", part="old")
    before = "  - {name: gate, wait: {signal: go}}\n"
    run = server.run_of(home.define(flow("    prompt_file: review.md\n    depends_on: [gate]", before=before)))
    server.until(run, "timer.requested")
    write(home.data, review="changed", part="new")
    server.kill()
    server = home.serve()
    assert home.cli("signal", run, "go")[0] == 0
    assert server.finish(run)["outputs"] == {"text": "asked well"}
    requested = [event["data"] for event in server.events(run) if event["type"] == "turn.requested"]
    assert requested[0]["request"]["is"]["messages"][0]["content"] == "OK? old"
    again = server.run_of("asks")
    server.until(again, "timer.requested")
    assert home.cli("signal", again, "go")[0] == 0
    assert server.finish(again)["outputs"] == {"text": "asked badly"}
    assert pathlib.Path(folder, "part.md").read_text() == "new"


def test_check_reports_problems_of_templates_with_their_place(home, tmp_path):
    write(tmp_path, bad="one\n{{ x|uper }}", name="{{ input.title }}", other="{{ steps.nope.outputs.x }} {{ ctx.unset }}", inc="{% include 'bad.md' %}",
          big="x" * 10_000_000, dynamic="{% include inputs.title %}", good="{{ inputs.title }} {{ steps }}")
    pathlib.Path(tmp_path, "prompts", "link.md").symlink_to(tmp_path / "secret")
    (tmp_path / "secret").write_text("x")
    file = tmp_path / "asks.yaml"
    for name, words in [
        ("bad.md", 'prompts/bad.md:2:6: unknown filter "uper"; did you mean "upper"?'),
        ("name.md", 'prompts/name.md:1:4: unknown name "input"; did you mean "inputs"?'),
        ("other.md", "prompts/other.md:1:4: "), ("inc.md", "bad.md:2:6: unknown filter"),
        ("good.md", "prompts/good.md:1:23: a prompt can read single steps only"),
        ("big.md", "larger than the limit of 1048576 bytes"), ("nope.md", "there is no prompt file nope.md"),
        ("../secret", "leaves the folder"), ("link.md", "leaves the folder"), ("dynamic.md", "include needs the name of a template in quotes"),
    ]:
        file.write_text(flow(f"    prompt_file: {name}"))
        status, output, _ = home.cli("check", str(file))
        assert status == 2 and words in output and "/steps/0/prompt_file: " in output, (name, output)
        assert f"{file}:13:18: " in output, output


@pytest.mark.parametrize("step, words", [
    ("    prompt_file: a.md\n    prompt_template: x", "prompt_file or prompt_template, not both"),
    ("    prompt_template: x\n    inputs: {prompt: y}", "the step has the input prompt already"),
    ("    prompt_template: '{{ titel }}'", 'unknown name "titel"'),
])
def test_check_reports_prompts_that_cannot_be(home, tmp_path, step, words):
    file = tmp_path / "asks.yaml"
    file.write_text(flow(step))
    status, output, _ = home.cli("check", str(file))
    assert status == 2 and words in output


def test_only_an_agent_has_a_prompt(home, tmp_path):
    file = tmp_path / "odd.yaml"
    file.write_text("name: odd\nsteps:\n  - {name: a, tool: echo, prompt_template: x}\n")
    status, output, _ = home.cli("check", str(file))
    assert status == 2 and "/steps/0/prompt_template: only a step with an agent has a prompt" in output


def test_prompts_beside_a_file_that_is_run(home, tmp_path):
    write(tmp_path, review="OK? {{ inputs.title }}")
    file = tmp_path / "asks.yaml"
    file.write_text(flow("    prompt_file: prompts/review.md"))
    status, output, errors = home.cli("run", str(file))
    assert status == 0 and "asked well" in output, errors


def test_a_folder_of_prompts_is_taken_through_the_socket_only(home, server):
    body = {"workflow": home.define(flow("    prompt_template: OK?")), "prompts_folder": "/etc"}
    assert server.request("POST", "/api/run", body).status == 403
    text = flow("    prompt_file: passwd")
    answer = server.request("POST", "/api/workflows/validate", {"name": "asks", "yaml_content": text, "prompts_folder": "/etc"})
    assert answer.status == 200 and "there is no prompt file passwd" in json.dumps(answer.body)


def test_a_prompt_that_cannot_be_rendered_fails_its_step(home, server):
    result, _, events = asked(home, server, flow("    prompt_template: 'OK? {{ 1 + inputs.title }}'"))
    assert result["status"] == "failed"
    assert "prompt: prompt_template:1:10: + cannot be applied to an integer and a string" in json.dumps(events)
    strict = flow("    prompt_template: 'OK? {{ inputs.extra }}'", more="strict: true")
    result, _, events = asked(home, server, strict)
    assert result["status"] == "failed" and "is undefined" in json.dumps(events)


def test_the_tool_renders_a_template(home, server):
    """What is data stays data: braces in it are printed."""
    run = server.finish(server.run_of(home.define("""
name: w
steps:
  - name: page
    tool: template_render
    inputs:
      template: "{% for n in names %}\\n{{ n|upper }}{% endfor %}"
      data: {names: [a, "{{ b }}"]}
      trim_blocks: true
outputs: {text: {from: "${steps.page.outputs.text}"}}
""")))
    assert run["outputs"]["text"] == "A{{ B }}", run
    failed = server.finish(server.run_of(home.define("name: v\nsteps:\n  - {name: a, tool: template_render, inputs: {template: '{{ x|uper }}'}}\n")))
    assert 'template:1:6: unknown filter "uper"; did you mean "upper"?' in json.dumps(failed).replace('\\"', '"')


def test_a_definition_sets_the_white_space_of_its_prompts(home, server):
    text = ("name: %s\n%sagents: {ada: {driver: script, options: {replies: [{contains: 'AxB', text: trimmed}, {text: plain}]}}}\n"
            "steps:\n  - name: a\n    agent: ada\n    prompt_template: \"A{%% if true %%}\\nx{%% endif %%}\\nB\"\n"
            "outputs: {text: {from: '${steps.a.outputs.text}'}}\n")
    for name, option, says in (("w", "", "plain"), ("v", "trim_blocks: true\n", "trimmed")):
        assert server.finish(server.run_of(home.define(text % (name, option))))["outputs"]["text"] == says


def test_an_error_in_an_included_file_names_it(home, server):
    """Also when it is only found while the template is rendered."""
    write(home.data, outer="Well.\n{% include 'parts/inner.md' %}", parts__inner="one\ntwo {{ inputs.n + 'x' }}")
    definition = ("name: w\ninputs: {n: {type: number, default: 1}}\nagents: {ada: {driver: script, options: {replies: [{text: x}]}}}\n"
                  "steps:\n  - {name: a, agent: ada, prompt_file: outer.md}\n")
    failed = server.finish(server.run_of(home.define(definition)))
    assert failed["status"] == "failed" and "parts/inner.md:2:17: " in json.dumps(failed), failed
    write(home.data, outer="Well.\n{% include 'parts/inner.md' %}", parts__inner="one\n{{ inputs.n|uper }}")
    status, out, err = home.cli("check", str(pathlib.Path(home.data, "definitions", "w.yaml")))
    assert status != 0 and "parts/inner.md:2:" in out + err, out + err
