"""What runs keep: versions, hashes, bytes from outside, and kill -9 at every moment of a write."""
import base64
import contextlib
import hashlib
import json
import pathlib

import pytest
from baton import PATIENCE_S, Gone, killed, new_id, wait_until

WRITER = """
name: writer
inputs: {text: {type: string, default: "grüße"}}
steps:
  - name: first
    tool: write_artifact
    inputs: {name: notes/plan.md, content: "${inputs.text}", media_type: text/markdown}
  - name: make
    tool: shell
    depends_on: [first]
    inputs: {command: "printf '\\\\377\\\\000end' > made.bin"}
  - name: second
    tool: write_artifact
    depends_on: [make]
    inputs: {name: made.bin, path: made.bin}
  - name: again
    tool: write_artifact
    depends_on: [second]
    inputs: {name: notes/plan.md, content: "another"}
  - name: back
    tool: read_artifact
    depends_on: [again]
    inputs: {name: notes/plan.md, version: 1}
outputs:
  back: {from: "${steps.back.outputs}"}
  last: {from: "${steps.again.outputs}"}
"""
POINTS = ["artifact.before_content", "artifact.content_stored", "artifact.written", "tool.ended"]


def sha(content):
    return hashlib.sha256(content).hexdigest()


def listed(server, run):
    page = server.get(f"/api/runs/{run}/artifacts")
    assert page.status == 200, page
    return page.body["items"]


def contents(home):
    """Every file of stored bytes, by name."""
    return {path.name: path.read_bytes() for path in pathlib.Path(home.data, "artifacts", "content").rglob("*")
            if path.is_file()}


def one(home, inputs, tool="write_artifact"):
    return home.define(f"name: one\nsteps:\n  - {{name: a, tool: {tool}, inputs: {inputs}}}\n"
                       "outputs: {all: {from: '${steps.a.outputs}'}}\n")


def failed(server, name):
    result = server.start(name, wait=True).body
    assert result["status"] == "failed", result
    return result["error"]


def fetch(home, run, name):
    """Through the command line, to the byte."""
    process = home.begin("artifacts", run, name)
    output = process.popen.communicate(timeout=PATIENCE_S)[0]
    assert process.popen.returncode == 0, process.errors()
    return output


def held(home, point):
    """A write that stands at the point in a run that has been called off."""
    home.gate = home.fifo(new_id(), "points")
    server = home.serve(BATON_POINTS=f"{point}=hold", BATON_POINTS_GATE=str(home.gate.path),
                        BATON_POINTS_TRACE=home.path + "/trace")
    run = server.run_of(one(home, "{name: n, content: kept}"))
    wait_until(lambda: point in pathlib.Path(home.path, "trace").read_text().split())
    assert server.request("POST", f"/api/runs/{run}/cancel", {}).status == 200
    return run, server


def step_of(server, run):
    return server.result(run)["steps"][0]["status"]


# ---- what there is ---------------------------------------------------------------------------------


def test_versions_hashes_and_bytes(home, server):
    home.define(WRITER)
    result = server.start("writer", wait=True).body
    assert result["status"] == "success", result
    run = result["run_id"]
    text = "grüße".encode()
    wanted = [("notes/plan.md", 1, text, "text/markdown"), ("made.bin", 1, b"\xff\0end", "application/octet-stream"),
              ("notes/plan.md", 2, b"another", "text/plain; charset=utf-8")]
    assert [(row["name"], row["version"], row["sha256"], row["size"], row["media_type"]) for row in listed(server, run)] \
        == [(name, version, sha(content), len(content), kind) for name, version, content, kind in wanted]
    # The events name what the list does.
    finished = [event["data"]["effect"] for event in server.events(run) if event["type"] == "tool.finished"]
    assert all(row["effect"] in finished for row in listed(server, run))
    assert result["outputs"]["back"] == {"name": "notes/plan.md", "version": 1, "sha256": sha(text), "size": len(text),
                                         "media_type": "text/markdown", "content": "grüße", "encoding": "text"}
    assert result["outputs"]["last"]["version"] == 2
    assert contents(home) == {sha(content): content for _, _, content, _ in wanted}


def test_the_bytes_over_http(home, server):
    home.define(WRITER)
    run = server.start("writer", wait=True).body["run_id"]
    answer = server.get(f"/api/runs/{run}/artifacts/notes/plan.md")
    assert (answer.status, answer.body, answer.headers["ETag"]) == (200, b"another", f'"{sha(b"another")}"')
    old = server.get(f"/api/runs/{run}/artifacts/notes/plan.md?version=1")
    assert (old.status, old.body, old.headers["Content-Type"]) == (200, "grüße".encode(), "text/markdown")
    # Whatever it is, a browser treats it as a download and lets it do nothing.
    assert old.headers["Content-Disposition"] == 'attachment; filename="plan.md"'
    assert old.headers["Content-Security-Policy"].startswith("sandbox;")
    assert old.headers["X-Content-Type-Options"] == "nosniff"
    same = server.get(f"/api/runs/{run}/artifacts/made.bin", {"If-None-Match": f'"{sha(bytes([255, 0]) + b"end")}"'})
    assert (same.status, same.body) == (304, b"")


@pytest.mark.parametrize("target, status, words", [
    ("notes/none.md", 404, "the run has no artifact notes/none.md"),
    ("notes/plan.md?version=3", 404, "has no version 3; the newest is 2"),
    ("notes/plan.md?version=0", 400, "version"),
    ("..%2f..%2fbaton.db", 404, "there is nothing at"),
])
def test_what_is_not_there(home, server, target, status, words):
    home.define(WRITER)
    run = server.start("writer", wait=True).body["run_id"]
    answer = server.get(f"/api/runs/{run}/artifacts/{target}")
    assert answer.status == status and words in answer.body["detail"], answer


def test_a_run_without_artifacts_and_no_run(home, server):
    run = server.start(home.define("name: plain\nsteps:\n  - {name: a, tool: noop}\n"), wait=True).body["run_id"]
    assert listed(server, run) == []
    assert server.get(f"/api/runs/{new_id()}/artifacts").status == 404
    assert server.get(f"/api/runs/{new_id()}/artifacts/a").status == 404


def test_the_command_line(home, server):
    home.define(WRITER)
    run = server.start("writer", wait=True).body["run_id"]
    _, output, _ = home.cli("artifacts", run)
    lines = output.splitlines()
    assert [line.split()[1:4] for line in lines] == [["1", "7", "notes/plan.md"], ["1", "5", "made.bin"],
                                                     ["2", "7", "notes/plan.md"]]
    assert fetch(home, run, "made.bin") == b"\xff\0end"
    assert fetch(home, run, "notes/plan.md@1") == "grüße".encode()
    status, _, errors = home.cli("artifacts", run, "nothing")
    assert status == 4 and "the run has no artifact nothing" in errors
    assert home.cli("artifacts", run, "notes/plan.md@0")[0] == 2
    assert home.cli("artifacts", run, "notes/plan.md@3")[0] == 4


# ---- what is refused -------------------------------------------------------------------------------


REFUSED = [
    ({"name": "a"}, "exactly one of content and path"),
    ({"name": "a", "content": "x", "path": "y"}, "exactly one of content and path"),
    ({"name": "../a", "content": "x"}, "/name"),
    ({"name": "/a", "content": "x"}, "/name"),
    ({"name": "a/../b", "content": "x"}, "begin with a dot"),
    ({"name": "a//b", "content": "x"}, "begin with a dot"),
    ({"name": "a/", "content": "x"}, "begin with a dot"),
    ({"name": "a b", "content": "x"}, "/name"),
    ({"name": "a", "content": "x", "media_type": "text/html\r\nX: y"}, "/media_type"),
    ({"name": "a", "content": "!", "encoding": "base64"}, "not base64"),
    ({"name": "a", "path": "nowhere"}, "nowhere"),
    ({"name": "a", "path": "../../baton.db"}, "leaves its folder"),
]


@pytest.mark.parametrize("inputs, words", REFUSED)
def test_a_write_that_is_refused_leaves_nothing(home, server, inputs, words):
    """The inputs are known only when the step starts, so the step fails."""
    given = "".join(f"{name}: '${{inputs.{name}}}', " for name in inputs)
    home.define(f"name: one\ninputs: {{{', '.join(f'{name}: {{}}' for name in inputs)}}}\nsteps:\n"
                f"  - {{name: a, tool: write_artifact, inputs: {{{given}}}}}\n")
    result = server.start("one", inputs, wait=True).body
    assert result["status"] == "failed" and words in result["error"], result
    assert contents(home) == {}


@pytest.mark.parametrize("inputs, words", REFUSED[:9])
def test_a_write_that_can_only_be_refused_is_refused_with_its_definition(home, server, inputs, words):
    refused = server.start(one(home, json.dumps(inputs)))
    assert (refused.status, refused.body["code"]) == (422, "invalid") and words in refused.body["detail"], refused
    assert contents(home) == {} and server.get("/api/runs").body == []


def test_bytes_that_were_changed_on_the_disk_are_not_given(home, server):
    home.define(WRITER)
    run = server.start("writer", wait=True).body["run_id"]
    hexes = sha(b"another")
    path = pathlib.Path(home.data, "artifacts", "content", hexes[:2], hexes)
    path.write_bytes(b"anotheR")
    answer = server.get(f"/api/runs/{run}/artifacts/notes/plan.md")
    assert (answer.status, answer.body["code"]) == (503, "storage")
    assert "its hash differs" in answer.body["detail"]
    path.unlink()
    assert "is missing" in server.get(f"/api/runs/{run}/artifacts/notes/plan.md").body["detail"]
    # Writing the same bytes again makes it whole.
    server.start(one(home, "{name: b, content: another}"), wait=True)
    assert server.get(f"/api/runs/{run}/artifacts/notes/plan.md").body == b"another"


def test_the_largest_and_one_more(home, server):
    large = 16 * 1024 * 1024
    home.define(f"""
name: large
inputs: {{more: {{type: number, default: 0}}}}
steps:
  - {{name: make, tool: shell, inputs: {{command: "head -c $(({large} + ${{inputs.more}})) /dev/zero > big"}}}}
  - {{name: keep, tool: write_artifact, depends_on: [make], inputs: {{name: big, path: big}}}}
""")
    run = server.start("large", wait=True).body["run_id"]
    assert [row["size"] for row in listed(server, run)] == [large]
    answer = server.get(f"/api/runs/{run}/artifacts/big")
    assert len(answer.body) == large and sha(answer.body) == listed(server, run)[0]["sha256"]
    refused = server.start("large", {"more": 1}, wait=True).body
    assert refused["status"] == "failed" and "at most" in refused["error"]
    assert "too large for the output of a step" in failed(server, home.define(f"""
name: back
steps:
  - {{name: make, tool: shell, inputs: {{command: "head -c 900000 /dev/zero > big"}}}}
  - {{name: keep, tool: write_artifact, depends_on: [make], inputs: {{name: big, path: big}}}}
  - {{name: read, tool: read_artifact, depends_on: [keep], inputs: {{name: big}}}}
"""))


def test_what_is_no_text_is_read_as_base64(home, server):
    given = base64.b64encode(b"\xff\xfe").decode()
    home.define(f"""
name: bytes
steps:
  - {{name: keep, tool: write_artifact, inputs: {{name: b, content: "{given}", encoding: base64}}}}
  - {{name: read, tool: read_artifact, depends_on: [keep], inputs: {{name: b, encoding: base64}}}}
  - {{name: text, tool: read_artifact, depends_on: [read], inputs: {{name: b}}}}
""")
    result = server.start("bytes", wait=True).body
    assert "is not UTF-8 at byte 0" in result["error"]
    assert server.get(f"/api/runs/{result['run_id']}/artifacts/b").body == b"\xff\xfe"


def test_many_at_once_get_one_number_each(home, server):
    home.define("""
name: wide
steps:
  - name: each
    map:
      over: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
      steps:
        - {name: keep, tool: write_artifact, inputs: {name: shared, content: "number ${item}"}}
""")
    run = server.start("wide", wait=True).body["run_id"]
    assert [row["version"] for row in listed(server, run)] == list(range(1, 13))
    assert {row["sha256"] for row in listed(server, run)} == {sha(f"number {n}".encode()) for n in range(12)}


# ---- kill -9 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("passing", [1, 2])
@pytest.mark.parametrize("point", POINTS)
def test_a_write_that_was_cut_off_happens_once(home, point, passing):
    home.define(WRITER.replace("name: made.bin, path: made.bin", "name: notes/plan.md, path: made.bin"))
    run = new_id()
    server = home.serve(BATON_POINTS=f"{point}=kill@{passing}")
    with contextlib.suppress(Gone):
        server.start("writer", run_id=run, wait=True)
    assert killed(server), server.errors()
    server = home.serve()
    assert server.finish(run)["status"] == "success"
    rows = listed(server, run)
    assert [(row["name"], row["version"]) for row in rows] == [("notes/plan.md", n) for n in (1, 2, 3)]
    # Each is what one call says it has written, and the other way round.
    said = [event["data"]["output"]["is"] for event in server.events(run)
            if event["type"] == "tool.finished" and "version" in str(event["data"].get("output"))]
    assert [(one["name"], one["version"], one["sha256"]) for one in said if "content" not in one] == \
        [(row["name"], row["version"], row["sha256"]) for row in rows]


@pytest.mark.parametrize("point, status, kept", [("artifact.content_stored", "failed", 0),
                                                 ("artifact.written", "success", 1)])
def test_called_off_while_it_writes_and_killed(home, point, status, kept):
    """Written is written, and the step says so; what is in no list yet is not made again."""
    run, server = held(home, point)
    server.kill()
    server = home.serve()
    server.finish(run)
    assert server.events(run)[-1]["data"]["outcome"] == "cancelled"
    assert [row["version"] for row in listed(server, run)] == [1] * kept
    assert step_of(server, run) == status
    home.local("POST", "/api/db/compact", {"days": 0})
    assert len(contents(home)) == kept


def test_called_off_while_it_writes(home):
    """It was told to stop and has written all the same: what is in the list has succeeded."""
    run, server = held(home, "artifact.content_stored")
    home.gate.send()
    server.finish(run)
    assert server.events(run)[-1]["data"]["outcome"] == "cancelled"
    assert [row["version"] for row in listed(server, run)] == [1]
    assert step_of(server, run) == "success"


# ---- what nobody names -------------------------------------------------------------------------------


def test_bytes_that_nobody_names_are_swept_and_others_stay(home):
    """Compaction takes the events; what they named stays, and so does what is written meanwhile."""
    home.define(WRITER)
    server = home.serve()
    run = server.start("writer", wait=True).body["run_id"]
    kept = contents(home)
    server.kill()
    server = home.serve(BATON_POINTS="artifact.content_stored=kill")
    lost = new_id()
    with contextlib.suppress(Gone):
        server.start(one(home, "{name: x, content: left behind}"), run_id=lost)
    assert killed(server), server.errors()
    assert set(contents(home)) == set(kept) | {sha(b"left behind")}
    half = pathlib.Path(home.data, "artifacts", "content", "00", f".{'0' * 64}.baton-new")
    half.parent.mkdir(exist_ok=True)
    half.write_bytes(b"half")
    server = home.serve()
    assert server.finish(lost)["status"] == "success"  # made again: now it is named
    cared = home.local("POST", "/api/db/compact", {"days": 0})
    assert (cared.status, cared.body["artifacts"], cared.body["compacted"]) == (200, 1, 2), cared
    assert set(contents(home)) == set(kept) | {sha(b"left behind")}
    assert server.get(f"/api/runs/{run}/events").status == 410
    assert [row["version"] for row in listed(server, run)] == [1, 1, 2]
    assert server.get(f"/api/runs/{run}/artifacts/made.bin").body == b"\xff\0end"
    stray = sha(b"stray")
    path = pathlib.Path(home.data, "artifacts", "content", stray[:2], stray)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"stray")
    assert home.local("POST", "/api/db/compact", {"days": 0}).body["artifacts"] == 1
    assert not path.exists()


def test_a_torn_line_is_no_artifact(home):
    home.define(WRITER)
    server = home.serve()
    run = server.start("writer", wait=True).body["run_id"]
    server.kill()
    lines = pathlib.Path(home.data, "artifacts", "runs", run)
    with lines.open("ab") as file:
        file.write(b'{"name":"torn","ver')
    server = home.serve()
    assert [row["version"] for row in listed(server, run)] == [1, 1, 2]
