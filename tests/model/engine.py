"""A model of the engine, written from docs/engine.md.  It folds no events, has no indexes and no values stored by hash, and keeps the
order of activations in one list.  test_engine.py runs it next to the C engine and compares both after every command.  The model cannot
know a derived delay: the due time of a retrying activation is a pair of bounds.
"""
import json

import graph_state
from expressions import Names, Unknown, attempt, holds, render
from mailbox import Mailbox

FINAL = ("succeeded", "failed", "skipped", "cancelled")
AGAIN = ("tool_failed", "unavailable", "io", "storage_full")  # retried unless the retry policy names the codes
EFFECTS = {"tool": "tool", "agent": "turn", "subrun": "subrun"}  # kinds that take a slot and can be stopped
SETTLE = ("happened", "not_happened", "retry")  # answers that settle an unknown outcome
BODIES = ("parallel", "map", "loop", "verify", "gate", "session", "try")
RESUMES = ("parallel", "map", "loop", "session")  # containers inside which a retry of the run continues
PARTS = ("steps", "catch", "finally")  # of a try
ITERATIONS = 100000
CALLS, TURNS, REPEATS, CORRECTIONS, REPLY_TOKENS = 64, 10, 5, 3, 4096  # of a session


def passes(output):
    """Whether the output of a test does not report a failure."""
    output = output if isinstance(output, dict) else {}
    return bool(output["passed"]) if "passed" in output else output.get("exit_code", 0) == 0


def fits(body, tool, arguments):
    """Whether the tool takes the arguments, as far as the names of its parameters tell."""
    offered = next(one for one in body.nodes["turn"]["agent"]["tools"] if one["name"] == tool)
    known = offered.get("parameters", {})
    return set(known.get("required", [])) <= set(arguments) and (known.get("additionalProperties") is not False or set(arguments) <= set(known["properties"]))


def outputs_of(reply):
    """The members of a reply that is a JSON object are outputs, unless the reply itself has them."""
    json_part = reply.get("json") if isinstance(reply, dict) else None
    return {**{key: value for key, value in json_part.items() if key not in reply}, **reply} if isinstance(json_part, dict) else reply


def same(before, output):
    """Whether a step that is repeated has the output of its last round again."""
    own = [{key: item for key, item in value.items() if key != "verification"} if isinstance(value, dict) else
           {"output": value} if value is not None else {} for value in (before, output)]
    return own[0] == own[1]


class Body:
    def __init__(self, engine, owner, nodes, path, item=None):
        self.engine = engine
        self.owner, self.nodes, self.path, self.item = owner, {node["name"]: node for node in nodes}, path, item
        self.steps = []  # activations; of the final activations of a node, only the last one
        self.counts = dict.fromkeys(self.nodes, 0)  # activations so far
        self.told, self.first_failed = set(), None  # told: nodes whose dependents were released
        self.lost = dict.fromkeys(self.nodes, 0)  # failed activations that a later one has replaced
        self.extra = dict.fromkeys(self.nodes, 0)  # activations added by retries of the run
        self.part, self.caught = "steps", None  # of a try: the part entered last, the failure that was caught
        self.turn = None  # of a session: what the turn began with

    def live(self):
        return [step for step in self.steps if not step.final]

    def last(self, name):
        return next((step for step in self.steps if step.final and step.node["name"] == name), None)

    def values(self):
        return {name: self.last(name) and self.last(name).output for name in self.nodes}

    def output(self):
        part = "catch" if self.caught else "steps"
        values = {name: value for name, value in self.values().items() if self.nodes[name].get("section", "steps") == part}
        return values if len(values) > 1 else values.popitem()[1]

    def error(self):
        """What the catch and finally steps of a try see as the error."""
        failed = self.first_failed or self.caught
        if self.owner.stopping:
            return {"step": self.owner.path, "code": self.engine.called_off}
        return {"step": failed.path, "code": failed.fault} if failed else None

    def has(self, part):
        return any(node.get("section") == part for node in self.nodes.values())


class Activation:
    def __init__(self, body, node):
        count = body.counts[node["name"]] = body.counts[node["name"]] + 1
        self.path = (body.path and body.path + "/") + node["name"] + ("#%d" % count if count > 1 else "")
        self.body, self.node, self.kind, self.state = body, node, node["kind"], "pending"
        self.effect = EFFECTS.get(self.kind)  # takes a slot and can be stopped
        self.pure = self.kind == "tool" and node["class"] == "pure"
        self.contained = self.kind == "tool" and node["class"] == "contained"
        self.round, self.attempt, self.retries, self.level = 1, 0, 0, 0
        self.open = self.settling = self.leaving = self.holds_workspace = self.cut = self.stopping = self.limit_reached = False
        self.arrival = self.due = self.output = self.fault = self.inputs = self.begun = self.log = None
        self.items, self.bodies, self.entered = [], [], 0
        self.given = None  # of an undo: what its steps can read
        self.milestone = None  # what it means to those who follow the work, once it has begun
        self.story = None  # of a verification: when it began, results, corrections
        self.checked = None  # of one that repeats a step: the output that it checked
        self.call, self.asks_for, self.by, self.tokens = None, None, None, 0  # in a session; call: as the reply has it

    @property
    def final(self):
        return self.state in FINAL


class Refused(Exception):
    pass


class Engine:
    def __init__(self, graph, run):
        self.graph, self.mailbox = graph, Mailbox(graph, run)
        self.word = self.fault = self.outputs = self.due = self.called_off = self.root = None
        self.queued = self.paused = self.cancelling = self.unwinding = self.abandoned = False
        self.undos, self.undone, self.has_failed = [], False, False  # steps that can be undone: (undo, what it can read)
        self.ready, self.signals = [], []  # in the order in which they became ready; includes bodies that can be left
        self.shared = None  # the state of a graph workflow
        self.issues = 0  # how many are open at the end
        self.arrivals = self.failures = self.iterations = self.entered = self.retried = 0

    def command(self, command):
        self.now, self.events, self.stops = command["now"], [], []
        try:
            self.check(not self.word or command["do"] == "retry", "conflict")
            getattr(self, "on_" + command["do"])(command)
        except Refused as refusal:
            return {"refused": str(refusal)}
        self.advance()
        return {"events": self.events, "stops": sorted(self.stops)}

    def check(self, good, code):
        if not good:
            raise Refused(code)

    def step(self, command):
        step = next((step for step in self.all() if step.path == command["step"]), None)
        self.check(step, "not_found")
        return step

    def effect(self, command):
        step = self.step(command)
        self.check(not command.get("other_effect"), "not_found")
        self.check(step.open and step.effect, "conflict")
        return step

    def on_create(self, command):
        self.check(self.root is None, "conflict")
        self.inputs, self.by, self.queued = command["inputs"], command.get("by", ""), command.get("queued", False)
        self.shared = graph_state.begin(self.graph["state"], self.inputs) if "state" in self.graph else None
        self.emit("run.created")
        self.due = None if self.queued else self.later(self.graph)
        self.root = self.enter(None, self.graph["nodes"] + self.graph.get("undos", []), "")

    def on_start(self, command):
        self.check(self.queued, "conflict")
        self.emit("run.started")
        self.queued, self.due = False, self.later(self.graph)

    def on_computed(self, command):
        step = self.step(command)
        self.check(step.state == "running" and step.pure, "conflict")
        output = self.rendered(step) if command.get("echo") else command.get("output")
        self.conclude(step, "step.computed", output, command.get("fault"))

    def on_finished(self, command):
        step = self.effect(command)
        event, outcome, fault = step.effect + ".finished", command["outcome"], command.get("fault")
        step.holds_workspace = False
        step.log = command.get("log") if step.kind == "tool" else None
        if step.body.turn and step.kind == "agent":  # also of a turn with an unknown outcome
            step.tokens = sum(command.get("usage", {}).get(name, 0) for name in ("input_tokens", "output_tokens"))
        if outcome == "cancelled" and step.due is not None and self.now >= step.due:
            fault = "timeout"
        elif outcome != "ok":
            fault = fault or ("outcome_unknown" if outcome == "unknown" else outcome)
        if outcome == "unknown" and not step.stopping:
            self.emit(event, step)
            self.emit("human.requested", step)
            step.state, step.settling, step.open, step.due, step.fault = "waiting_human", True, False, None, fault
        else:
            if step.body.turn and step.kind == "agent" and not (fault or step.stopping):
                self.open_calls(step.body, command.get("output"))
            output = command.get("output")
            if step.kind == "agent" and not step.body.turn:
                output = outputs_of(output)
            self.conclude(step, event, output, fault, cancelled=outcome == "cancelled")

    def on_answered(self, command):
        step, decision = self.step(command), command["decision"]
        other = command.get("other_effect") or command.get("other_revision")
        self.check(step.state == "waiting_human" and not other, "conflict")
        self.check(decision in (SETTLE if step.settling else ("approve", "reject", "modify")), "usage")
        self.check(decision == "reject" or not command.get("final"), "usage")
        self.check(decision != "modify" or "output" in command, "usage")
        self.check(decision != "modify" or not step.asks_for or isinstance(command["output"], dict), "usage")
        self.check(decision != "modify" or not step.asks_for or fits(step.body, step.asks_for["name"], command["output"]), "invalid")
        self.check(step.settling or not step.node.get("four_eyes") or command["by"] != self.by, "forbidden")
        output = {"decision": decision, "comment": command.get("comment", ""), "by": command["by"]}
        step.by = command["by"]
        if decision == "modify":
            output["value"] = command["output"]
        if step.asks_for and decision in ("approve", "modify"):
            arguments = command["output"] if decision == "modify" else step.call["arguments"]
            self.open_call(step.body, step.asks_for, {**step.call, "made_with": arguments})
        if decision == "retry":
            self.emit("human.finished", step)
            step.state, step.due, step.settling = "retrying", self.now, False
        elif decision == "reject" and step.node.get("on_reject") == "continue" and not command.get("final"):
            self.conclude(step, "human.finished", output)
        elif decision == "happened":
            self.conclude(step, "human.finished", command.get("output"))
        else:
            fault = {"reject": "rejected", "not_happened": "tool_failed"}.get(decision)
            self.conclude(step, "human.finished", output, fault, cancelled=True)

    def on_restarted(self, command):
        step = self.effect(command)
        self.emit("tool.restarted", step)
        step.attempt += 1

    def on_due(self, command):
        if command["step"] == "":
            self.check(self.due is not None and self.due <= self.now, "conflict")
            self.call_off("timeout")
            return
        step = self.step(command)
        self.check(step.due is not None and step.due <= self.now, "conflict")
        if step.state == "retrying":
            self.check(not self.paused, "conflict")
        elif step.effect:
            self.stops.append(step.path)
        elif step.kind == "wait":
            self.conclude(step, "timer.finished", None, "timeout" if "signal" in step.node else None)
        elif step.level < len(step.node.get("levels", [])):
            self.emit("human.escalated", step)
            step.due, step.level = self.later(step.node["levels"][step.level]), step.level + 1
        else:
            self.conclude(step, "human.finished", None, "timeout")

    def on_pause(self, command):
        self.check(not (self.paused or self.queued or self.cancelling or self.unwinding), "conflict")
        self.emit("run.paused")
        self.paused = True

    def on_resume(self, command):
        self.check(self.paused, "conflict")
        self.emit("run.resumed")
        self.paused = False

    def on_cancel(self, command):
        if not (self.cancelling or self.unwinding) or self.unwinding and not self.abandoned:
            self.call_off("cancelled")
        else:  # passed on to the sub-runs that the run waits for: it ends their finally and undo steps
            self.stops += [step.path for step in self.all() if step.open and step.stopping and step.kind == "subrun"]

    def on_retry(self, command):
        self.check(self.word == "failed" and not self.undone and self.called_off != "limit_reached" and self.can_reopen(self.root), "conflict")
        self.emit("run.retried")
        self.word = self.fault = self.outputs = self.called_off = None
        self.cancelling = self.unwinding = self.abandoned = self.has_failed = False
        self.queued = command.get("queued", False)
        self.due = None if self.queued else self.later(self.graph)
        self.retried = self.now
        self.reopen(self.root)

    def is_repeated(self, step):
        """`cut`: what follows from its success was never decided."""
        failed = step and step.state == "failed" and (step.cut or not step.node.get("continue_on_error"))
        return step and (failed or step.state == "cancelled" or step.state == "skipped" and step.fault
                         or step.cut and ("until" in step.node or step.node.get("edges")))

    def can_reopen(self, body):
        if body.turn:
            return any(map(self.is_repeated_in_turn, body.steps))
        return any(body.lost.values()) or any(self.is_repeated(body.last(name)) for name in body.nodes)

    def is_repeated_in_turn(self, step):
        return step.state == "cancelled" or step.kind == "agent" and (step.state == "failed" or step.state == "succeeded" and step.cut)

    def reopen_turn(self, body):
        for step in list(filter(self.is_repeated_in_turn, body.steps)):
            body.steps.remove(step)
            self.open_call(body, step.node, step.call, step.asks_for)
        self.release_calls(body)

    def reopen(self, body):
        body.first_failed = None
        if body.turn:
            return self.reopen_turn(body)
        for name, node in body.nodes.items():
            last, lost, body.lost[name] = body.last(name), body.lost[name], 0
            if self.is_repeated(last) and last.bodies and (last.state == "cancelled" or any(map(self.can_reopen, last.bodies))):
                self.continue_inside(last)
            elif self.is_repeated(last):
                body.steps.remove(last)
                self.add(body, node).round = 1 if last.kind == "verify" or last.fault == "limit_reached" else last.round
            elif last and last.cut:
                last.cut = False
                body.told.add(name)
            for _ in range(lost):
                self.add(body, node)
        self.make_ready(body)

    def add(self, body, node):
        step = self.create(body, node)
        body.extra[node["name"]] += 1
        if node["join"] == "any":
            self.iterations -= 1
            self.arrive(step)
        return step

    def continue_inside(self, step):
        self.arrivals += 1
        step.state, step.output, step.fault, step.leaving, step.arrival = "running", None, None, False, self.arrivals
        step.stopping = False
        for body in [body for body in step.bodies if self.can_reopen(body)]:
            self.reopen(body)
        self.enter_items(step)
        if not any(body.live() for body in step.bodies):
            step.leaving = True
            self.arrive(step)

    def on_signal(self, command):
        self.check(not self.cancelling or self.unwinding and not self.abandoned, "conflict")
        self.emit("run.signalled")
        self.signals.append((command["name"], command.get("output")))
        waits = [step for step in self.all() if step.open and step.node.get("signal") == command["name"]]
        if waits:
            self.take_signal(min(waits, key=lambda step: step.arrival))

    def advance(self):
        while not (self.word or self.paused or self.queued):
            held = self.cancelling and (self.abandoned or not self.unwinding)
            if self.cancelling and not self.unwinding and (self.root.live() or self.undos) and not any(
                    step.stopping and step.open and step.effect for step in self.all()):
                self.unwind()
                continue
            if self.unwinding and not self.abandoned and self.undos and not self.root.live():
                self.undo()
            step = None if held else self.next_retry() or next(filter(self.may_start, self.ready), None)
            if step:
                self.start(step)
            elif self.root.live():
                return
            else:
                self.end()

    def next_retry(self):
        """A due retry; a contained tool that lost the workspace waits until the workspace is free."""
        due = [step for step in self.all() if step.state == "retrying" and isinstance(step.due, int) and step.due <= self.now
               and (step.holds_workspace or not step.contained or not self.workspace_is_taken())]
        return min(due, key=lambda step: (step.due, step.arrival), default=None)

    def may_start(self, step):
        if step.leaving or not step.effect:
            return True
        busy = [other for other in self.all() if other.effect and other.state in ("running", "retrying")]
        return len(busy) < self.graph.get("concurrency", 10) and not (step.contained and self.workspace_is_taken())

    def workspace_is_taken(self):
        return any(step.holds_workspace for step in self.all())

    def start(self, step):
        node, kind = step.node, step.kind
        self.ready = [other for other in self.ready if other is not step]
        if step.leaving:
            self.leave(step)
        elif step.state == "retrying":
            self.request(step)
        elif "when" in node and not holds(node["when"], self.names(step.body)):
            self.emit("step.skipped", step)
            self.close(step, "skipped")
        else:
            self.begin(step, node, kind)

    def begin(self, step, node, kind):
        if "milestone" in node and step.milestone is None:
            step.milestone = {"data": render(node["milestone"]["data"], self.names(step.body)), "starts": True, "passed": None}
        if step.pure:
            if "when" in node or "milestone" in node:
                self.emit("step.started", step)
            step.state = "running"
        elif step.effect:
            self.request(step)
        elif kind == "condition":
            value = attempt(node["value"], self.names(step.body))
            self.conclude(step, "step.computed", {"value": value}, "invalid" if value is Unknown else None)
        elif kind == "mailbox":
            agent = step.body.nodes["turn"]["agent"]["name"]
            event, output, fault = self.mailbox.call(node["name"], agent, step.path, self.now, self.rendered(step))
            if event:
                self.emit(event, step)
            self.conclude(step, "step.computed", output, fault)
        elif kind == "wait":
            self.emit("timer.requested", step)
            step.state, step.open = "running", True
            step.due = self.later(node) if "signal" in node else self.now + node["wait_us"]
            self.take_signal(step)
        elif kind == "human":
            question = self.rendered(step).get("question") if step.call else None
            if step.call and not step.asks_for and not (isinstance(question, str) and question):
                return self.conclude(step, "step.computed", None, "invalid")
            self.emit("human.requested", step)
            step.state, step.open, step.due = "waiting_human", True, self.deadline(step)
        elif kind == "verify" and step.round == 1 and "repeats" not in node:
            step.begun, step.story = self.now, (self.now, None, [])
            self.verify(step, "step.computed", (self.names(step.body)("steps")[node["target"]] or {}).get("outputs"), False)
        elif kind == "map":
            self.enter_map(step)
        elif kind == "loop" and step.round == 1 and self.most_rounds(step) is None:
            self.conclude(step, "step.computed", None, "invalid")
        elif kind == "session":
            step.state, step.begun = "running", self.now
            self.enter_turn(step, {"note": False, "repeats": 1, "corrections": 0, "kept_from": 1}, None)
        else:
            self.emit("step.entered", step)
            self.entered += 1
            step.state, step.begun, step.entered_as = "running", self.now, self.entered
            if "repeats" in node and step.story is None:
                step.story = (self.now, None, [])
            self.enter(step, node["body"], step.path)

    def request(self, step):
        self.emit(step.effect + ".requested", step)
        step.inputs, step.fault, step.log, step.due = self.rendered(step), None, None, self.deadline(step)
        step.state, step.open, step.attempt, step.holds_workspace = "running", True, step.attempt + 1, step.contained

    def take_signal(self, step):
        signal = next((signal for signal in self.signals if signal[0] == step.node.get("signal")), None)
        if signal:
            self.signals.remove(signal)
            self.conclude(step, "timer.finished", signal[1])

    def enter(self, owner, nodes, path, item=None):
        body = Body(self, owner, nodes, path, item)
        if owner:
            owner.bodies.append(body)
        self.enter_part(body)
        return body

    def enter_part(self, body):
        for node in body.nodes.values():
            if node.get("section", "steps") == body.part and (node["join"] == "all" or node.get("entry")):
                self.create(body, node)
        self.make_ready(body)

    def next_part(self, body):
        """Enters the next part of a try; false when there is none."""
        if body.part == "steps" and body.first_failed and body.has("catch") and not body.owner.stopping:
            body.part, body.caught, body.first_failed = "catch", body.first_failed, None
        elif body.part != "finally" and body.has("finally"):
            body.part = "finally"
        else:
            return False
        self.enter_part(body)
        return True

    def finally_is_left(self, step):
        """Whether a try that was stopped must still run its finally steps."""
        return bool(step.bodies) and step.bodies[0].has("finally") and step.bodies[0].part != "finally" and not self.abandoned

    def unwind(self):
        self.emit("run.unwinding")
        self.unwinding, self.due = True, self.now + self.graph.get("unwind_us", 3600 * 1000000)
        for step in sorted((step for step in self.all() if step.stopping and not step.final and self.finally_is_left(step)
                            and not step.bodies[0].live()), key=lambda step: step.entered_as):
            self.next_part(step.bodies[0])

    def undo(self):
        """Begins to undo the step that succeeded last."""
        name, given = self.undos.pop()
        step = self.create(self.root, self.root.nodes[name])
        step.given, self.undone = given, True
        self.arrive(step)

    def enter_map(self, step):
        items = render(step.node["over"], self.names(step.body))
        if not isinstance(items, list):
            return self.conclude(step, "step.computed", None, "invalid")
        self.emit("step.entered", step)
        step.state, step.items = "running", items
        self.enter_items(step)
        if not items:
            step.leaving = True
            self.arrive(step)

    def enter_items(self, step):
        room = step.node.get("at_once", len(step.items))
        while step.entered < len(step.items) and sum(bool(body.live()) for body in step.bodies) < room:
            step.entered += 1
            self.enter(step, step.node["body"], "%s[%d]" % (step.path, step.entered - 1), step.entered - 1)

    def leave(self, step):
        failed = min((body.first_failed for body in step.bodies if body.first_failed), key=lambda one: one.failed_as, default=None)
        fault, body = failed and failed.fault, step.bodies[0] if step.bodies else None
        if step.stopping:
            self.conclude(step, "step.left", None, "cancelled", cancelled=True)
        elif step.kind == "gate":
            self.conclude(step, "step.left", *self.gate(step.node, body))
        elif step.kind == "session":
            self.next_turn(step)
        elif step.kind == "verify" and "repeats" in step.node and not failed:
            self.verify(step, "step.left", body.values()[step.node["repeats"]], False)
        elif step.kind == "verify" and "repeats" not in step.node:
            self.verify(step, "step.left", body.output(), failed is not None)
        elif step.kind == "map":
            self.conclude(step, "step.left", [body.output() for body in step.bodies], fault)
        else:
            self.conclude(step, "step.left", body.values() if step.kind == "parallel" else body.output(), fault)

    # ---- sessions

    def enter_turn(self, step, turn, signature):
        self.emit("step.entered", step)
        step.entered, step.leaving = step.entered + 1, False
        body = Body(self, step, step.node["body"], "%s[%d]" % (step.path, step.entered), step.entered)
        body.turn, body.signature = turn, signature
        step.bodies.append(body)
        self.open_call(body, body.nodes["turn"])

    def open_call(self, body, node, call=None, asks_for=None):
        made = self.create(body, node)
        made.call, made.asks_for = call, asks_for
        if not call:
            self.arrive(made)

    def release_calls(self, body):
        """Calls that read run beside each other, every other call alone, in the order of the reply."""
        calls = sorted((one for one in body.live() if one.call), key=lambda one: one.call["number"])
        for place, one in enumerate(calls):
            node = one.asks_for or one.node
            reads = node["kind"] == "human" or node["kind"] == "tool" and node["class"] in ("pure", "idempotent")
            if place > 0 and not reads:
                break
            if one.state == "pending" and one.arrival is None:
                self.arrive(one)
            if not reads:
                break

    def open_calls(self, body, reply):
        agent = body.nodes["turn"]["agent"]
        tools = [tool["name"] for tool in agent.get("tools", [])]
        calls = reply.get("calls", []) if isinstance(reply, dict) else []
        for number, call in enumerate(calls[:CALLS]):
            if call["name"] not in tools or "arguments" not in call:
                continue
            call, node = {**call, "number": number}, body.nodes[call["name"]]
            if call["name"] in agent.get("approve", []):
                self.open_call(body, body.nodes["approve"], call, node)
            else:
                self.open_call(body, node, call)
        self.release_calls(body)

    def next_turn(self, step):
        """The newest turn is over: another one, or the end."""
        body, agent = step.bodies[-1], step.node["body"][0]["agent"]
        turn = [one for one in body.steps if one.kind == "agent"][-1]
        if body.first_failed:
            return self.conclude(step, "step.left", None, body.first_failed.fault)
        reply, signature, repeats, corrections, note = turn.output, None, 1, 0, False
        if not isinstance(reply, dict) or not isinstance(reply.get("text"), str):  # a person has settled its outcome so
            return self.conclude(step, "step.left", None, "internal")
        stop, value = reply.get("stop", "end"), reply.get("json")
        submitted = [one for one in body.steps if one.call and one.node.get("tool") == "submit" and one.state == "succeeded"]
        if submitted:
            output = submitted[-1].output
            value = output.get("result") if isinstance(output, dict) else None
        elif not reply.get("calls") and stop in ("refused", "length"):
            return self.conclude(step, "step.left", None, "forbidden" if stop == "refused" else "too_large")
        if submitted or not reply.get("calls"):
            if self.is_complete(step, agent, value):
                return self.conclude(step, "step.left", outputs_of({"text": reply["text"], **({} if value is None else {"json": value})}))
            if body.turn["corrections"] >= CORRECTIONS:
                return self.conclude(step, "step.left", {"text": reply["text"]}, "invalid")
            note, corrections = True, body.turn["corrections"] + 1
        else:
            signature = self.signature(body, reply)
            repeats = body.turn["repeats"] + 1 if signature == body.signature else 1
            note = repeats >= 3
            if repeats >= REPEATS:
                return self.conclude(step, "step.left", None, "limit_reached")
        if step.entered >= agent.get("max_turns", TURNS):
            return self.conclude(step, "step.left", None, "limit_reached")
        if "timeout_us" in step.node and self.now >= self.session_deadline(step):
            return self.conclude(step, "step.left", None, "timeout")
        kept = body.turn["kept_from"]
        if "context_tokens" in agent and turn.tokens + agent.get("max_tokens", REPLY_TOKENS) >= agent["context_tokens"] and step.entered > kept:
            kept += (step.entered - kept + 1) // 2
        self.enter_turn(step, {"note": note, "repeats": repeats, "corrections": corrections, "kept_from": kept}, signature)

    def is_complete(self, step, agent, value):
        done = {one.node["name"] for body in step.bodies for one in body.steps if one.call and one.state == "succeeded" and not one.asks_for}
        if not done.issuperset(agent.get("required_tools", [])):
            return False
        # The schema of definitions.py: an object with a whole number n.
        return "schema" not in agent or isinstance(value, dict) and type(value.get("n")) is int

    def signature(self, body, reply):
        rows = []
        for number, call in enumerate(reply["calls"]):
            made = [one for one in body.steps if one.call and one.call["number"] == number]
            made = [one for one in made if not one.asks_for] or made
            rows.append((call["name"], json.dumps(call.get("arguments", call.get("malformed"))),
                         json.dumps([made[0].fault, made[0].fault and made[0].by, made[0].output]) if made else None))
        return rows

    def session_deadline(self, step):
        return max(step.begun, self.retried) + step.node["timeout_us"]

    def deadline(self, step):
        """When an attempt or a question must be over."""
        own, owner = self.later(step.node), step.body.owner
        dues = [own] if own is not None else []
        if step.body.turn and "timeout_us" in owner.node:
            dues.append(self.session_deadline(owner))
        return min(dues, default=None)

    # ---- judging

    def gate(self, node, body):
        tests = {name: body.last(name) for name in body.nodes if body.last(name)}
        tests = {name: test.state == "succeeded" and passes(test.output) for name, test in tests.items()
                 if test.state != "skipped" or test.fault}
        passed = sum(tests.values())
        if not tests:
            status = "skipped"
        elif not all(tests.get(name, True) for name in node.get("required", [])):
            status = "failed"
        elif passed >= node.get("threshold", 1) * len(tests):
            status = "passed"
        else:
            status = "partial" if passed else "failed"
        good = status in ("passed", "skipped")
        return {"status": status, "passed": passed, "tests": len(tests)}, None if good else "gate_closed"

    def verify(self, step, event, output, broken):
        """One round: `output` is checked; `broken`: the body that should have corrected it failed."""
        node, policy, (begun, before, corrections) = step.node, step.node.get("policy", {}), step.story
        repeats = "repeats" in node
        names = self.names(step.bodies[0] if repeats else step.body, {"output": output})
        results = before if broken else {one["name"]: holds(one["check"], names) for one in node["criteria"]}
        bad = [name for name in results if not results[name]]
        if step.round > 1:
            resolved = [name for name in results if results[name] and not before[name]]
            corrections = corrections + [{
                "attempt_number": step.round - 1, "issues_resolved": resolved, "issues_remaining": bad,
                "outcome": "failed" if bad and not resolved else "partial" if bad else "success",
                "corrected_output": None if broken or repeats else output, "duration_ms": (self.now - step.begun) // 1000}]
        halt = policy.get("halt_on_critical", True) and any(one["critical"] for one in node["criteria"] if one["name"] in bad)
        seconds, again = policy.get("timeout_seconds"), False
        if not broken and (not bad if policy.get("require_all_criteria", True) else 2 * len(bad) < len(results)):
            status = "passed" if step.round == 1 else "corrected"
        elif halt or not node.get("body"):
            status = "failed"
        elif (step.round > policy.get("max_correction_attempts", 3) or seconds and self.now - begun > seconds * 1000000
              or repeats and step.round > 1 and bad == [name for name in before if not before[name]] and same(step.checked, output)):
            status = "uncorrectable"
        else:
            status, again = "failed", True
        good = status in ("passed", "corrected")
        result = {"status": status, "criteria_results": results, "corrections": corrections, "error": status == "uncorrectable",
                  "final_output": output if good else None, "total_duration_ms": (self.now - begun) // 1000}
        if repeats:  # the output of the step that is repeated, with the result
            checks = {one["name"]: one["check"] for one in node["criteria"]}
            result.update(final_output=None, error=not good,
                          issues=[{"criterion": name, "reason": "does not hold: " + checks[name]} for name in bad])
            result = {**(output if isinstance(output, dict) else {} if output is None else {"output": output}), "verification": result}
        step.story, step.checked = (begun, results, corrections), output
        self.conclude(step, event, result, None if good or again else "unverified", again=again)
        if halt and not good:
            self.call_off("unverified")

    def conclude(self, step, event, output=None, fault=None, cancelled=False, again=False):
        """The closing event and its continuation.  `cancelled`: no retry."""
        self.emit(event, step)
        node, retry = step.node, step.node.get("retry")
        step.open, step.settling, step.due, step.fault = False, False, None, fault
        step.output = None if fault and step.kind not in BODIES else output
        if (retry and fault in (retry.get("on") or AGAIN) and step.retries < retry["max_retries"]
                and not (cancelled or step.pure or step.stopping)):
            most = min(retry["max_delay_us"], retry["base_delay_us"] * 2 ** step.retries)
            step.state, step.due, step.retries = "retrying", (self.now, self.now + most) if most else self.now, step.retries + 1
            step.holds_workspace = step.contained
            return
        if fault and not step.stopping:
            self.pass_milestone(step, False)
        if step.stopping:
            if not fault and not cancelled:
                self.remember(step)
            self.close(step, "cancelled" if cancelled else "failed" if fault else "succeeded")
        elif fault:
            self.close(step, "failed")
        elif again:
            self.close(step, "succeeded", again=True)
        else:
            before = self.shared
            try:
                self.merge(step, output)
            except graph_state.Unfit:
                step.fault = "invalid"
                self.pass_milestone(step, False)
                return self.close(step, "failed")
            names = self.names(step.bodies[0] if step.kind == "loop" else step.body, {"output": output}, step)
            again, fault = self.another_round(step, names) if "until" in node else (False, None)
            if fault:
                step.fault, self.shared = fault, before
                self.pass_milestone(step, False)
                return self.close(step, "failed")
            taken = [edge["to"] for edge in node.get("edges", []) if "when" not in edge or holds(edge["when"], names)]
            over = not again and self.too_often(step.body, taken)
            if not again:
                passed = node.get("milestone", {}).get("passed")
                own = self.names(step.body, {"output": output}, step)
                self.pass_milestone(step, passed is None or holds(passed, own))
            self.remember(step)
            self.close(step, "succeeded", [] if again or over else taken, again)
            if over:
                self.call_off("limit_reached")

    def pass_milestone(self, step, passed):
        if step.milestone is not None:
            step.milestone["passed"] = passed

    def merge(self, step, output):
        """The result of a node of the root changes the state that the nodes share."""
        if self.shared is not None and step.body is self.root and step.node.get("section", "steps") == "steps":
            self.shared = graph_state.after(self.graph["state"], self.shared, step.node, output)

    def start_pure(self):
        """Pure steps start with the event that makes them ready, before the next event of the same command."""
        if self.paused or self.queued or self.cancelling and (self.abandoned or not self.unwinding):
            return
        for step in [step for step in self.ready if step.effect and not step.leaving]:
            if not self.may_start(step):
                continue
            if not step.pure or "when" in step.node or "milestone" in step.node:
                return
            self.start(step)

    def remember(self, step):
        """The step succeeds and may have to be undone."""
        if "undo" in step.node:
            self.undos.append((step.node["undo"], self.names(step.body, None, step).frozen()))

    def most_rounds(self, step):
        """None: not a number of rounds."""
        most = render(step.node.get("max", 3), self.names(step.body))
        return most if isinstance(most, int) and not isinstance(most, bool) and most >= 1 else None

    def another_round(self, step, names):
        """Whether there is another round, and the fault of a step that fails because of its rounds."""
        most = self.most_rounds(step)
        if most is None:
            return False, "invalid"
        if holds(step.node["until"], names):
            return False, None
        step.limit_reached = step.round >= most and step.node["on_limit"] == "continue"
        return step.round < most, "limit_reached" if step.round >= most and not step.limit_reached else None

    def too_often(self, body, taken):
        return (taken and self.iterations + len(taken) > self.graph.get("max_iterations", ITERATIONS) or
                any(body.counts[name] - body.extra[name] + taken.count(name) > body.nodes[name].get("max_iterations", ITERATIONS) for name in taken))

    def close(self, step, state, taken=(), again=False):
        """Makes the activation final and applies the consequences."""
        body, owner, name = step.body, step.body.owner, step.node["name"]
        self.make_final(step, state)
        failed = state == "failed" and not step.node.get("continue_on_error")
        if failed:
            body.first_failed, self.failures, step.failed_as = body.first_failed or step, self.failures + 1, self.failures
        if not step.stopping:
            if again:
                following = self.create(body, step.node)
                following.round, following.story, following.checked = step.round + 1, step.story, step.checked
                following.milestone = step.milestone and {"data": step.milestone["data"], "starts": False, "passed": None}
                self.arrive(following)
            elif failed:
                self.skip_dependents(body, name)
            else:
                body.told.add(name)
            for other in taken:
                self.arrive(self.create(body, body.nodes[other]))
            self.make_ready(body)
        if owner and not body.live():
            self.body_over(owner, body)

    def body_over(self, owner, body):
        """No activation of the body is live."""
        left = owner.stopping and owner.kind == "try" and self.finally_is_left(owner)
        if owner.kind == "try" and (not owner.stopping or left and self.unwinding) and self.next_part(body) or left:
            return
        if owner.kind == "map" and not owner.stopping:
            self.enter_items(owner)
        if not any(inner.live() for inner in owner.bodies):
            if owner.stopping and (self.abandoned or body.part != "finally"):
                self.close(owner, "cancelled")
            else:
                owner.leaving = True
                self.arrive(owner)

    def will_fail(self):
        """Of a run that was called off.  A step may fail with the code that a cancelled run has."""
        return self.has_failed or self.called_off != "cancelled"

    def make_final(self, step, state):
        last = step.body.last(step.node["name"])
        if last and not step.body.turn:
            step.body.lost[step.node["name"]] += last.state == "failed" and not step.node.get("continue_on_error")
            step.body.steps.remove(last)
        stopped = self.cancelling and self.will_fail()
        tolerated = state == "failed" and bool(step.node.get("continue_on_error"))
        step.state, step.due, step.cut = state, None, step.stopping and stopped and (state == "succeeded" or tolerated)
        if not (step.kind in RESUMES and (state == "failed" and not tolerated or state == "cancelled" and stopped)):
            step.bodies = []

    def skip_dependents(self, body, name):
        for step in body.live():
            if name in step.node["depends_on"] and step.arrival is None and not step.final:
                self.make_final(step, "skipped")
                step.fault = "dependency_failed"
                self.skip_dependents(body, step.node["name"])

    def create(self, body, node):
        step = Activation(body, node)
        body.steps.append(step)
        self.iterations += node["join"] == "any" and not body.turn
        return step

    def make_ready(self, body):
        if body.turn:
            return self.release_calls(body)
        waiting = [step for step in body.live() if step.arrival is None]
        if waiting and waiting == body.live() and not any(body.told.issuperset(step.node["depends_on"]) for step in waiting):
            body.told |= {name for name in body.nodes if not body.counts[name]
                          and body.nodes[name].get("section", "steps") == body.part}  # no edge can reach these any more
        for step in waiting:
            if body.told.issuperset(step.node["depends_on"]):
                self.arrive(step)

    def arrive(self, step):
        self.arrivals += 1
        step.arrival = self.arrivals
        self.ready.append(step)

    def call_off(self, fault):
        if self.abandoned or self.cancelling and not self.unwinding:
            return
        self.start_pure()
        self.emit("run.cancelling")
        self.abandoned, self.called_off = self.unwinding, self.called_off if self.cancelling or self.unwinding else fault
        self.cancelling, self.paused, self.queued, self.due = True, False, False, None
        self.cancel(self.root)
        self.ready = [step for step in self.ready if not step.final]
        self.stops += [step.path for step in self.all() if step.open and step.effect and step.stopping]

    def cancel(self, body):
        for step in reversed(body.live()):
            step.stopping = True
            for inner in step.bodies:
                if self.abandoned or inner.part != "finally":
                    self.cancel(inner)
            goes_on = step.open and step.effect or step.kind == "try" and not self.abandoned and step.bodies and (
                step.bodies[0].has("finally") and (step.leaving or self.finally_is_left(step)))
            if not step.final and not goes_on and not any(inner.live() for inner in step.bodies):
                step.open = step.settling = False
                self.close(step, "cancelled")

    def end(self):
        if self.cancelling:
            self.emit("run.finished")
            self.word, self.fault = "failed" if self.will_fail() else "cancelled", self.called_off
            return
        failed, rows = self.root.first_failed, self.graph["outputs"]
        outputs = {row["name"]: render(row["from"], self.names(self.root)) for row in rows}
        missing = any(outputs[row["name"]] is None and not row["optional"] for row in rows)
        fault = failed.fault if failed else "invalid" if missing else None
        if fault and self.undos and not self.unwinding:
            self.called_off, self.has_failed = fault, True
            return self.unwind()
        self.emit("run.finished")
        self.outputs, self.fault, self.word = outputs, fault, "failed" if fault else "succeeded"
        found = render(self.graph["issues"]["from"], self.names(self.root)) if "issues" in self.graph and not fault else None
        self.issues = 0 if found is None else min(len(found), 100) if isinstance(found, list) else 1

    def emit(self, event, step=None):
        self.events.append([event, step.path if step else ""])

    def later(self, row):
        return self.now + row["timeout_us"] if "timeout_us" in row else None

    def all(self, body=None):
        for step in (body or self.root).steps if self.root else []:
            yield step
            for inner in step.bodies:
                yield from self.all(inner)

    def rendered(self, step):
        if step.call:
            return {**step.node["inputs"], **step.call.get("made_with", step.call["arguments"])}
        return render(step.node["inputs"], self.names(step.body))

    def names(self, body, variables=None, closing=None):
        shared = {} if self.shared is None else {"state": self.shared}
        return Names(body, {"inputs": self.inputs, **shared, **(variables or {})}, closing)

    def state(self):
        steps = list(self.all())
        busy = any(step.state == "retrying" or step.state == "running" and step.kind not in BODIES for step in steps)
        asked = any(step.state == "waiting_human" for step in steps)
        word = self.word or ("queued" if self.queued else "paused" if self.paused else
                             "waiting_human" if asked and not busy and (not self.cancelling or self.unwinding) else "running")
        rows = {step.path: {
            "state": step.state, "attempt": max(1, step.attempt) if step.effect else 0, "open": step.open or step.settling,
            "due": step.due, "output": step.output if step.final else None, "fault": step.fault,
            "inputs": step.inputs if step.open and step.kind == "tool" else None, "log": step.log,
            "limit_reached": step.limit_reached, "milestone": step.milestone} for step in steps}
        rows.update({body.path: body.turn for step in steps for body in step.bodies if body.turn})
        return {"run": word, "fault": self.fault, "outputs": self.outputs, "issues": self.issues, "steps": rows}
