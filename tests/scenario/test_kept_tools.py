"""Tools that stay: one process for many calls, which dies with the program and never serves what it may not."""
import contextlib
import os
import pathlib
import signal
import uuid

import pytest
from baton import Gone, descendants, killed, new_id, processes_with, wait_until, wait_until_none_with
from test_custom_tools import fault, in_doubt, output, put, trust
from test_tools import finish, of_type, one_step, run

COUNTER = '''
import os
count = 0

def count_up(by=1):
    global count
    print("this is not an answer")
    count += by
    return {"count": count}

def die():
    os._exit(3)

def wrong():
    raise ValueError("so it is")

def hang():
    import time
    time.sleep(1000)

def who():
    return {name: os.environ.get(name) for name in ("BATON_EFFECT", "BATON_RUN")}

def large(size=0):
    return "x" * size

def do(what="count_up", **more):
    return globals()[what](**more)
'''


def counter(home, server, more="class: idempotent\n"):
    put(home, "counter", f"path: counter.py\nfunction: do\nkeep_alive: true\n{more}", counter__py=COUNTER)
    trust(server, "counter")


def test_one_process_serves_call_after_call(home, server):
    counter(home, server)
    answers = [output(run(home, server, "counter", "{}")) for _ in range(3)]
    assert [answer["count"] for answer in answers] == [1, 2, 3]


@pytest.mark.parametrize("kept, locks", [("true", 0), ("false", 1)])
def test_a_call_of_a_kept_process_has_no_lock_of_its_own(home, server, kept, locks):
    """The process has one for all its calls.  A process of a single call has the lock of its effect."""
    put(home, "slow", f"path: slow.py\nfunction: do\nkeep_alive: {kept}\nclass: contained\n" if kept == "false" else
        f"path: slow.py\nfunction: do\nkeep_alive: {kept}\nclass: idempotent\n",
        slow__py="def do():\n  import time; open('/workspace/ready', 'w').close(); time.sleep(1000)\n")
    trust(server, "slow")
    home.define(one_step("slow", "{}"))
    asked = server.run_of("one")
    ready = pathlib.Path(home.data, "work", "tools/slow" if kept == "true" else asked, "ready")
    wait_until(ready.exists)
    names = os.listdir(os.path.join(home.data, "locks"))
    assert [name for name in names if name.startswith("tool-")] == ["tool-slow"] * (1 - locks)
    assert len([name for name in names if not name.startswith("tool-")]) == locks
    server.tell(asked, "cancel")
    server.follow(asked)
    assert not [name for name in os.listdir(os.path.join(home.data, "locks")) if not name.startswith("tool-")]


def test_a_definition_that_changes_between_calls_is_seen(home, server):
    counter(home, server)
    assert output(run(home, server, "counter", "{}"))["count"] == 1
    definition = pathlib.Path(home.data, "tools/counter.yaml")
    definition.write_text(definition.read_text() + "timeout_seconds: 7\n")
    refused = server.start("one", wait=True)
    assert refused.status == 403 and "no longer trusted" in refused.body["detail"], refused
    trust(server, "counter")
    assert output(run(home, server, "counter", "{}"))["count"] == 1


def test_calls_at_the_same_time_take_turns(home, server):
    counter(home, server)
    steps = "".join(f"  - {{name: s{n}, tool: counter}}\n" for n in range(20))
    outputs = "".join(f"  o{n}: {{from: '${{steps.s{n}.outputs.count}}'}}\n" for n in range(20))
    home.define(f"name: many\nsteps:\n{steps}outputs:\n{outputs}")
    result = server.start("many", wait=True).body
    assert sorted(result["outputs"].values()) == list(range(1, 21))


def test_one_that_dies_is_started_again(home, server):
    counter(home, server)
    assert output(run(home, server, "counter", "{}"))["count"] == 1
    failed = fault(server, run(home, server, "counter", "{what: die}"))
    assert failed["code"] == "tool_failed" and "exit status 3" in failed["text"]
    assert output(run(home, server, "counter", "{}"))["count"] == 1


def test_a_failure_it_tells_of_does_not_end_it(home, server):
    counter(home, server)
    assert output(run(home, server, "counter", "{}"))["count"] == 1
    assert fault(server, run(home, server, "counter", "{what: wrong}"))["text"] == "ValueError: so it is"
    assert output(run(home, server, "counter", "{}"))["count"] == 2


def test_one_that_takes_too_long_is_ended_and_the_next_call_goes_on(home, server):
    """The next call has no more time than the one that hangs, and on a busy machine Python may need more to
    begin: then it is tried again, and each try is a new process."""
    counter(home, server, "timeout_seconds: 2\nclass: idempotent\n")
    assert fault(server, run(home, server, "counter", "{what: hang}"))["code"] == "timeout"
    home.define(one_step("counter", "{}", "    retry: {max_retries: 10, base_delay: 0, on: [timeout]}\n"))
    assert output(server.start("one", wait=True).body)["count"] == 1


def test_a_changed_one_is_a_new_process(home, server):
    counter(home, server)
    assert output(run(home, server, "counter", "{}"))["count"] == 1
    pathlib.Path(home.data, "tools", "counter.py").write_text(COUNTER.replace("count = 0", "count = 100"))
    assert server.start("one").status == 403
    trust(server, "counter")
    assert output(server.start("one", wait=True).body)["count"] == 101


@pytest.mark.parametrize("line,says", [("nonsense", "is not JSON"), ('{"id": "other", "output": 1}', "answer must be"),
                                       ('{"id": "$id"}', "answer must be")])
def test_one_that_speaks_nonsense_is_ended(home, server, line, says):
    put(home, "odd", "command: [odd]\nclass: idempotent\nkeep_alive: true\n",
        odd=f"#!/bin/sh\nwhile read -r asked; do echo '{line}'; done\n")
    trust(server, "odd")
    for _ in range(2):
        assert says in fault(server, run(home, server, "odd", "{}"))["text"]
    put(home, "odd", "command: [odd]\nclass: once\nkeep_alive: true\n")
    trust(server, "odd")
    assert says in in_doubt(server, server.run_of("one"))


@pytest.mark.parametrize("what,says", [("die", "exit status 3"), ("hang", "0.5 seconds"), ("large, size: 10000000", "131072")])
def test_once_that_does_not_answer_is_a_question_and_the_next_call_goes_on(home, server, what, says):
    counter(home, server, "class: once\n" + ("timeout_seconds: 0.5\n" if what == "hang" else ""))
    home.define(one_step("counter", f"{{what: {what}}}", "    retry: {max_retries: 3, base_delay: 0}\n"))
    assert says in in_doubt(server, server.run_of("one"))
    if what == "hang":
        counter(home, server, "class: once\n")  # so that the next call has time enough to begin
    assert output(run(home, server, "counter", "{}"))["count"] == 1
    assert fault(server, run(home, server, "counter", "{what: wrong}"))["text"] == "ValueError: so it is"


# ---- whose it is -------------------------------------------------------------------------------------


def test_each_call_is_told_apart_though_the_process_is_the_same(home, server):
    """The idempotency key of a call must not be that of the call the process was started for."""
    counter(home, server, "class: keyed\n")
    for _ in range(2):
        result = run(home, server, "counter", "{what: who}")
        effect = of_type(server.events(result["run_id"]), "tool.requested")[0]["effect"]
        assert output(result) == {"BATON_EFFECT": effect, "BATON_RUN": result["run_id"]}


def test_a_program_is_told_effect_and_run_with_each_line(home, server):
    put(home, "parrot", "command: [parrot]\nkeep_alive: true\n",
        parrot="#!/usr/bin/python3\nimport json, os, sys\nfor line in sys.stdin:\n    asked = json.loads(line)\n"
               "    print(json.dumps({'id': asked['id'], 'output': {**asked, 'env': os.environ.get('BATON_EFFECT')}}), flush=True)\n")
    trust(server, "parrot")
    for n in range(2):
        result = run(home, server, "parrot", f"{{n: {n}}}")
        effect = of_type(server.events(result["run_id"]), "tool.requested")[0]["effect"]
        assert output(result) == {"id": effect, "run": result["run_id"], "inputs": {"n": n}, "env": None}


def test_it_sees_no_runs_workspace_and_leaves_nothing_there(home, server):
    """Its own folder stays from call to call; of a run's there is neither a path nor a descriptor."""
    put(home, "look", "path: look.py\nfunction: look\nkeep_alive: true\n", look__py="""
import os
def look(paths, runs):
    open("mine", "a").write("x")
    open_files = [os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{n}")]
    return {"mine": open("mine").read(), "here": os.listdir("."), "seen": [p for p in paths if os.path.exists(p)],
            "held": [name for name in open_files if any(run in name for run in runs)]}
""")
    trust(server, "look")
    runs = [new_id(), new_id()]
    home.define("""
name: pair
inputs: {paths: {type: array}, runs: {type: array}}
steps:
  - {name: write, tool: write_file, inputs: {path: secret, content: x}}
  - {name: look, tool: look, depends_on: [write], inputs: {paths: "${inputs.paths}", runs: "${inputs.runs}"}}
outputs: {all: {from: "${steps.look.outputs}"}}
""")
    paths = [str(home.workspace(run, "secret")) for run in runs] + ["secret", str(home.data)]
    for count, run_id in enumerate(runs, 1):
        assert output(server.start("pair", {"paths": paths, "runs": runs}, run_id=run_id, wait=True).body) == {
            "mine": "x" * count, "here": ["mine"], "seen": [], "held": []}
        assert sorted(path.name for path in home.workspace(run_id).iterdir()) == ["secret"]


# ---- its size ----------------------------------------------------------------------------------------


def test_an_answer_is_bounded_and_too_large_a_one_ends_it(home, server):
    counter(home, server)
    assert output(run(home, server, "counter", "{what: large, size: 100000}")) == {"result": "x" * 100000}
    assert output(run(home, server, "counter", "{}"))["count"] == 1
    failed = fault(server, run(home, server, "counter", "{what: large, size: 10000000}"))
    assert failed["code"] == "too_large" and "131072" in failed["text"]
    assert output(run(home, server, "counter", "{}"))["count"] == 1  # another process


def test_only_so_many_stay_and_the_idle_make_room(home, server):
    mark = uuid.uuid4().hex
    names = [f"kept{n}-{mark}" for n in range(18)]
    for name in names:
        put(home, name, "path: answer.py\nfunction: answer\nkeep_alive: true\n", answer__py="def answer(): return 1\n")
        trust(server, name)
        assert output(run(home, server, name, "{}")) == {"result": 1}
    alive = {name for name in names if processes_with(f"/tool/{name}")}
    assert len(alive) <= 16 and names[-1] in alive and names[0] not in alive


# ---- its end -----------------------------------------------------------------------------------------


def named(home, server, more="", **files):
    """A kept tool whose processes can be told from all others by its name."""
    name = f"kept-{uuid.uuid4().hex}"
    put(home, name, f"path: counter.py\nfunction: do\nkeep_alive: true\n{more}", counter__py=COUNTER, **files)
    trust(server, name)
    return name


@pytest.mark.parametrize("isolation", ["native", "off"])
@pytest.mark.parametrize("how", ["kill", "stop"])
def test_it_and_what_it_started_end_with_the_program(home, how, isolation):
    server = home.serve(BATON_TOOLS_ISOLATION=isolation)
    name, marker = f"kept-{uuid.uuid4().hex}", f"left-{new_id()}"
    put(home, name, "path: fork.py\nfunction: fork\nkeep_alive: true\n", fork__py=f"""
import subprocess
def fork():
    subprocess.Popen(["sh", "-c", ": {marker}; sleep 1000; :"], start_new_session=True)
""")
    kept = trust(server, name)["program"]  # the copy that runs is called by its hash
    assert output(run(home, server, name, "{}")) == {"result": None}
    assert processes_with(kept)
    wait_until(lambda: processes_with(f": {marker}"))  # its words are there a moment after it is
    if how == "kill":
        server.kill()
    else:
        server.popen.send_signal(signal.SIGTERM)
        assert server.wait() == 0
    wait_until_none_with(f": {marker}")
    wait_until_none_with(kept)


def test_one_that_was_killed_while_idle_is_started_again(home, server):
    name = named(home, server)
    assert [output(run(home, server, name, "{}"))["count"] for _ in range(2)] == [1, 2]
    tree = [pid for pid in descendants(server.pid) if pid in processes_with(name)]
    assert tree
    for pid in tree:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    wait_until_none_with(name)
    assert output(run(home, server, name, "{}"))["count"] == 1


def test_one_that_nobody_trusts_any_more_ends(home, server):
    name = named(home, server)
    assert output(run(home, server, name, "{}"))["count"] == 1
    assert processes_with(name)
    assert home.cli("trust", "revoke", name)[0] == 0
    wait_until_none_with(name)
    assert server.start("one").status == 403


@pytest.mark.parametrize("class_name,attempts,outcome", [("idempotent", 2, "ok"), ("keyed", 2, "ok"), ("once", 1, "unknown")])
def test_after_a_crash_its_call_is_decided_by_class(home, class_name, attempts, outcome):
    name = named(home, home.serve(), f"class: {class_name}\n")
    home.started[-1].kill()
    run = new_id()
    home.define(one_step(name, "{what: who}"))
    server = home.serve(BATON_POINTS="tool.ended=kill")
    with contextlib.suppress(Gone):
        server.start("one", run_id=run)
    assert killed(server)
    wait_until_none_with(name)
    result, events = finish(home, run, "not_happened" if outcome == "unknown" else None)
    closed = of_type(events, "tool.finished")[0]
    assert closed["outcome"] == outcome and result["status"] == ("success" if outcome == "ok" else "failed")
    assert 1 + len(of_type(events, "tool.restarted")) == attempts
    if outcome == "ok":
        assert output(result) == {"BATON_EFFECT": closed["effect"], "BATON_RUN": run}
