"""Secrets: a step gets the value, and nothing else ever shows it."""
import base64
import json
import os
import pathlib
import urllib.parse

import pytest
from baton import new_id
from test_custom_tools import put, trust
from test_tools import LOOPBACK
from world import World

CANARY = 's3cr3t/canary+väl"ue'
FORMS = [CANARY.encode(), json.dumps(CANARY)[1:-1].encode(), urllib.parse.quote(CANARY, safe="").encode(),
         CANARY.encode().hex().encode(), base64.b64encode(CANARY.encode())[:-4],
         base64.b64encode(b"a" + CANARY.encode())[2:-4], base64.b64encode(b"ab" + CANARY.encode())[3:-4]]
RULES = """
secrets:
  token: {from: "env:MY_TOKEN", tools: [shell, http_fetch, http_send, asker], workflows: [use]}
  filed: {from: "file:filed", tools: [shell], workflows: ["*"]}
  short: {from: "env:SHORT", tools: ["*"], workflows: ["*"]}
"""


def rules(home, text=RULES):
    pathlib.Path(home.data, "secrets.yaml").write_text(text)


def serve(home, **more):
    rules(home)
    return home.serve(MY_TOKEN=CANARY, SHORT="seven77", **more)


def shell(home, command, more="", name="use"):
    home.define(f"name: {name}\nsteps:\n  - name: s\n    tool: shell\n{more}    inputs:\n"
                f"      env: {{TOKEN: '${{secrets.token}}', AUTH: 'Bearer ${{secrets.token}}!'}}\n"
                f"      command: {json.dumps(command)}\n"
                "outputs: {out: {from: '${steps.s.outputs.stdout}', optional: true}}\n")
    return name


def fault(server, run):
    return [event["data"]["fault"] for event in server.events(run) if event["type"] == "tool.finished"][-1]


def holders(folder, forms=FORMS):
    """The files of a folder that contain some form of the secret."""
    found = []
    for path in pathlib.Path(folder).rglob("*"):
        if path.is_file() and any(form in path.read_bytes() for form in forms):
            found.append(str(path.relative_to(folder)))
    return found


TELLTALE = r"""
printf '%s\n' "$TOKEN" "$AUTH"; printf '%s' "$TOKEN" >&2
printf '%s' "$TOKEN" | base64; printf 'a%s' "$TOKEN" | base64; printf 'ab%s' "$TOKEN" | base64
printf '%s' "$TOKEN" | od -An -v -tx1 | tr -d ' \n'; echo
printf '%s' "$TOKEN" | head -c 9; sleep 0.05; printf '%s\n' "$TOKEN" | tail -c +10
echo "$TOKEN" > kept; echo up > told; read -r w < gate
"""


def test_the_value_reaches_the_step_and_nothing_else(home):
    server = serve(home)
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    shell(home, TELLTALE + 'test "$TOKEN" = "$(cat kept)" && test "$AUTH" = "Bearer $TOKEN!" && exit 9')
    seen = [server.start("use", run_id=run)]
    told.await_line()
    target = f"/api/runs/{run}/steps/s/log"
    seen.append(server.get(target))
    with server.stream(target + "?follow") as stream:
        gate.send()
        chunks = [told.event for told in stream]
    assert server.finish(run)["status"] == "failed"
    for path in ("", "/state", "/steps", "/events", "/steps/s/log", "/trace", "/time", "/graph",
                 "?view=pipeline", "?view=pipeline_v1", "?view=task", "?view=graph"):
        seen.append(server.get(f"/api/runs/{run}{path}"))
    assert fault(server, run)["text"].startswith("exit status 9: ***")  # the step had the right value
    shown = json.dumps([chunks, [answer.body for answer in seen]], ensure_ascii=False) + server.errors()
    assert "***" in shown and "Bearer ***!" in shown
    assert [form for form in FORMS if form.decode() in shown] == []
    assert json.dumps(CANARY) not in shown and "nary+v" not in shown  # also the parts of a value written in two pieces
    requested = next(event["data"] for event in server.events(run) if event["type"] == "tool.requested")
    assert [use["name"] for use in requested["secrets"]] == ["token", "token"]
    server.kill()
    assert holders(home.data) == [f"work/{run}/kept"]


def test_an_output_is_masked_and_still_usable(home):
    server = serve(home)
    shell(home, 'printf "a $TOKEN b"')
    result = server.start("use", wait=True).body
    assert result["outputs"] == {"out": "a *** b"}


def test_a_secret_survives_a_crash_by_name_only(home):
    server = serve(home)
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    shell(home, 'echo up > told; read -r w < gate; printf "$TOKEN" | wc -c')
    server.start("use", run_id=run)
    told.await_line()
    server.kill()
    server = serve(home)
    told.await_line()
    gate.send()
    assert server.finish(run)["outputs"]["out"].strip() == str(len(CANARY.encode()))
    server.kill()
    assert holders(home.data) == []


def test_another_step_that_finds_the_value_is_masked_too(home):
    server = serve(home)
    home.define("name: use\nsteps:\n"
                "  - {name: a, tool: shell, inputs: {env: {T: '${secrets.token}'}, command: 'echo \"$T\" > kept'}}\n"
                "  - {name: b, tool: shell, depends_on: [a], inputs: {command: 'cat kept'}}\n"
                "outputs: {out: {from: '${steps.b.outputs.stdout}'}}\n")
    assert server.start("use", wait=True).body["outputs"] == {"out": "***\n"}


def test_text_that_looks_like_a_reference_is_text(home):
    server = serve(home)
    home.define("name: use\ninputs: {word: {type: string}}\nsteps:\n"
                "  - {name: a, tool: shell, inputs: {env: {T: '${inputs.word}', U: '${secrets.token}'}, command: 'printf %s \"$T\"'}}\n"
                "outputs: {out: {from: '${steps.a.outputs.stdout}'}}\n")
    result = server.start("use", {"word": "${secrets.token}"}, wait=True).body
    assert result["outputs"] == {"out": "${secrets.token}"}


# ---- permission ---------------------------------------------------------------------------------


@pytest.mark.parametrize("text, says", [
    ("", "there is no secrets.yaml in the data folder"),
    ("secrets: {}", "secrets.yaml has no secret of this name"),
    ("secrets: {token: {from: 'env:MY_TOKEN', tools: [http_fetch], workflows: [use]}}", "tool shell may not use it"),
    ("secrets: {token: {from: 'env:MY_TOKEN', tools: [shell], workflows: [other]}}", "workflow use may not use it"),
    ("secrets: {token: {from: 'env:NOT_SET', tools: [shell], workflows: [use]}}", "is not set in the environment"),
    ("secrets: {token: {from: 'env:SHORT', tools: [shell], workflows: [use]}}", "fewer than 8 bytes"),
    ("secrets: {token: {from: 'plain', tools: [shell], workflows: [use]}}", "secrets.yaml:1:"),
    ("secrets: {token: {from: 'env:MY_TOKEN'}}", "secrets.yaml:1:"),
    ("secrets: [", "secrets.yaml:2:1: "),
])
def test_what_is_refused(home, text, says):
    server = serve(home)
    if text:
        rules(home, text)
    else:
        os.remove(os.path.join(home.data, "secrets.yaml"))
    shell(home, "echo began > began")
    run = server.start("use", wait=True).body["run_id"]
    error = fault(server, run)
    assert error["code"] == "secret_unavailable" and error["text"].startswith("secret token: ")
    assert says in error["text"], error
    assert not home.workspace(run, "began").exists()


def test_a_secret_can_be_withdrawn_while_the_server_runs(home):
    server = serve(home)
    shell(home, "true")
    assert server.start("use", wait=True).body["status"] == "success"
    rules(home, RULES.replace("workflows: [use]", "workflows: [other]"))
    assert server.start("use", wait=True).body["status"] == "failed"
    rules(home)
    assert server.start("use", wait=True).body["status"] == "success"


def test_a_secret_in_a_file(home):
    server = serve(home)
    folder = pathlib.Path(home.data, "secrets")
    folder.mkdir(exist_ok=True)
    folder.joinpath("filed").write_text("from-a-file-9\n")
    folder.joinpath("filed").chmod(0o600)
    home.define("name: any\nsteps:\n"
                "  - {name: a, tool: shell, inputs: {env: {T: '${secrets.filed}'}, command: 'test $T = from-a-file-9; echo $? $T'}}\n"
                "outputs: {out: {from: '${steps.a.outputs.stdout}'}}\n")
    assert server.start("any", wait=True).body["outputs"] == {"out": "0 ***\n"}


@pytest.mark.parametrize("step, says", [
    ("tool: echo, inputs: {x: '${secrets.token}'}", "only inputs of tools that take secrets"),
    ("tool: shell, inputs: {command: 'echo ${secrets.token}'}", "this tool takes secrets only in env"),
    ("tool: shell, inputs: {command: 'true', env: {A: '${upper(secrets.token)}'}}", "by itself"),
    ("tool: shell, when: \"secrets.token == 'x'\", inputs: {command: 'true'}", "by itself"),
    ("human: {question: 'is it ${secrets.token}?'}", "only inputs of tools that take secrets"),
    ("tool: http_fetch, inputs: {url: 'http://x/${secrets.token}'}", "this tool takes secrets only in headers"),
])
def test_where_a_secret_cannot_stand(home, server, step, says):
    home.define(f"name: wrong\nsteps:\n  - {{name: s, {step}}}\n")
    answer = server.start("wrong")
    assert answer.status == 422 and says in json.dumps(answer.body, ensure_ascii=False), answer.body


# ---- other tools --------------------------------------------------------------------------------


def test_headers_and_bodies_of_http_requests(home):
    with World() as world:
        server = serve(home, **LOOPBACK)
        home.define(f"""
name: use
steps:
  - name: fetch
    tool: http_fetch
    inputs: {{url: "{world.base}/echo", headers: {{X-Token: "Bearer ${{secrets.token}}"}}, fail_on_status: false}}
  - name: send
    tool: http_send
    depends_on: [fetch]
    inputs: {{url: "{world.base}/echo", json: {{list: [1, "${{secrets.token}}"]}}, fail_on_status: false}}
outputs: {{all: {{from: "${{steps.send.outputs}}"}}, first: {{from: "${{steps.fetch.outputs}}"}}}}
""")
        result = server.start("use", wait=True).body
        assert result["status"] == "success", result
        fetched, sent = world.ledger
        assert fetched.headers["X-Token"].encode("latin-1").decode() == f"Bearer {CANARY}"
        assert json.loads(sent.body) == {"list": [1, CANARY]}
        assert CANARY not in json.dumps(result, ensure_ascii=False)
        server.kill()
        assert holders(home.data) == []


@pytest.mark.parametrize("keep", ["false", "true"])
def test_custom_tools_declare_where_they_take_secrets(home, keep):
    server = serve(home)
    put(home, "asker", f"path: asker.py\nfunction: ask\nclass: idempotent\nkeep_alive: {keep}\nsecrets: [auth]\n",
        asker__py="import sys\ndef ask(auth, word):\n    print('with', auth['key'], file=sys.stderr, flush=True)\n"
                  "    return {'size': len(auth['key']), 'said': word + auth['key']}\n")
    trust(server, "asker")
    home.define("name: use\nsteps:\n  - {name: a, tool: asker, inputs: {word: hi, auth: {key: '${secrets.token}'}}}\n"
                "outputs: {all: {from: '${steps.a.outputs}'}}\n")
    result = server.start("use", wait=True).body
    assert result["outputs"] == {"all": {"size": len(CANARY), "said": "hi***"}}, result
    log = server.get(f"/api/runs/{result['run_id']}/steps/a/log").body["attempts"][0]
    assert log["parts"] == [{"stream": "stderr", "text": "with ***\n"}]
    home.define("name: wrong\nsteps:\n  - {name: a, tool: asker, inputs: {word: '${secrets.token}', auth: {}}}\n")
    assert "takes secrets only in auth" in json.dumps(server.start("wrong").body)
    server.kill()
    assert holders(home.data) == []


def test_the_value_is_on_no_command_line(home):
    server = serve(home)
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    shell(home, "echo up > told; read -r w < gate")
    server.start("use", run_id=run)
    told.await_line()
    lines = []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                lines.append(folder.joinpath("cmdline").read_bytes())
            except OSError:
                continue
    gate.send()
    server.finish(run)
    assert any(run.encode() in line for line in lines)
    assert [line for line in lines if CANARY.encode() in line] == []


def test_a_variable_cannot_add_arguments_to_the_sandbox(home):
    server = serve(home)
    home.define("name: any\ninputs: {x: {type: string}}\nsteps:\n"
                "  - {name: a, tool: shell, inputs: {command: 'true', env: {A: '${inputs.x}'}}}\n")
    run = server.start("any", {"x": "x\0--bind\0/\0/host"}, wait=True).body["run_id"]
    assert fault(server, run)["code"] in ("isolation", "io", "invalid")


NAMED = """
name: use
steps:
  - name: p
    parallel:
      steps:
        - {name: one, tool: shell, inputs: {command: 'mkdir -p "$T"; echo 1 > "$T/f"', env: {T: "${secrets.token}"}}}
        - {name: two, tool: shell, inputs: {command: 'mkdir -p "$T"; echo 2 > "$T/f"', env: {T: "${secrets.token}"}}}
"""


def test_a_secret_in_the_name_of_a_file_is_masked_in_the_conflict_of_a_merge(home):
    server = serve(home)
    run = server.run_of(home.define(NAMED))
    result = server.finish(run)
    [left] = [event["data"] for event in server.events(run) if event["type"] == "step.left"]
    assert left["fault"]["code"] == "conflict" and "***/f (p/one, p/two)" in left["fault"]["text"]
    assert CANARY not in json.dumps(result, ensure_ascii=False) + server.errors()
    server.kill()
    assert [path for path in holders(home.data) if not path.startswith("trees/")] == []


def test_a_secret_in_the_name_of_a_file_is_masked_when_its_folder_cannot_be_stored(home):
    """The next step has no tree; the log says why, with the name of the file that git could not read."""
    server = serve(home)
    home.define("name: use\nsteps:\n"
                "  - {name: a, tool: shell, inputs: {env: {T: '${secrets.token}'}, command: 'mkdir -p \"$T\"; echo 1 > \"$T/f\"; chmod 000 \"$T/f\"'}}\n"
                "  - {name: b, tool: shell, depends_on: [a], inputs: {command: 'echo done'}}\n")
    run = server.run_of("use")
    assert server.finish(run)["status"] == "success"
    assert "cannot take or restore the workspace" in server.errors() and "***/f" in server.errors()
    assert CANARY not in server.errors()
