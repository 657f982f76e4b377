"""Tools of one's own: nothing until they are trusted, nothing again when they change, then like any other."""
import concurrent.futures
import contextlib
import os
import pathlib
import re
import shutil

import pytest
from baton import Gone, killed, new_id, wait_until_none_with
from test_tools import CLASSES, finish, of_type, one_step, run
from world import World


def put(home, name, yaml, **files):
    """A definition in tools/, and files beside it: executable when they begin with #!."""
    folder = pathlib.Path(home.data, "tools")
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.yaml").write_text(f"name: {name}\n{yaml}")
    for file, text in files.items():
        path = folder / file.replace("__", ".")
        path.write_text(text)
        path.chmod(0o700)
    return folder


def trust(server, name, **more):
    answer = server.request("POST", "/api/trust", {"name": name, **more})
    assert answer.status == 200, answer
    return answer.body


def fault(server, result):
    assert result["status"] == "failed", result
    return of_type(server.events(result["run_id"]), "tool.finished")[0]["fault"]


def in_doubt(server, run):
    """A call of class `once` without an answer: nobody can say, a person is asked, and nothing is called again."""
    asked = server.until(run, "human.requested")["data"]
    assert asked["kind"] == "outcome_unknown"
    events = server.events(run)
    [closed] = of_type(events, "tool.finished")
    assert (closed["outcome"], closed["fault"]["code"]) == ("unknown", "outcome_unknown")
    assert len(of_type(events, "tool.requested")) == 1 and of_type(events, "tool.restarted") == []
    server.respond(asked["effect"], "happened", value={"seen": True}, revision=asked["revision"])
    result = server.finish(run)
    assert result["outputs"] == {"all": {"seen": True}}, result
    assert len(of_type(server.events(run), "tool.requested")) == 1
    return closed["fault"]["text"]


def output(result):
    assert result["status"] == "success", result
    return result["outputs"]["all"]


# ---- the list --------------------------------------------------------------------------------------


def test_what_is_built_in_is_listed_with_class_and_schema(home, server):
    items = {item["name"]: item for item in server.get("/api/tools").body["items"]}
    assert {name: item["class"] for name, item in items.items()} == CLASSES
    assert all(item["trusted"] and not item["custom"] for item in items.values())
    assert items["shell"]["inputs"]["properties"]["command"]["type"] == "string"
    assert items["http_fetch"]["outputs"]["required"]
    status, printed, _ = home.cli("tools")
    assert status == 0
    lines = [re.split("  +", line) for line in printed.splitlines()]
    assert lines[0] == ["TOOL", "AFTER A CRASH", "RISK", "ORIGIN", "WHAT IT DOES"]
    words = {"pure": "computed again", "idempotent": "called again", "keyed": "called again", "probe": "looks first",
             "contained": "undone, again", "once": "asks a person"}
    assert {line[0]: line[1] for line in lines[1:]} == {name: words[kind] for name, kind in CLASSES.items()}


def test_with_isolation_off_nothing_is_contained(home):
    server = home.serve(BATON_TOOLS_ISOLATION="off")
    classes = {item["name"]: item["class"] for item in server.get("/api/tools").body["items"]}
    assert classes["shell"] == classes["write_file"] == "once"


def test_what_is_wrong_with_a_definition_is_said(home, server):
    wrong = {"both": "command: [/bin/true]\npath: a.py\nfunction: f\n", "kind": "path: a.rb\nfunction: f\n",
             "pure": "command: [/bin/true]\nclass: pure\n", "held": "command: [/bin/true]\nclass: contained\nnetwork: true\n",
             "schema": "command: [/bin/true]\ninputs: {type: 7}\n", "gone": "command: [/no/such/program]\n",
             "out": "command: [../../outside]\n", "shell": "command: [/bin/true]\n", "typo": "comand: [/bin/true]\n"}
    for name, yaml in wrong.items():
        put(home, name, yaml)
    items = {item["name"]: item for item in server.get("/api/tools").body["items"] if item["custom"]}
    assert set(items) == set(wrong)
    for name, item in items.items():
        assert not item["trusted"] and item["reason"].startswith(f"tools/{name}.yaml: "), item
        answer = server.request("POST", "/api/trust", {"name": name})
        assert answer.status in (403, 404, 409, 422), (name, answer)
    assert not any(item["trusted"] for item in server.get("/api/tools").body["items"] if item["custom"])


# ---- trust -------------------------------------------------------------------------------------------


def test_a_tool_is_inert_until_it_is_trusted(home, server):
    put(home, "greet", "path: greet.py\nfunction: greet\n", greet__py="def greet(who): return 'hello ' + who\n")
    home.define(one_step("greet", "{who: you}"))
    refused = server.start("one")
    assert refused.status == 403 and "baton trust greet" in refused.body["detail"], refused
    status, printed, errors = home.cli("trust", "greet")
    assert (status, errors) == (0, "") and printed.startswith("trusted greet: definition ")
    assert output(server.start("one", wait=True).body) == {"result": "hello you"}
    assert home.cli("trust", "list")[1].split()[:2] == ["greet", "trusted"]
    assert home.cli("trust", "revoke", "greet")[0] == 0
    assert server.start("one").status == 403
    assert home.cli("trust", "revoke", "greet")[0] == 4
    assert home.cli("trust", "nothing")[0] == 4


@pytest.mark.parametrize("file,what", [("greet.py", "program"), ("greet.yaml", "definition")])
def test_what_has_changed_is_inert_again(home, server, file, what):
    folder = put(home, "greet", "path: greet.py\nfunction: greet\n", greet__py="def greet(): return 1\n")
    trust(server, "greet")
    assert output(run(home, server, "greet", "{}")) == {"result": 1}
    with open(folder / file, "a") as text:
        text.write("# changed\n")
    refused = server.start("one")
    assert refused.status == 403 and f"its {what} has changed" in refused.body["detail"]
    # An admin looks at it again.
    trust(server, "greet")
    assert output(server.start("one", wait=True).body) == {"result": 1}


def test_another_program_of_the_system_in_its_place_is_noticed(home):
    """One that has long been as it is is not read again at each call; what stands in its place now is another file."""
    server = home.serve(BATON_TOOLS_ISOLATION="off")
    link = pathlib.Path(home.data, "echo")
    link.symlink_to("/bin/cat")
    put(home, "same", f"command: [{link}]\n")
    trust(server, "same")
    for _ in range(2):
        assert output(run(home, server, "same", "{word: x}"))["word"] == "x"
    link.unlink()
    link.symlink_to("/bin/tac")
    refused = server.start("one")
    assert refused.status == 403 and "its program has changed" in refused.body["detail"]
    link.unlink()
    link.symlink_to("/bin/cat")
    assert output(server.start("one", wait=True).body)["word"] == "x"


def test_many_first_calls_at_once(home, server):
    """Each of them finds no copy of the program yet and makes one."""
    put(home, "greet", "command: [greet]\nkeep_alive: true\n", greet="#!/bin/sh\nwhile read -r line; do echo '{\"output\": 1}'; done\n")
    trust(server, "greet")
    home.define(one_step("greet", "{}"))
    shutil.rmtree(pathlib.Path(home.data, "trusted"), ignore_errors=True)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: server.start("one"), range(48)))
    assert {answer.status for answer in answers} == {202}, answers
    assert len(list(pathlib.Path(home.data, "trusted").iterdir())) == 1


def test_a_change_behind_the_start_is_refused_at_the_call(home, server):
    folder = put(home, "greet", "path: greet.py\nfunction: greet\n", greet__py="def greet(): return 1\n")
    trust(server, "greet")
    home.define("""
name: late
steps:
  - {name: first, human: {question: "Go on?"}}
  - {name: second, tool: greet, depends_on: [first]}
""")
    run = server.run_of("late")
    asked = server.until(run, "human.requested")["data"]
    (folder / "greet.py").write_text("def greet(): return 2\n")
    server.respond(asked["effect"])
    server.finish(run)
    failed = of_type(server.events(run), "tool.finished")[0]["fault"]
    assert failed["code"] == "forbidden" and "baton trust greet" in failed["text"]


def test_only_what_was_looked_at_is_trusted(home, server):
    put(home, "greet", "path: greet.py\nfunction: greet\n", greet__py="def greet(): return 1\n")
    answer = server.request("POST", "/api/trust", {"name": "greet", "program": "0" * 64})
    assert answer.status == 409
    assert not server.get("/api/tools").body["items"][-1]["trusted"]


def test_trust_needs_no_server(home):
    put(home, "greet", "path: greet.py\nfunction: greet\n", greet__py="def greet(): return 1\n")
    status, printed, errors = home.cli("trust", "greet")
    assert (status, errors) == (0, "") and printed.startswith("trusted greet: ")
    assert home.cli("trust", "list")[1].split()[:2] == ["greet", "trusted"]
    assert output(run(home, home.serve(), "greet", "{}")) == {"result": 1}


def test_trust_is_an_admins_and_outlives_the_program(home):
    put(home, "greet", "path: greet.py\nfunction: greet\n", greet__py="def greet(): return 1\n")
    server = home.serve("--require-key")
    keys = {role: home.local("POST", "/api/keys", {"label": role, "role": role}).body["key"]
            for role in ("operator", "admin")}
    for role, status in (("operator", 403), ("admin", 200)):
        answer = server.request("POST", "/api/trust", {"name": "greet"}, {"Authorization": "Bearer " + keys[role]})
        assert answer.status == status
    assert answer.body["trusted_by"] == "admin"
    server.kill()
    server = home.serve()
    assert output(run(home, server, "greet", "{}")) == {"result": 1}
    changes = server.get("/api/events?type=document.changed").body["items"]
    assert [event["data"]["name"] for event in changes if event["data"]["kind"] == "trust"] == ["greet"]


# ---- one process a call ---------------------------------------------------------------------------


def test_a_program_gets_json_and_gives_json(home, server):
    put(home, "twice", "command: [./twice, --more]\ninputs: {properties: {n: {type: integer}}, required: [n]}\n",
        twice="#!/usr/bin/python3\nimport json, os, sys\nn = json.load(sys.stdin)['n']\n"
              "print(json.dumps({'n': 2 * n, 'words': sys.argv[1:], 'effect': os.environ['BATON_EFFECT']}))\n")
    trust(server, "twice")
    result = run(home, server, "twice", "{n: 21}")
    effect = of_type(server.events(result["run_id"]), "tool.requested")[0]["effect"]
    assert output(result) == {"n": 42, "words": ["--more"], "effect": effect}
    failed = fault(server, run(home, server, "twice", "{n: many}"))
    assert failed["code"] == "invalid" and failed["text"].startswith("inputs: ")


@pytest.mark.parametrize("script,code,says", [
    ("echo no >&2; exit 7", "tool_failed", "exit status 7: no"),
    ("echo not json", "tool_failed", "is not JSON"),
    ("true", "tool_failed", "no output"),
    ("head -c 200000 /dev/zero | tr '\\0' 1", "too_large", "131072"),
    ("sleep 1000", "timeout", "0.3 seconds"),
])
def test_how_a_program_fails(home, server, script, code, says):
    put(home, "bad", "command: [bad]\nclass: idempotent\n" + ("timeout_seconds: 0.3\n" if code == "timeout" else ""),
        bad=f"#!/bin/sh\n{script}\n")
    trust(server, "bad")
    failed = fault(server, run(home, server, "bad", "{}"))
    assert failed["code"] == code and says in failed["text"], failed


# ---- once: a failure counts when the tool has told of it ------------------------------------------

RETRIED = "    retry: {max_retries: 3, base_delay: 0}\n"


@pytest.mark.parametrize("script,says", [
    ("echo no >&2; exit 7", "exit status 7: no"),
    ("kill -9 $$", "its outcome is unknown"),
    ("echo '{}'; kill -9 $$", "its outcome is unknown"),
    ("echo not json", "is not JSON"),
    ("true", "no output"),
    ("head -c 200000 /dev/zero | tr '\\0' 1", "131072"),
    ("echo '{}'; sleep 1000", "0.3 seconds"),
])
def test_once_without_an_answer_is_a_question(home, server, script, says):
    put(home, "bad", "command: [bad]\nclass: once\n" + ("timeout_seconds: 0.3\n" if "sleep" in script else ""),
        bad=f"#!/bin/sh\n{script}\n")
    trust(server, "bad")
    home.define(one_step("bad", "{}", RETRIED))
    assert says in in_doubt(server, server.run_of("one"))


@pytest.mark.parametrize("files", [
    {"bad": "#!/bin/sh\necho '{\"error\": \"no\"}'; echo no >&2; exit 7\n"},
    {"bad__py": "def do(): raise ValueError('no')\n"},
    {"bad__py": "raise ValueError('no')\n"},
    {"bad__js": "exports.do = () => { throw new Error('no') }\n"},
    {"bad__js": "throw new Error('no')\n"},
])
def test_once_that_tells_of_its_failure_has_failed(home, server, files):
    [file] = files
    what = "command: [bad]\n" if file == "bad" else f"path: {file.replace('__', '.')}\nfunction: do\n"
    for keep_alive in ("false", "true") if file != "bad" else ("false",):
        put(home, "bad", what + f"class: once\nkeep_alive: {keep_alive}\n", **files)
        trust(server, "bad")
        failed = fault(server, run(home, server, "bad", "{}"))
        assert failed["code"] == "tool_failed" and "no" in failed["text"], failed


def test_once_whose_result_is_no_json_may_have_happened(home, server):
    for keep_alive in ("false", "true"):
        put(home, "bad", f"path: bad.py\nfunction: do\nclass: once\nkeep_alive: {keep_alive}\n", bad__py="def do(): return {1, 2}\n")
        trust(server, "bad")
        home.define(one_step("bad", "{}"))
        in_doubt(server, server.run_of("one"))


def serve_beside(home, world):
    """A server whose sandboxes reach the world, and the world's address there: one that programs send through the proxy."""
    base = world.base.replace("127.0.0.1", "127.1")
    return home.serve(BATON_SANDBOX_NETWORK=base.split("/")[2], BATON_TOOLS_PRIVATE_ADDRESSES="127.0.0.1"), base


def held(home, keep_alive, class_name):
    """The run of a tool that has told us it is under way and waits for good; nothing of it can be seen from outside."""
    with World() as world:
        server, base = serve_beside(home, world)
        put(home, "slow", f"path: slow.py\nfunction: do\nclass: {class_name}\nnetwork: true\nkeep_alive: {keep_alive}\n",
            slow__py="import time, urllib.request\n"
                     "def do(url):\n    urllib.request.urlopen(url).read()\n    time.sleep(1000)\n")
        trust(server, "slow")
        home.define(one_step("slow", f"{{url: '{base}/begun'}}"))
        run = server.run_of("one")
        world.await_asked(1)
    return server, run


@pytest.mark.parametrize("keep_alive", ["false", "true"])
def test_once_that_is_stopped_at_its_steps_timeout_is_a_question(home, server, keep_alive):
    """It is stopped whether it has begun by then or not, so nothing waits for its beginning."""
    put(home, "slow", f"path: slow.py\nfunction: do\nclass: once\nkeep_alive: {keep_alive}\n",
        slow__py="import time\ndef do():\n    time.sleep(1000)\n")
    trust(server, "slow")
    home.define(one_step("slow", "{}", "    timeout: 3\n" + RETRIED))
    assert "told to stop" in in_doubt(server, server.run_of("one"))


@pytest.mark.parametrize("keep_alive", ["false", "true"])
@pytest.mark.parametrize("class_name,outcome,code", [("once", "unknown", "outcome_unknown"), ("keyed", "cancelled", "cancelled")])
def test_one_whose_run_is_cancelled(home, keep_alive, class_name, outcome, code):
    """Of a run that is called off nobody is asked; what is recorded is that nobody knows."""
    server, run = held(home, keep_alive, class_name)
    assert server.request("POST", f"/api/runs/{run}/cancel", {}).status == 200
    server.finish(run)
    events = server.events(run)
    assert of_type(events, "run.finished")[0]["outcome"] == "cancelled"
    [closed] = of_type(events, "tool.finished")
    assert (closed["outcome"], closed["fault"]["code"]) == (outcome, code)
    assert "human.requested" not in server.types(run)


def test_a_function_of_a_script_in_javascript(home, server):
    put(home, "sum", "path: sum.js\nfunction: sum\n",
        sum__js="console.log('noise'); process.stdout.write('more of it');\n"
                "exports.sum = async ({a, b}) => ({sum: a + b});\nexports.large = () => 'x'.repeat(120000);\n")
    trust(server, "sum")
    assert output(run(home, server, "sum", "{a: 1, b: 2}")) == {"sum": 3}
    put(home, "kept", "path: sum.js\nfunction: sum\nkeep_alive: true\n")
    trust(server, "kept")
    assert output(run(home, server, "kept", "{a: 1, b: 3}")) == {"sum": 4}
    for keep_alive in ("true", "false"):
        put(home, "large", f"path: sum.js\nfunction: large\nkeep_alive: {keep_alive}\n")
        trust(server, "large")
        assert output(run(home, server, "large", "{}")) == {"result": "x" * 120000}


def test_it_is_shut_in_like_shell(home, server):
    """Only a contained tool writes the workspace; none sees the network or the data folder."""
    look = f"""#!/bin/sh
cat >/dev/null
can() {{ if "$@" >/dev/null 2>&1; then echo true; else echo false; fi; }}
echo "{{\\"write\\": $(can touch made), \\"data\\": $(can ls {home.data}), \\"net\\": $(can grep -q eth /proc/net/dev)}}"
"""
    for class_name in ("once", "contained"):
        put(home, "look", f"command: [look]\nclass: {class_name}\n", look=look)
        trust(server, "look")
        result = run(home, server, "look", "{}")
        assert output(result) == {"write": class_name == "contained", "data": False, "net": False}
        assert home.workspace(result["run_id"], "made").exists() == (class_name == "contained")


def test_without_isolation_it_runs_all_the_same(home):
    put(home, "greet", "path: greet.py\nfunction: greet\n", greet__py="def greet(): return 1\n")
    server = home.serve(BATON_TOOLS_ISOLATION="off")
    trust(server, "greet")
    assert output(run(home, server, "greet", "{}")) == {"result": 1}


def test_with_a_network_it_reaches_the_world(home):
    with World() as world:
        server, base = serve_beside(home, world)
        put(home, "ask", "path: ask.py\nfunction: ask\nnetwork: true\n",
            ask__py="import urllib.request\ndef ask(url): return urllib.request.urlopen(url).read().decode()\n")
        trust(server, "ask")
        assert output(run(home, server, "ask", f"{{url: '{base}/x'}}")) == {"result": "GET /x "}


def test_a_network_that_allows_no_host_refuses_the_call(home, server):
    put(home, "ask", "path: ask.py\nfunction: ask\nnetwork: true\n", ask__py="def ask(): return 1\n")
    trust(server, "ask")
    failed = fault(server, run(home, server, "ask", "{}"))
    assert failed["code"] == "isolation" and "sandbox.network allows no host" in failed["text"], failed


@pytest.mark.parametrize("class_name,attempts,outcome", [("once", 1, "unknown"), ("keyed", 2, "ok"), ("contained", 2, "ok")])
def test_after_a_crash_its_class_decides(home, class_name, attempts, outcome):
    put(home, "note", f"command: [note]\nclass: {class_name}\n", note="#!/bin/sh\necho \"\\\"$BATON_EFFECT\\\"\"\n")
    server = home.serve(BATON_POINTS="tool.ended=kill")
    trust(server, "note")
    run = new_id()
    home.define(one_step("note", "{}"))
    with contextlib.suppress(Gone):
        server.start("one", run_id=run)
    assert killed(server)
    _, events = finish(home, run, "not_happened" if outcome == "unknown" else None)
    closed = of_type(events, "tool.finished")[0]
    assert closed["outcome"] == outcome
    assert 1 + len(of_type(events, "tool.restarted")) == attempts
    if outcome == "ok":  # the key is the same for every attempt
        assert closed["output"]["is"] == {"result": closed["effect"]}


def test_nothing_of_it_survives_a_crash(home, server):
    marker = f"left-{new_id()}"
    run = new_id()
    told = home.fifo(run, "told")
    put(home, "stay", "command: [stay]\nclass: contained\n",
        stay=f"#!/bin/sh\n(setsid sh -c ': {marker}; sleep 1000; :' &)\necho up > told\nsleep 1000\n")
    trust(server, "stay")
    home.define(one_step("stay", "{}"))
    server.start("one", run_id=run)
    assert told.await_line() == "up"
    server.kill()
    wait_until_none_with(marker)
