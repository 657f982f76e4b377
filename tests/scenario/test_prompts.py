"""Named prompts of agents: defaults, saved versions, resets, and the version that a run was started with."""
import contextlib
import json

from baton import Gone, killed

NAMES = {"architect", "plan_validator", "developer", "reviewer", "task_reviewer", "evaluator", "oracle", "brainstormer", "condenser"}
REPLIES = json.dumps([{"text": "done"}])


def flow(agent="prompt_name: architect", step=""):
    return f"""name: asks
agents:
  ada: {{driver: script, model: play, options: {{replies: {REPLIES}}}, {agent}}}
steps:
  - {{name: gate, wait: {{signal: go}}}}
  - {{name: ask, agent: ada, depends_on: [gate], inputs: {{prompt: Begin., topic: sums}}{step}}}
outputs: {{text: {{from: "${{steps.ask.outputs.text}}"}}}}
"""


def save(server, id, content, headers=None, **more):
    return server.request("POST", f"/api/prompts/{id}/versions", {"content": content, **more}, headers)




def test_every_default_can_be_read(server):
    page = server.get("/api/prompts").body
    assert {item["id"] for item in page["items"]} == NAMES
    for item in page["items"]:
        assert item["is_default"] and item["has_default"] and item["version"] == 0 and item["description"] and "content" not in item
        prompt = server.get(f"/api/prompts/{item['id']}").body
        assert prompt["content"].startswith("{#-") and len(prompt["content"]) > 400 and prompt["etag"] == item["etag"]
        assert server.get(f"/api/prompts/{item['id']}/default").body["content"] == prompt["content"]
        assert server.get(f"/api/prompts/{item['id']}/versions").body["versions"] == []


def test_versions_are_saved_compared_and_reset(home, server):
    first = server.get("/api/prompts/architect").body
    saved = save(server, "architect", "Plan well.", {"If-Match": first["etag"]}, change_note="shorter")
    assert saved.status == 201 and saved.body["version"] == 1 and not saved.body["is_default"]
    assert saved.body["change_note"] == "shorter" and saved.body["saved_by"]
    refused = save(server, "architect", "Mine.", {"If-Match": first["etag"]})
    assert refused.status == 412 and refused.body["etag"] == saved.body["etag"] and "-Plan well." in refused.body["diff"]
    assert save(server, "architect", "Plan well.").status == 200  # it is in effect already
    assert save(server, "architect", "Plan better.").body["version"] == 2
    versions = server.get("/api/prompts/architect/versions").body["versions"]
    assert [(item["version"], item["current"]) for item in versions] == [(2, True), (1, False)]
    second = server.get("/api/prompts/architect/versions/2?diff=1").body
    assert second["content"] == "Plan better." and "-Plan well.\n+Plan better." in second["diff"].replace("\\ No newline at end of file\n", "")
    assert "+Plan better." in server.get("/api/prompts/architect/versions/2?diff=0").body["diff"]
    page = server.get("/api/prompts/architect/versions?limit=1").body
    assert page["cursor"] == "2" and server.get("/api/prompts/architect/versions?limit=1&cursor=2").body["versions"][0]["version"] == 1
    server.kill()
    server = home.serve()
    assert server.get("/api/prompts/architect").body["content"] == "Plan better."
    reset = server.request("POST", "/api/prompts/architect/reset")
    assert reset.status == 200 and reset.body["is_default"] and reset.body["content"] == first["content"]
    assert server.request("POST", "/api/prompts/architect/reset").status == 200
    assert [item["reset"] for item in server.get("/api/prompts/architect/versions").body["versions"]] == [True, False, False]
    assert save(server, "architect", "Again.").body["version"] == 4


def test_bad_requests_are_refused(server):
    assert save(server, "architect", " \n").status == 422
    assert save(server, "architect", "{% if %}").status == 422
    assert save(server, "architect", "x", {"If-Match": "nonsense"}).status == 400
    assert save(server, "Bad%20Name", "x").status == 422
    unknown = server.get("/api/prompts/architct")
    assert unknown.status == 404 and "did you mean architect?" in unknown.body["detail"]
    assert server.get("/api/prompts/architect/versions/1").status == 404
    assert server.get("/api/prompts/architect/versions/zero").status == 404
    assert server.request("POST", "/api/prompts/mine/reset").status == 404
    assert save(server, "mine", "My own.").status == 201
    assert server.request("POST", "/api/prompts/mine/reset").status == 409
    assert server.get("/api/prompts/mine/default").status == 404


def test_a_run_keeps_the_version_that_it_was_started_with(home, server):
    save(server, "architect", "You plan {{ topic }}.")
    run = server.run_of(home.define(flow()))
    server.until(run, "timer.requested")
    save(server, "architect", "Changed.")
    server.kill()
    server = home.serve()
    assert home.cli("signal", run, "go")[0] == 0
    result = server.finish(run)
    assert result["outputs"] == {"text": "done"} and result["prompts"] == {"architect": "1"}
    (requested,) = [event["data"] for event in server.events(run) if event["type"] == "turn.requested"]
    assert requested["request"]["is"]["system"] == "You plan sums."
    for view in ("pipeline", "pipeline_v1", "task", "graph"):
        assert '"prompts"' in json.dumps(server.get(f"/api/runs/{run}?view={view}").body), view
    assert server.get(f"/api/runs/{run}/steps").body["prompts"] == {"architect": "1"}
    assert "architect 1" in home.cli("show", run)[1]
    again = server.run_of("asks")
    assert home.cli("signal", again, "go")[0] == 0
    assert server.finish(again)["prompts"] == {"architect": "2"}


def test_a_default_is_recorded_as_such(home, server):
    run = server.run_of(home.define(flow("prompt_name: developer")))
    assert home.cli("signal", run, "go")[0] == 0
    assert server.finish(run)["prompts"] == {"developer": "default"}


def test_an_unknown_prompt_and_two_system_prompts_refuse_the_start(home, server):
    home.define(flow("prompt_name: architct"))
    refused = server.start("asks")
    assert refused.status == 422 and "did you mean architect?" in str(refused.body)
    home.define(flow("prompt_name: architect, system: x"))
    refused = server.start("asks")
    assert refused.status == 422 and "more than one of" in str(refused.body)
    save(server, "architect", "{{ nothing }}")
    home.define(flow())
    refused = server.start("asks")
    assert refused.status == 422 and 'prompt architect:1:4: unknown name "nothing"' in str(refused.body)


def test_a_killed_save_is_there_or_not(home):
    server = home.serve(BATON_POINTS="store.after_commit=kill")
    with contextlib.suppress(Gone):
        save(server, "architect", "Saved before the kill.")
    assert killed(server), server.errors()
    server = home.serve()
    prompt = server.get("/api/prompts/architect").body
    versions = server.get("/api/prompts/architect/versions").body["versions"]
    assert (prompt["version"], len(versions)) in [(0, 0), (1, 1)]
    assert save(server, "architect", "Saved after it.").body["version"] == len(versions) + 1


def test_the_command_line_lists_shows_edits_and_resets(home, server, tmp_path):
    status, output, _ = home.cli("prompt", "list")
    assert status == 0 and all(name in output for name in NAMES) and "default" in output
    default = server.get("/api/prompts/oracle").body["content"]
    assert home.cli("prompt", "show", "oracle")[1] == default
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\necho 'Advise well.' >\"$1\"\n")
    editor.chmod(0o755)
    status, output, errors = home.cli("prompt", "edit", "oracle", "-m", "shorter", VISUAL=str(editor))
    assert status == 0 and output == "saved oracle, version 1\n", errors
    assert home.cli("prompt", "show", "oracle")[1] == "Advise well.\n"
    assert home.cli("prompt", "show", "oracle", "--default")[1] == default
    file = tmp_path / "oracle.md"
    file.write_text("Advise better.\n")
    assert home.cli("prompt", "edit", "oracle", "--file", str(file))[1] == "saved oracle, version 2\n"
    assert home.cli("prompt", "show", "oracle", "--version", "1")[1] == "Advise well.\n"
    assert "shorter" in home.cli("prompt", "versions", "oracle")[1]
    assert home.cli("prompt", "edit", "oracle", VISUAL="true")[1] == "oracle is unchanged\n"
    assert home.cli("prompt", "reset", "oracle")[0] == 0
    assert home.cli("prompt", "show", "oracle")[1] == default
    assert home.cli("prompt", "show", "orcle")[0] == 4
