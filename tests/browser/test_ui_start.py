"""The form that starts a run: the workflow, and a field for each input that it declares."""
from urllib.parse import urlsplit, parse_qs

BROKEN = """
name: broken
description: Depends on a step that does not exist.
steps:
  - name: one
    tool: echo
    depends_on: [nobody]
    inputs: {text: hi}
"""

WANTS = """
name: wants
description: Takes one input of each type.
inputs:
  count: {type: number, description: How many}
  color: {type: string, enum: [red, green], default: green}
  size: {type: number, enum: [1, 2], required: false}
  sure: {type: boolean}
  loud: {type: boolean, default: true}
  topic: {type: string, required: false}
  tags: {type: array, default: []}
steps:
  - name: one
    tool: echo
    inputs: {text: "${inputs}"}
outputs:
  given: {from: "${inputs}"}
"""


def choose(page, workflow):
    page.getByLabel("Workflow").selectOption(workflow)


def field(pointer):
    return f'[data-pointer="{pointer}"]'


def runs_of(server):
    return [item["run_id"] for item in server.get("/api/runs").body]


def test_a_run_is_started_from_the_page(server, browse):
    page = browse("/ui/")
    page.css("main").getByRole("link", {"name": "Start a run"}).first().click()
    page.wait("#workflow")
    assert page.button("Start").isDisabled()
    choose(page, "two-steps")
    page.wait_text("#workflow-help", "Greets a person")
    assert page.css("#field-who").getAttribute("placeholder") == "world"
    page.css("#field-who").fill("browser")
    page.button("Start").click()
    page.wait('.headline [data-state="succeeded"]')
    [run] = runs_of(server)
    assert urlsplit(page.url()).path == f"/ui/runs/{run}"
    assert "hello, browser" in page.css("main").innerText()


def test_every_type_of_input_has_a_field_that_sends_its_type(home, server, browse):
    home.define(WANTS)
    page = browse("/ui/runs/new?workflow=wants")
    page.wait("#field-count")
    assert page.values(".inputs .field", "data-pointer") == ["/count", "/color", "/size", "/sure", "/loud", "/topic", "/tags"]
    assert "(required)" in page.css(field("/count")).innerText() and "How many" in page.css(field("/count")).innerText()
    assert "(required)" not in page.css(field("/color")).innerText()
    page.css("#field-count").fill("2.5")
    page.css("#field-size").selectOption("2")
    page.css("#field-sure").selectOption("false")
    page.css("#field-loud").uncheck()
    page.css("#field-topic").fill("two\nlines")
    page.css("#field-tags").fill('["a", 1]')
    page.button("Start").click()
    page.wait('.headline [data-state="succeeded"]')
    [run] = runs_of(server)
    given = {"count": 2.5, "color": "green", "size": 2, "sure": False, "loud": False, "topic": "two\nlines", "tags": ["a", 1]}
    assert server.get(f"/api/runs/{run}").body["outputs"]["given"] == given


def test_what_the_server_objects_to_is_shown_at_its_field(home, server, browse):
    home.define(WANTS)
    page = browse("/ui/runs/new?workflow=wants")
    page.css("#field-tags").fill('{"not": "a list"}')
    page.button("Start").click()
    page.wait_text(field("/count") + " ul.places", "required")
    page.wait_text(field("/sure") + " ul.places", "required")
    page.wait_text(field("/tags") + " ul.places", "array")
    assert page.css(field("/color") + " ul.places").count() == 0
    assert page.css("#field-count").getAttribute("aria-invalid") == "true"
    page.wait_text(".problem", "Not started: 3 problems in the inputs.")
    assert page.evaluate("document.activeElement.id") == "field-count"  # the first one has the focus
    page.css("#field-tags").fill("[1")
    page.wait_text(field("/tags") + " ul.places", "is not JSON")
    page.button("Start").click()
    assert runs_of(server) == []
    assert page.axe() == []


def test_what_was_typed_survives_a_reload_until_it_is_started(home, server, browse):
    home.define(WANTS)
    page = browse("/ui/runs/new")
    page.wait("#workflow")
    choose(page, "wants")
    page.css("#field-topic").fill("kept")
    page.css("#field-count").fill("7")
    choose(page, "two-steps")
    page.wait("#field-who")
    choose(page, "wants")
    page.until("document.querySelector('#field-topic')?.value === 'kept'")
    assert parse_qs(urlsplit(page.url()).query) == {"workflow": ["wants"]}
    page.reload()
    page.until("document.querySelector('#field-topic')?.value === 'kept'")
    assert page.css("#field-count").inputValue() == "7"
    page.css("#field-sure").selectOption("true")
    page.button("Start").click()
    page.wait('.headline [data-state="succeeded"]')
    page.open("/ui/runs/new?workflow=wants")
    page.wait("#field-topic")
    assert page.css("#field-topic").inputValue() == ""


def test_a_broken_definition_is_listed_with_its_problem(home, server, browse):
    home.define(BROKEN)
    page = browse("/ui/runs/new")
    page.wait('#workflow optgroup option[value="broken"]', "attached")
    choose(page, "broken")
    page.wait_text("#workflow-places", "line 7:")
    page.wait_text("#workflow-places", "unknown step nobody")
    page.button("Start").click()
    page.wait_text("#workflow-places", "/steps/0/depends_on")
    answer = server.start("broken")
    assert answer.status == 422
    shown = page.css("#workflow-places").innerText()
    for place in answer.body["details"]:
        assert f"line {place['line']}:{place['column']}" in shown and place["text"] in shown
    home.define(BROKEN.replace("[nobody]", "[]"))
    page.evaluate("window.dispatchEvent(new Event('focus'))")  # as coming back from the editor does
    page.until("document.querySelector('#workflow optgroup option[value=broken]') === null")


def test_inputs_as_json_and_a_workflow_that_does_not_exist(home, server, browse):
    home.define(WANTS)
    page = browse('/ui/runs/new?workflow=wants&inputs={"count":3,"sure":true}')
    page.until("document.querySelector('#field-count')?.value === '3'")
    page.button("Edit as JSON").click()
    page.css("#inputs").fill("{nonsense")
    page.button("Start").click()
    page.wait_text("#inputs-places", "is not JSON")
    page.css("#inputs").fill('{"count": "three", "sure": true}')
    page.button("Start").click()
    page.wait_text("#inputs-places", "/count")
    page.open("/ui/runs/new?workflow=nobody")
    page.wait("#inputs")
    page.button("Start").click()
    page.wait_text(".problem", "no workflow called nobody")
    assert runs_of(server) == []


def test_a_workflow_without_inputs(home, server, browse):
    home.define("name: plain\nsteps:\n  - {name: a, tool: echo, inputs: {text: hi}}\n")
    page = browse("/ui/runs/new?workflow=plain")
    page.wait_text("[data-no-inputs]", "takes no inputs")
    page.button("Start").click()
    page.wait('.headline [data-state="succeeded"]')


def test_labels_go_with_the_run_and_are_refused_at_their_field(server, browse):
    page = browse("/ui/runs/new?workflow=two-steps")
    page.getByLabel("Labels").fill("bad name!=x")
    page.button("Start").click()
    page.wait_text("#labels-places", "is not a label name")
    page.getByLabel("Labels").fill("env=prod, team = core")
    page.button("Start").click()
    page.wait('.headline [data-state="succeeded"]')
    [run] = server.get("/api/runs").body
    assert run["labels"] == {"env": "prod", "team": "core"}


def test_a_run_is_started_again_with_its_inputs(home, server, browse):
    home.define(WANTS)
    given = {"count": 3, "sure": True, "topic": "again"}
    run = server.start("wants", given, wait=True).body["run_id"]
    page = browse(f"/ui/runs/{run}").live()
    page.link("Start again …").click()
    page.until("document.querySelector('#field-topic')?.value === 'again'")
    page.button("Start").click()
    page.wait('.headline [data-state="succeeded"]')
    first, second = runs_of(server)
    results = [server.get(f"/api/runs/{one}").body["inputs"] for one in (first, second)]
    assert first != second and results[0] == results[1]


def test_a_run_is_started_in_a_profile(server, browse, tmp_path):
    """The form has a field for it when there are profiles; a profile that cannot be used is refused."""
    page = browse("/ui/runs/new?workflow=two-steps").live()
    page.wait("#labels")
    assert page.css("#profile").count() == 0
    for name, folder in (("work", tmp_path), ("play", tmp_path), ("away", tmp_path / "none")):
        assert server.request("PUT", f"/api/profiles/{name}", {"name": name, "repo_root": str(folder)}).status == 201
    page = browse("/ui/runs/new?workflow=two-steps").live()
    page.wait("#profile")
    assert "the active one (work)" in page.css("#profile").innerText()
    page.css("#profile").selectOption("away")
    page.button("Start").click()
    page.wait_text(".problem", "is not a folder")
    assert runs_of(server) == []
    page.css("#profile").selectOption("play")
    assert page.axe() == []
    page.button("Start").click()
    page.wait('.headline [data-state="succeeded"]')
    [run] = runs_of(server)
    assert server.events(run)[0]["data"]["profile"] == "play"
    facts = page.css(".facts").first().innerText()
    assert "play" in facts and str(tmp_path) in facts, facts
