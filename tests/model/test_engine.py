"""Compares the C engine with its model: random definitions and commands must give the same answers.

A failure prints the session as lines for the probe; `python3 tests/model/test_engine.py < LINES` runs them again and shows
both sides.  BATON_TEST_FULL=1 runs twenty times as many examples.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from definitions import CODES, definitions  # noqa: E402
from engine import BODIES, Engine  # noqa: E402

from hypothesis import HealthCheck, Phase, given, note, settings, strategies as st  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PROBE = os.environ.get("ENGINE_PROBE", str(HERE.parent.parent / "build/sanitized/tests/model/engine_probe"))
EVENTS = re.findall(r'^EVENT\(\w+,\s*"([a-z.]+)"', (HERE.parent.parent / "contracts/events.def").read_text(), re.M)
EVENTS = [name for name in EVENTS if name not in ("document.changed", "run.compacted")]  # commands that no person or effect sends
KINDS = re.findall(r'VALUE\(RUN_NODE_\w+,\s*"(\w+)"', (HERE.parent.parent / "contracts/run_node.def").read_text())
EXAMPLES = 1000 * (20 if os.environ.get("BATON_TEST_FULL") else 1)
COMMANDS = 40
SESSIONS = ("note", "stuck soon", "last correction", "turns left out", "turn repeated", "call edited", "call rejected", "call failed",
            *("ended: " + word for word in ("succeeded", "cancelled", "limit_reached", "invalid", "timeout", "forbidden", "too_large", "io")))
RUN = "00000000-0000-4000-8000-000000000001"
LONG = "long " * 80

seen = collections.Counter()


class Probe:
    """One probe process for many sessions; it is restarted when it has died."""
    process = None

    def ask(self, line):
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen([PROBE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            self.process.stdin.write(json.dumps(line) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            self.process.wait()
            raise AssertionError("the probe died of %s" % json.dumps(line))
        return json.loads(answer)

    def close(self):
        """Waits for the end of the process, so that sanitizers can report."""
        if self.process is not None:
            self.process.stdin.close()
            assert self.process.wait() == 0


probe = Probe()


class Session:
    """A run in C and in the model; `do` sends a command to both and compares."""

    def __init__(self, first):
        self.lines = [first]
        answer = probe.ask(first)
        self.problems = answer.get("problems")
        self.model = None if self.problems else Engine(answer["graph"], first.get("run", RUN))
        self.now = 1000000

    def do(self, command):
        self.lines.append(command)
        theirs, mine = normal(probe.ask(command)), self.model.command(command)
        mine["state"] = self.model.state()
        theirs.pop("text", None)
        theirs["stops"] = sorted(theirs.get("stops", []))
        mine.setdefault("stops", [])
        self.adopt_delays(mine["state"], theirs["state"])
        self.theirs, self.mine = theirs, mine
        if text(theirs) != text(mine):
            raise AssertionError("\n" + difference(theirs, mine))
        assert is_awake(self.model), "nothing can wake this run any more"
        for event, _ in mine.get("events", []):
            seen[event] += 1
        self.count_turns(mine)
        seen["commands"] += 1
        seen["command %s%s" % (command["do"], ": " + mine["refused"] if "refused" in mine else "")] += 1

    def count_turns(self, mine):
        """Which situations of sessions were reached."""
        for step in self.model.all():
            turn, call = step.body.turn, step.call
            if turn:
                seen["session note"] += turn["note"]
                seen["session stuck soon"] += turn["repeats"] >= 4
                seen["session last correction"] += turn["corrections"] >= 3
                seen["session turns left out"] += turn["kept_from"] > 1
                seen["session turn repeated"] += step.path.endswith("/turn#2")
                seen["session call edited"] += bool(call) and call.get("made_with", call["arguments"]) != call["arguments"]
                seen["session call rejected"] += bool(step.asks_for) and step.fault == "rejected"
                seen["message sent"] += bool(call) and step.kind == "mailbox" and bool(step.output) and "id" in step.output
                seen["message read"] += bool(call) and step.kind == "mailbox" and bool(step.output) and bool(step.output.get("messages"))
                seen["session call failed"] += bool(call) and step.state == "failed"
            if step.kind == "session" and step.final:
                seen["session ended: %s" % (step.fault or step.state)] += 1

    def adopt_delays(self, mine, theirs):
        """Takes a derived delay from C if it is within the bounds of the model."""
        for step in self.model.all():
            if isinstance(step.due, tuple):
                due = theirs["steps"].get(step.path, {}).get("due")
                if due is not None and step.due[0] <= due <= step.due[1]:
                    step.due = mine["steps"][step.path]["due"] = due

    def script(self):
        return "\n".join(json.dumps(line) for line in self.lines)


def is_awake(model):
    """The run has ended, is held by a person, or has open work: it can never get stuck."""
    return model.word or model.paused or model.queued or any(
        step.open or step.settling or step.state == "retrying" or step.state == "running" and step.pure for step in model.all())


def text(value):
    return json.dumps(value, sort_keys=True)


def normal(value):
    """Error texts are for people: compares only whether a verification has one."""
    if isinstance(value, list):
        return [normal(item) for item in value]
    if not isinstance(value, dict):
        return value
    value = {key: normal(item) for key, item in value.items()}
    return {**value, "error": value["error"] is not None} if "criteria_results" in value else value


def difference(theirs, mine):
    lines = []
    for key in ("refused", "events", "stops"):
        if theirs.get(key) != mine.get(key):
            lines += ["%s: C %s" % (key, json.dumps(theirs.get(key))), "%s: model %s" % (key, json.dumps(mine.get(key)))]
    c, model = theirs["state"], mine["state"]
    for key in ("run", "fault", "outputs"):
        if c[key] != model[key]:
            lines.append("%s: C %s, model %s" % (key, c[key], model[key]))
    for path in sorted(set(c["steps"]) | set(model["steps"])):
        one, other = c["steps"].get(path), model["steps"].get(path)
        if text(one) != text(other):
            lines += ["%s: C     %s" % (path, text(one)), "%s: model %s" % (path, text(other))]
    return "\n".join(lines)


# ---- commands ------------------------------------------------------------------------------------------------------


def outputs(draw):
    return draw(st.sampled_from([
        {"n": 1, "ok": True, "list": [1, 2]}, {"n": 3, "ok": False, "list": []}, {"n": 0, "passed": False},
        {"n": 2, "exit_code": 1}, {"passed": True, "ok": True, "exit_code": 0, "list": [{"n": 1}, 5, 6], "text": LONG}, None, 4, "text"]))


def reply(draw, step):
    """What a model says in a session: calls that can be made and others, final replies, refusals."""
    agent = step.node["agent"]
    tools = [tool["name"] for tool in agent.get("tools", [])]
    # Three corrections in a row are rare unless an agent with a schema is obstinate.
    wrong = ["bad"] * 12 if "schema" in agent else []
    # A model that repeats itself goes on doing so: four equal turns in a row are rare otherwise.
    again = ["stubborn"] * 20 if (step.body.turn or {}).get("repeats", 1) > 1 else []
    kind = draw(st.sampled_from(["calls"] * 5 + ["stubborn"] * 4 + again + wrong + ["text", "good", "bad", "refused", "length"]))
    if kind == "text":
        return {"text": "done"}
    if kind in ("good", "bad"):
        return {"text": "{}", "json": {"n": 1 if kind == "good" else "one"}}
    if kind in ("refused", "length"):
        return {"text": "no", "stop": kind}
    if kind == "stubborn":
        return {"text": "", "calls": [{"id": "1", "name": "nothing", "arguments": {"a": 1}}], "stop": "calls"}
    calls = []
    for number in range(draw(st.sampled_from([1, 1, 2, 3, 70] if draw(st.integers(0, 19)) == 19 else [1, 1, 2, 3]))):
        call = {"id": str(number), "name": draw(st.sampled_from([*tools, *tools, "nothing"])) if number < 4 else "nothing"}
        if draw(st.integers(0, 7)) == 7 if number < 4 else False:
            call["malformed"] = "{"
        else:
            sent = [one["id"] for one in step.body.engine.mailbox.messages[-2:]]
            mail = {"send_message": [{"to": "dev", "content": "x"}, {"to": "eve", "content": LONG, "subject": "s"}, {"broadcast": True, "content": "b"}] * 4
                    + [{"content": "x"}, {"to": "ada", "content": "x"}, {"reply_to": RUN, "content": "x"}] + [{"reply_to": one, "content": "y"} for one in sent],
                    "read_messages": [{}] * 8 + [{"limit": 1}, {"thread": RUN}] + [{"thread": one} for one in sent]}.get(call["name"], [])
            call["arguments"] = draw(st.sampled_from([*mail, {}, {"a": 1}, {"question": "why?"}, {"question": ""}, {"result": {"n": 3}}, {"question": "how?", "a": LONG}])) \
                if number < 4 else {}
        calls.append(call)
    return {"text": "so", "calls": calls, "stop": "calls"}


def finished(draw, step):
    command = finished_effect(draw, step)
    if step.body.turn and step.kind == "agent":
        command.pop("log", None)
        if command["outcome"] == "ok":
            command["output"] = reply(draw, step)
        # With tokens, what fits the context window does not depend on how values are stored.
        command["usage"] = {"input_tokens": draw(st.sampled_from([1, 500, 980, 2000])), "output_tokens": 10}
    return command


def finished_effect(draw, step):
    outcome = draw(st.sampled_from(["ok"] * 8 + ["failed", "failed", "cancelled", "unknown"]))
    command = {"do": "finished", "step": step.path, "outcome": outcome}
    if outcome == "ok":
        command["output"] = outputs(draw)
    elif outcome != "unknown":
        command["fault"] = draw(st.sampled_from(CODES)) if outcome == "failed" else "cancelled"
    if draw(st.booleans()):
        command["log"] = draw(st.sampled_from([{"parts": [], "size": 0}, {"parts": [{"stream": "stdout", "text": LONG}], "size": 400}]))
    return command


def answered(draw, step):
    own = ["happened", "not_happened", "retry"] if step.settling else ["approve", "approve", "approve", "reject", "modify"]
    wrong = draw(st.integers(0, 9))
    decision = draw(st.sampled_from(own if wrong < 9 else ["approve", "reject", "modify", "happened", "retry", "timeout"]))
    command = {"do": "answered", "step": step.path, "decision": decision, "by": draw(st.sampled_from(["ada", "bob"]))}
    if decision in ("modify", "happened") and wrong < 8 or wrong == 0:
        edited = {"ask_human": {"question": "edited?"}, "send_message": {"broadcast": True, "content": "edited"}, "read_messages": {"limit": 2}}
        command["output"] = edited.get(step.asks_for["name"], {"n": 7}) if step.asks_for and wrong % 2 else outputs(draw)
    if draw(st.integers(0, 9)) == 9:
        command["other_revision"] = True
    if decision == "reject" and draw(st.integers(0, 2)) == 2 or wrong == 7:
        command["final"] = True
    return command


def computed(draw, step):
    how = draw(st.integers(0, 9))
    rest = {"echo": True} if how < 3 else {"fault": draw(st.sampled_from(CODES))} if how == 9 else {"output": outputs(draw)}
    return {"do": "computed", "step": step.path, **rest}


def signal(draw, name):
    return {"do": "signal", "name": name, "output": outputs(draw), "by": "bob"}


def command_for(draw, step):
    """A command that is plausible for this activation now."""
    if step.state == "waiting_human" and draw(st.integers(0, 3)) < 3:
        return answered(draw, step)
    if "signal" in step.node and draw(st.integers(0, 3)) < 3:
        return signal(draw, step.node["signal"])
    if step.state in ("retrying", "waiting_human") or step.kind == "wait" or step.due is not None and draw(st.integers(0, 2)) == 2:
        return {"do": "due", "step": step.path}
    if step.open:
        return {"do": "restarted", "step": step.path} if draw(st.integers(0, 14)) == 14 else finished(draw, step)
    return computed(draw, step)


def anything(draw, model):
    """A command that people send, or one that is invalid, late or repeated."""
    kind = draw(st.sampled_from(["signal", "signal", "retry", "pause", "pause", "pause", "resume", "cancel", "start", "create", "run due", "wrong",
                                 "wrong", "wrong", "nowhere"]))
    steps = list(model.all())
    if kind == "signal":
        return signal(draw, draw(st.sampled_from(["go", "stop"])))
    if kind == "create":
        return {"do": "create", "inputs": {}}
    if kind == "run due":
        return {"do": "due", "step": ""}
    if kind == "nowhere" or kind == "wrong" and not steps:
        return {"do": draw(st.sampled_from(["computed", "due", "restarted"])), "step": "nowhere"}
    if kind == "wrong":
        step = draw(st.sampled_from(steps))
        make = draw(st.sampled_from([finished, answered, computed, None]))
        command = make(draw, step) if make else {"do": draw(st.sampled_from(["due", "restarted"])), "step": step.path}
        if make in (finished, answered) and draw(st.booleans()):
            command["other_effect"] = True
        command.pop("echo", None)
        return command
    return {"do": kind, "by": "ada"}


def next_command(draw, model):
    alive = [step for step in model.all() if step.open or step.settling or step.state == "retrying"
             or step.state == "running" and step.kind not in BODIES]
    if model.word == "failed" and draw(st.integers(0, 3)) < 3:
        return {"do": "retry", "by": "ada", **({"queued": True} if draw(st.integers(0, 9)) == 9 else {})}
    if model.paused and draw(st.integers(0, 3)) == 3:
        return {"do": "resume", "by": "ada"}
    if model.queued and draw(st.integers(0, 1)):
        return {"do": "start"}
    if not alive or draw(st.integers(0, 9)) == 9:
        return anything(draw, model)
    return command_for(draw, draw(st.sampled_from(alive)))


def move_clock(draw, session, command):
    session.now += draw(st.sampled_from([1000, 0, 1000000, 5000000]))
    if command["do"] == "due":
        step = next((step for step in session.model.all() if step.path == command["step"]), None)
        due = session.model.due if command["step"] == "" else step and step.due
        if due is not None and draw(st.integers(0, 5)) < 5:
            session.now = max(session.now, due)
    command["now"] = session.now
    return command


def count_nodes(nodes):
    for node in nodes:
        seen["node %s" % node["kind"]] += 1
        seen["tool %s" % node["class"]] += node["kind"] == "tool"
        count_nodes(node.get("body", []))


def play(draw, definition):
    session = Session({"yaml": json.dumps(definition), "run": RUN})
    try:
        assert session.problems is None, session.problems
        count_nodes(session.model.graph["nodes"])
        begin = {"do": "create", "inputs": {"n": draw(st.sampled_from([2, 1, 3])), "list": draw(st.sampled_from([[1, 2], []]))},
                 "by": "ada", "now": session.now}
        if draw(st.integers(0, 9)) == 9:
            begin["queued"] = True
        session.do(begin)
        after = 0
        for _ in range(COMMANDS):
            session.do(move_clock(draw, session, next_command(draw, session.model)))
            after += bool(session.model.word)
            if after > 1:
                break
        seen["run " + session.mine["state"]["run"]] += 1
        seen["examples"] += 1
    except Exception as error:
        note("play again with: python3 tests/model/test_engine.py <<'END'\n%s\nEND\n%s" % (session.script(), error))
        raise


@settings(max_examples=EXAMPLES, derandomize=True, database=None, deadline=None, print_blob=False,
          suppress_health_check=list(HealthCheck), phases=(Phase.generate, Phase.shrink))
@given(st.data())
def test_the_engine_does_what_its_model_does(data):
    play(data.draw, data.draw(definitions()))


def test_a_limit_calls_a_run_off_just_as_a_try_enters_finally():
    """The finally step is pure, so it runs when the run is called off, and goes on."""
    edge = [{"to": "b"}]
    definition = {"name": "w", "max_iterations": 1, "steps": [{"name": "t", "try": {
        "steps": [{"name": "a", "tool": "get", "join": "any", "entry": True, "next": edge},
                  {"name": "b", "tool": "get", "join": "any", "next": [{"to": "a", "when": "1 == 1"}]}],
        "finally": [{"name": "f", "tool": "echo"}]}}, {"name": "open", "tool": "get"}]}
    session = Session({"yaml": json.dumps(definition), "run": RUN})
    assert session.problems is None, session.problems
    session.do({"do": "create", "inputs": {}, "by": "ada", "now": session.now})
    session.do({"do": "finished", "step": "t/a", "outcome": "ok", "output": {}, "now": session.now})
    assert ["run.cancelling", ""] in session.mine.get("events", []), session.mine
    assert session.mine["state"]["steps"]["t/f"]["state"] == "running"


def test_a_critical_criterion_calls_a_run_off_beside_a_pure_step_of_finally():
    """As with a limit: a finally step that has become ready before is running, and goes on."""
    definition = {"name": "w", "steps": [{"name": "t", "try": {
        "steps": [{"name": "a", "tool": "get"}],
        "finally": [{"name": "p", "parallel": {"serial": True, "steps": [
            {"name": "c", "condition": "1 == 1"},
            {"name": "v", "depends_on": ["c"], "verify": {"target": "c", "criteria": [{"name": "k", "check": "1 == 2", "critical": True}]}},
            {"name": "in", "try": {"steps": [{"name": "e", "tool": "echo"}], "finally": [{"name": "g", "tool": "echo"}]}}]}}]}},
        {"name": "open", "tool": "get"}]}
    session = Session({"yaml": json.dumps(definition), "run": RUN})
    assert session.problems is None, session.problems
    session.do({"do": "create", "inputs": {}, "by": "ada", "now": session.now})
    session.do({"do": "finished", "step": "t/a", "outcome": "ok", "output": {}, "now": session.now})
    assert ["run.cancelling", ""] in session.mine.get("events", []), session.mine
    assert session.mine["state"]["steps"]["t/p/in/e"]["state"] == "running"


def test_a_second_cancel_is_passed_on_to_sub_runs():
    definition = {"name": "w", "steps": [{"name": "sub", "workflow": "other"}, {"name": "get", "tool": "get"}]}
    session = Session({"yaml": json.dumps(definition), "run": RUN})
    assert session.problems is None, session.problems
    session.do({"do": "create", "inputs": {}, "by": "ada", "now": session.now})
    session.do({"do": "cancel", "by": "ada", "now": session.now})
    assert session.mine["stops"] == ["get", "sub"]
    session.do({"do": "cancel", "by": "ada", "now": session.now})
    assert session.mine["stops"] == ["sub"]


def test_agents_read_what_others_have_sent():
    """Every example has two agents that could write to each other, but few of them do."""
    agent = {"driver": "script", "model": "none", "tools": ["send_message", "read_messages"]}
    definition = {"name": "mail", "agents": {"dev": agent, "eve": agent},
                  "steps": [{"name": name, "agent": agent, "inputs": {"prompt": "go"}} for name, agent in (("d", "dev"), ("e", "eve"))]}
    session = Session({"yaml": json.dumps(definition), "run": RUN})
    assert session.problems is None, session.problems

    def turn(step, *calls):
        reply = {"text": "", "calls": [{"id": "1", "name": name, "arguments": arguments} for name, arguments in calls], "stop": "calls"}
        session.do({"do": "finished", "step": step, "outcome": "ok", "output": reply, "now": session.now})
        session.now += 1234567

    session.do({"do": "create", "inputs": {}, "by": "ada", "now": session.now})
    turn("d[1]/turn", ("send_message", {"to": "eve", "content": LONG, "subject": "s"}), ("send_message", {"broadcast": True, "content": "b"}))
    turn("e[1]/turn", ("read_messages", {"limit": 1}))
    (first,) = session.model.mailbox.inboxes["eve"]
    turn("e[2]/turn", ("read_messages", {"thread": first["thread"]}), ("send_message", {"reply_to": first["id"], "content": "y"}), ("read_messages", {}))
    turn("d[2]/turn", ("read_messages", {}))
    assert session.mine["state"]["steps"]["d[2]/read_messages"]["output"]["messages"][0]["reply_to"] == first["id"]


def test_everything_was_seen():
    # branch.ended needs folders of branches, which the simulator and tests/scenario/test_trees.py have.
    missing = [name for name in SESSIONS if not seen["session " + name]]
    missing += [event for event in EVENTS if not seen[event] and event != "branch.ended"] + [kind for kind in KINDS if not seen["node " + kind]]
    assert not missing, "no example reached %s" % ", ".join(missing)


def replay():
    lines = [json.loads(line) for line in sys.stdin if line.strip()]
    session = Session(lines[0])
    if session.problems:
        sys.exit(session.problems)
    for line in lines[1:]:
        print("> " + json.dumps(line))
        session.do(line)
        print(json.dumps(session.theirs.get("events", session.theirs.get("refused"))))
    probe.close()
    print("they agree")


if __name__ == "__main__":
    replay()
