"""Workflows as versioned documents: PUT, DELETE, versions, diffs, sources and their precedence, and what survives a kill."""
import os
import pathlib
import threading

import pytest

from baton import Gone

TEXT = """name: greet
description: Greets.
inputs:
  who: {type: string}
steps:
  - {name: one, tool: echo, inputs: {text: "Hello ${inputs.who}"}}
  - {name: two, tool: echo, depends_on: [one], inputs: {text: "${steps.one.outputs.text}!"}}
outputs:
  text: {from: "${steps.two.outputs.text}"}
"""
OTHER = TEXT.replace("Hello", "Good day")
THIRD = TEXT.replace("Hello", "Hi")


def save(server, text=TEXT, name="greet", said=None, **headers):
    return server.request("PUT", f"/api/workflows/{name}", {"name": said or name, "yaml_content": text},
                          {key.replace("_", "-"): value for key, value in headers.items()})


def versions(server, name="greet"):
    answer = server.get(f"/api/workflows/{name}/versions")
    assert answer.status == 200, answer
    return answer.body["versions"]


def test_save_read_start_and_delete(home):
    server = home.serve()
    answer = save(server)
    assert answer.status == 201 and answer.headers["Location"] == "/api/workflows/greet"
    assert answer.body["version"] == 1 and answer.body["source"] == "stored" and answer.body["is_valid"]
    assert answer.body["yaml_content"] == TEXT and answer.body["validation_errors"] == []
    assert answer.headers["ETag"] == answer.body["etag"]

    detail = server.get("/api/workflows/greet")
    assert detail.headers["ETag"] == answer.headers["ETag"]
    assert detail.body["yaml_content"] == TEXT and detail.body["version"] == 1 and detail.body["description"] == "Greets."
    assert [one["name"] for one in detail.body["inputs"]] == ["who"] and detail.body["recent_runs"] == []
    assert detail.body["saved_by"] and detail.body["saved_at"]
    editor = server.get("/api/workflows/greet/editor")
    assert {key: editor.body[key] for key in ("name", "yaml_content", "is_valid", "validation_errors")} == {
        "name": "greet", "yaml_content": TEXT, "is_valid": True, "validation_errors": []}

    done = server.start("greet", {"who": "you"}, wait=True)
    assert done.body["outputs"] == {"text": "Hello you!"}
    item = next(item for item in server.get("/api/workflows").body["items"] if item["name"] == "greet")
    assert item["source"] == "stored" and item["version"] == 1
    assert [(run["run_id"], run["status"]) for run in item["recent_runs"]] == [(done.body["run_id"], "success")]
    assert server.get("/api/workflows/greet").body["recent_runs"] == item["recent_runs"]

    assert server.request("DELETE", "/api/workflows/greet").status == 204
    assert server.get("/api/workflows/greet").status == 404 and server.start("greet", {"who": "you"}).status == 404
    assert "greet" not in server.get("/api/workflows").body["workflows"]
    assert server.request("DELETE", "/api/workflows/greet").status == 404
    assert server.get(f"/api/runs/{done.body['run_id']}").body["outputs"] == {"text": "Hello you!"}


def test_a_save_changes_the_next_start_at_once(home):
    """A start of a known workflow uses its compiled graph without reading the store."""
    server = home.serve()
    for text, greeting in ((TEXT, "Hello you!"), (OTHER, "Good day you!"), (TEXT, "Hello you!")):
        assert save(server, text).status in (200, 201)
        for _ in range(3):
            assert server.start("greet", {"who": "you"}, wait=True).body["outputs"] == {"text": greeting}
    assert server.request("DELETE", "/api/workflows/greet").status == 204
    home.define(OTHER)
    assert server.start("greet", {"who": "you"}, wait=True).body["outputs"] == {"text": "Good day you!"}


def test_every_version_is_kept_with_author_and_time(home):
    server = home.serve()
    key = server.request("POST", "/api/keys", {"label": "ann", "role": "admin"}).body["key"]
    assert save(server).status == 201
    assert save(server, OTHER, Authorization=f"Bearer {key}").status == 200
    assert server.request("DELETE", "/api/workflows/greet").status == 204
    assert save(server, THIRD).body["version"] == 4
    all_of_them = versions(server)
    assert [(one["version"], one["current"], one["deleted"]) for one in all_of_them] == [
        (4, True, False), (3, False, True), (2, False, False), (1, False, False)]
    assert all_of_them[2]["saved_by"] == "ann" and all_of_them[0]["saved_by"] != "ann"
    assert sorted(one["saved_at"] for one in all_of_them) == [one["saved_at"] for one in reversed(all_of_them)]
    for number, text in ((1, TEXT), (2, OTHER), (3, ""), (4, THIRD)):
        one = server.get(f"/api/workflows/greet/versions/{number}").body
        assert one["yaml_content"] == text and one["bytes"] == len(text) and one["workflow"] == "greet"
    diff = server.get("/api/workflows/greet/versions/2?diff=1").body
    assert diff["diff_from"] == 1
    assert "\n-  - {name: one, tool: echo, inputs: {text: \"Hello ${inputs.who}\"}}\n" in diff["diff"]
    assert "\n+  - {name: one, tool: echo, inputs: {text: \"Good day ${inputs.who}\"}}\n" in diff["diff"]
    assert diff["diff"].startswith("--- version 1\n+++ version 2\n@@ ")
    assert server.get("/api/workflows/greet/versions/2?diff=2").body["diff"] == ""
    dag = server.get("/api/workflows/greet/dag?version=2")
    assert dag.status == 200 and [node["id"] for node in dag.body["nodes"]] == ["one", "two"]
    for path in ("versions/5", "versions/0", "versions/x", "versions/99999999999999999999", "versions/1?diff=9", "dag?version=3"):
        assert server.get(f"/api/workflows/greet/{path}").status == 404, path
    assert server.get("/api/workflows/greet/versions/1?diff=x").status == 400
    assert server.get("/api/workflows/nothing/versions").status == 404
    assert versions(server, "two-steps") == []


def test_pages_of_versions(home):
    server = home.serve()
    for number in range(7):
        save(server, TEXT.replace("Hello", f"Hello {number}"))
    assert save(server, TEXT.replace("greet", "greet-2"), "greet-2").status == 201
    seen, cursor = [], ""
    while cursor is not None:
        page = server.get(f"/api/workflows/greet/versions?limit=3{cursor and f'&cursor={cursor}'}").body
        seen += [one["version"] for one in page["versions"]]
        cursor = page["cursor"]
    assert seen == [7, 6, 5, 4, 3, 2, 1]
    assert [one["version"] for one in versions(server, "greet-2")] == [1]
    assert server.get("/api/workflows/greet/versions?limit=1000").status == 400


def test_the_same_text_makes_no_version(home):
    server = home.serve()
    first = save(server)
    for headers in ({}, {"If_Match": first.headers["ETag"]}):
        again = save(server, **headers)
        assert again.status == 200 and again.body["version"] == 1 and again.headers["ETag"] == first.headers["ETag"]
    home.define(OTHER.replace("greet", "filed"))
    assert save(server, OTHER.replace("greet", "filed"), "filed").body["source"] == "file"
    assert len(versions(server)) == 1 and versions(server, "filed") == []


def test_a_changed_text_is_a_conflict_with_the_diff(home):
    server = home.serve()
    before = save(server).headers["ETag"]
    theirs = save(server, OTHER, If_Match=before)
    assert theirs.status == 200
    mine = save(server, THIRD, If_Match=before)
    assert mine.status == 412 and mine.body["code"] == "precondition_failed" and mine.body["etag"] == theirs.headers["ETag"]
    assert mine.body["diff"].startswith("--- current\n+++ yours\n")
    assert "-  - {name: one, tool: echo, inputs: {text: \"Good day" in mine.body["diff"]
    assert "+  - {name: one, tool: echo, inputs: {text: \"Hi" in mine.body["diff"]
    assert server.get("/api/workflows/greet").body["yaml_content"] == OTHER
    assert save(server, THIRD, If_Match=mine.body["etag"]).status == 200
    assert server.request("DELETE", "/api/workflows/greet", None, {"If-Match": before}).status == 412
    assert save(server, TEXT, If_None_Match="*").status == 409
    assert save(server, TEXT, If_Match="greet").status == 400
    assert save(server, TEXT, If_Match=before, If_None_Match="*").status == 400
    assert server.request("DELETE", "/api/workflows/greet", None, {"If-Match": "*"}).status == 204
    gone = save(server, TEXT, If_Match=before)
    assert gone.status == 412 and "diff" not in gone.body
    assert save(server, TEXT, If_None_Match="*").status == 201


def test_a_file_that_changed_since_it_was_read_is_a_conflict(home):
    home.define(TEXT)
    server = home.serve()
    read = server.get("/api/workflows/greet/editor")
    assert read.body["source"] == "file"
    home.define(OTHER)
    answer = save(server, THIRD, If_Match=read.headers["ETag"])
    assert answer.status == 412 and "Good day" in answer.body["diff"]
    assert save(server, THIRD, If_Match=answer.body["etag"]).status == 201
    assert pathlib.Path(home.data, "definitions", "greet.yaml").read_text() == OTHER


def test_two_saves_at_once_one_gets_the_conflict(home):
    server = home.serve()
    for _ in range(8):
        before = server.get("/api/workflows/greet/editor").headers.get("ETag") or save(server).headers["ETag"]
        answers = []

        def one(text):
            answers.append((save(server, text, If_Match=before).status, text))
        threads = [threading.Thread(target=one, args=(TEXT.replace("Hello", f"{os.urandom(4).hex()}"),)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(status for status, _ in answers) == [200, 412, 412, 412], answers
        assert server.get("/api/workflows/greet").body["yaml_content"] == next(text for status, text in answers if status == 200)


@pytest.mark.parametrize("text, name, said, status, words", [
    ("name: greet\nsteps:\n  - {name: a, tool: nothing}\n", "greet", None, 422, "nothing"),
    ("a: [", "greet", None, 422, ""),
    ("", "greet", None, 422, ""),
    (TEXT, "other", None, 422, "other"),
    (TEXT, "greet", "other", 422, "other"),
    (TEXT.replace("greet", "validate"), "validate", None, 422, "reserved"),
    (TEXT + "#" * (1 << 20), "greet", None, 413, "bytes"),
    (TEXT, "..%2fgreet", "../greet", 404, ""),
])
def test_a_bad_definition_is_refused_and_nothing_is_stored(home, text, name, said, status, words):
    server = home.serve()
    answer = save(server, text, name, said)
    assert answer.status == status, answer
    assert words in answer.body["detail"]
    if status == 422 and said is None and name != "validate":
        assert answer.body["validation_errors"], answer.body
    assert not any(item["source"] == "stored" for item in server.get("/api/workflows").body["items"])
    assert server.get("/api/workflows/greet/versions").status == 404


def test_only_admins_save(home):
    server = home.serve("--require-key")
    keys = {role: home.local("POST", "/api/keys", {"label": role, "role": role}).body["key"] for role in ("viewer", "operator", "admin")}
    for role, status in (("viewer", 403), ("operator", 403), ("admin", 201)):
        assert save(server, Authorization=f"Bearer {keys[role]}").status == status
    for role, status in (("viewer", 403), ("operator", 403), ("admin", 204)):
        assert server.request("DELETE", "/api/workflows/greet", None, {"Authorization": f"Bearer {keys[role]}"}).status == status
    assert save(server).status == 401


def test_sources_and_what_they_shadow(home):
    home.define(TEXT.replace("greet", "two-steps"))
    home.define(TEXT)
    server = home.serve()

    def item(name):
        found = next(item for item in server.get("/api/workflows").body["items"] if item["name"] == name)
        detail = server.get(f"/api/workflows/{name}").body
        assert (detail["source"], detail["shadows"]) == (found["source"], found.get("shadows", []))
        return found["source"], found.get("shadows", [])
    assert item("release-notes") == ("packed", [])
    assert item("greet") == ("file", [])
    assert item("two-steps") == ("file", ["packed"])
    assert server.get("/api/workflows/greet").body["path"] == "definitions/greet.yaml"
    assert save(server, OTHER.replace("greet", "two-steps"), "two-steps").body["shadows"] == ["file", "packed"]
    assert item("two-steps") == ("stored", ["file", "packed"])
    assert server.request("DELETE", "/api/workflows/two-steps").status == 204
    assert item("two-steps") == ("file", ["packed"])
    answer = server.request("DELETE", "/api/workflows/two-steps")
    assert answer.status == 409 and "definitions/two-steps.yaml" in answer.body["detail"]
    answer = server.request("DELETE", "/api/workflows/release-notes")
    assert answer.status == 409 and "built in" in answer.body["detail"]


def test_dag_capabilities_and_validation(home):
    server = home.serve()
    save(server)
    dag = server.get("/api/workflows/greet/dag").body
    assert [(node["id"], node["label"], node["type"], node["agent"], node["by"]) for node in dag["nodes"]] == [
        ("one", "one", "tool", None, "echo"), ("two", "two", "tool", None, "echo")]
    assert [(edge["source"], edge["target"]) for edge in dag["edges"]] == [("one", "two")]
    one, two = dag["nodes"]
    assert one["y"] + one["height"] < two["y"] and two["y"] + two["height"] <= dag["height"] and one["x"] + one["width"] <= dag["width"]
    run = server.run_of("greet", {"who": "you"})
    server.finish(run)
    drawn = server.get(f"/api/runs/{run}/graph").body["nodes"]
    assert [(box["path"], box["x"], box["y"]) for box in drawn] == [(node["id"], node["x"], node["y"]) for node in dag["nodes"]]
    assert server.get("/api/workflows/greet/capabilities").body == {
        "workflow": "greet", "capabilities": {"inputs": ["who"], "outputs": ["text"]}}
    checked = server.request("POST", "/api/workflows/validate?dag", {"name": "greet", "yaml_content": OTHER}).body
    assert checked["is_valid"] and checked["errors"] == [] and checked["dag"]["nodes"] == dag["nodes"]
    assert "dag" not in server.request("POST", "/api/workflows/validate", {"name": "greet", "yaml_content": OTHER}).body
    assert "dag" not in server.request("POST", "/api/workflows/validate?dag", {"name": "greet", "yaml_content": "a: ["}).body
    for path in ("", "/dag", "/editor", "/capabilities", "/versions"):
        assert server.get(f"/api/workflows/nothing{path}").status == 404, path
    home.define("name: broken\nsteps:\n  - {name: a, tool: nothing}\n")
    assert server.get("/api/workflows/broken/dag").status == 422
    editor = server.get("/api/workflows/broken/editor").body
    assert not editor["is_valid"] and "nothing" in editor["validation_errors"][0] and editor["problems"][0]["line"] == 3


def test_experimental_workflows_are_listed_on_request(home):
    home.define("name: trial\nexperimental: true\nsteps:\n  - {name: a, tool: echo, inputs: {text: hi}}\n")
    server = home.serve()
    assert "trial" not in server.get("/api/workflows").body["workflows"]
    page = server.get("/api/workflows?experimental").body
    assert "trial" in page["workflows"] and [item["name"] for item in page["items"]] == page["workflows"]
    names, cursor = [], ""
    while cursor is not None:
        page = server.get(f"/api/workflows?limit=1&cursor={cursor}").body
        names += page["workflows"]
        cursor = page["cursor"]
    assert names == server.get("/api/workflows").body["workflows"]


def test_a_workflow_that_is_deleted_or_changed_while_it_runs(home):
    server = home.serve()
    waiting = TEXT.replace("  - {name: two", "  - {name: hold, wait: {signal: go}, depends_on: [one]}\n  - {name: two").replace("depends_on: [one], inputs: {text: \"${steps", "depends_on: [hold], inputs: {text: \"${steps")
    assert save(server, waiting).status == 201
    runs = [server.run_of("greet", {"who": str(number)}) for number in range(2)]
    for run in runs:
        server.until(run, "step.computed")
    save(server, OTHER)
    assert server.request("DELETE", "/api/workflows/greet").status == 204
    for number, run in enumerate(runs):
        assert server.tell(run, "signal", name="go").status == 200
        server.finish(run)
        assert server.result(run)["outputs"] == {"text": f"Hello {number}!"}


def test_adapters(home):
    server = home.serve()
    adapters = {one["name"]: one["available"] for one in server.get("/api/adapters").body["adapters"]}
    assert adapters == {"native": True, "sim": True, "replay": True}
    answer = server.request("POST", "/api/run", {"workflow": "two-steps", "adapter": "langchain"})
    assert answer.status == 400 and answer.body["class"] == "AdapterNotFoundError"
    assert answer.body["available_adapters"] == ["native", "sim", "replay"] and answer.body["adapter_name"] == "langchain"
    assert server.get("/api/runs").body == []


DECLARED = TEXT + """capabilities: {inputs: [name], outputs: [greeting], tone: friendly}
evaluation: {rubric_id: warm, criteria: [{name: warmth, definition: Is it warm?, weight: 0.7}]}
"""


def test_what_the_author_declares_is_shown(home):
    server = home.serve()
    assert save(server, DECLARED).status == 201
    detail = server.get("/api/workflows/greet").body
    assert detail["capabilities"] == {"inputs": ["name"], "outputs": ["greeting"], "tone": "friendly"}
    assert detail["evaluation"]["criteria"][0]["weight"] == 0.7
    shown = server.get("/api/workflows/greet/capabilities").body
    assert shown["capabilities"] == {"inputs": ["name"], "outputs": ["greeting"]}
    assert shown["declared"]["tone"] == "friendly" and shown["evaluation"]["rubric_id"] == "warm"
    status, out, narration = home.cli("workflow", "show", "greet")
    assert status == 0 and out == DECLARED
    assert "takes: name" in narration and "gives: greeting" in narration and "warmth, weight 0.7: Is it warm?" in narration
    assert save(server, TEXT).status == 200 and "capabilities" not in server.get("/api/workflows/greet").body


@pytest.mark.parametrize("point, kept", [("documents.before_append", False), ("documents.committed", True)])
def test_a_kill_around_a_save_leaves_the_old_or_the_new_version(home, point, kept):
    server = home.serve(BATON_POINTS=f"{point}=kill@2")
    assert save(server).status == 201
    with pytest.raises(Gone):
        save(server, OTHER)
    server.wait()
    server = home.serve()
    assert server.get("/api/workflows/greet").body["yaml_content"] == (OTHER if kept else TEXT)
    assert [one["version"] for one in versions(server)] == ([2, 1] if kept else [1])
    assert server.start("greet", {"who": "you"}, wait=True).body["outputs"]["text"].startswith("Good day" if kept else "Hello")
    assert save(server, THIRD).body["version"] == (3 if kept else 2)


def test_versions_survive_compaction_retention_and_rebuild(home):
    server = home.serve()
    for text in (TEXT, OTHER, THIRD):
        save(server, text)
    run = server.run_of("greet", {"who": "you"})
    server.finish(run)
    assert home.local("POST", "/api/db/compact", {}).status == 200
    assert home.local("POST", "/api/db/rebuild").status == 200
    assert [one["version"] for one in versions(server)] == [3, 2, 1]
    server.kill()
    server = home.serve(BATON_RETENTION_DAYS="1")
    assert [server.get(f"/api/workflows/greet/versions/{number}").body["yaml_content"] for number in (1, 2, 3)] == [TEXT, OTHER, THIRD]
    assert home.local("POST", "/api/db/check").body["problems"] == []


def test_an_idempotency_key_saves_once(home):
    server = home.serve()
    first = save(server, Idempotency_Key="k1")
    again = save(server, Idempotency_Key="k1")
    assert first.status == 201 and again.status == 200 and again.body["version"] == 1
    assert save(server, OTHER, Idempotency_Key="k1").status == 409
    assert len(versions(server)) == 1


# ---- projects --------------------------------------------------------------------------------

def project(home, text=TEXT, name="greet"):
    folder = pathlib.Path(home.path, "repository")
    (folder / ".baton" / "workflows").mkdir(parents=True, exist_ok=True)
    (folder / ".baton" / "workflows" / f"{name}.yaml").write_text(text)
    return str(folder)


def test_a_project_is_inert_until_it_is_trusted(home):
    folder = project(home)
    server = home.serve()
    assert server.start("greet", {"who": "you"}).status == 404
    assert server.request("POST", "/api/projects", {"path": folder}).status == 403
    trusted = home.local("POST", "/api/projects", {"path": folder})
    assert trusted.status == 200 and list(trusted.body["workflows"]) == ["greet"]
    assert server.start("greet", {"who": "you"}, wait=True).body["outputs"] == {"text": "Hello you!"}
    item = next(item for item in server.get("/api/workflows").body["items"] if item["name"] == "greet")
    assert item["source"] == "project"
    assert server.get("/api/workflows/greet").body["path"] == f"{folder}/.baton/workflows/greet.yaml"

    project(home, OTHER)
    answer = server.start("greet", {"who": "you"})
    assert answer.status == 403 and "changed since it was trusted" in answer.body["detail"]
    item = next(item for item in server.get("/api/workflows").body["items"] if item["name"] == "greet")
    assert "changed since it was trusted" in item["problem"]
    project(home, THIRD, "second")
    assert server.start("second").status == 404

    stale = home.local("POST", "/api/projects", {"path": folder, "workflows": trusted.body["workflows"]})
    assert stale.status == 409
    assert home.local("POST", "/api/projects", {"path": folder}).status == 200
    assert server.start("greet", {"who": "you"}, wait=True).body["outputs"] == {"text": "Good day you!"}
    assert [one["path"] for one in server.get("/api/projects").body["items"]] == [folder]
    assert save(server, THIRD).body["shadows"] == ["project"]
    assert server.request("DELETE", "/api/workflows/greet").status == 204
    answer = server.request("DELETE", "/api/workflows/greet")
    assert answer.status == 409 and "revoke" in answer.body["detail"]
    assert server.request("DELETE", f"/api/projects/{trusted.body['id']}").status == 204
    assert server.start("greet", {"who": "you"}).status == 404


def test_a_project_that_cannot_be_trusted(home):
    server = home.serve()
    assert home.local("POST", "/api/projects", {"path": "relative"}).status == 422
    assert home.local("POST", "/api/projects", {"path": "/no/such/folder"}).status == 404
    folder = project(home)
    outside = pathlib.Path(home.path, "outside.yaml")
    outside.write_text(TEXT)
    os.symlink(outside, pathlib.Path(folder, ".baton", "workflows", "link.yaml"))
    assert home.local("POST", "/api/projects", {"path": folder}).status == 403
    assert server.get("/api/projects").body["items"] == []
