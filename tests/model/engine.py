"""A model of the engine, written from docs/engine.md and from nothing else.

It is as plain as it can be: no events are folded, nothing is indexed, nothing is stored by hash, and the order of things is
one list.  test_engine.py lets it run beside the C code and compares both after every command.

    model = Engine(graph)            graph: run.Graph as a dictionary
    model.command({"do": "create", "now": 1, "inputs": {…}})   -> {"events": […], "stops": […]} or {"refused": code}
    model.state()                    everything the two must agree on

Derived delays are the one thing a model cannot know: the due time of a retrying activation is a pair, the bounds.
"""
from expressions import Unknown, compute, holds, look, render

FINAL = ("succeeded", "failed", "skipped", "cancelled")
AGAIN = ("timeout", "unavailable", "io", "storage_full")  # errors.def: trying again can help
EFFECTS = {"tool": "tool", "agent": "turn", "subrun": "subrun"}  # what takes room and can be told to stop
BODIES = ("parallel", "map", "loop", "verify", "gate")
ROUNDS = 1000000
ITERATIONS = 100000


class Body:
    def __init__(self, owner, nodes, path, item=None):
        self.owner, self.nodes, self.path, self.item = owner, nodes, path, item
        self.steps = []  # activations, in the order in which they were created
        self.first_failed = None

    def of(self, name):
        return [step for step in self.steps if step.node["name"] == name]

    def newest_final(self, name):
        return next((step for step in reversed(self.of(name)) if step.final), None)

    def done(self, name):
        """Final, and not to be run again: its dependents may go on."""
        steps = self.of(name)
        return bool(steps) and steps[-1].final

    def live(self):
        return any(not step.final for step in self.steps)

    def value(self, name):
        step = self.newest_final(name)
        return step.output if step else None

    def output(self):
        values = {node["name"]: self.value(node["name"]) for node in self.nodes}
        return values[self.nodes[0]["name"]] if len(self.nodes) == 1 else values


class Activation:
    def __init__(self, body, node):
        count = len(body.of(node["name"])) + 1
        self.path = (body.path + "/" if body.path else "") + node["name"] + ("#%d" % count if count > 1 else "")
        self.body, self.node, self.state = body, node, "pending"
        self.round = 1  # of those that follow from one another
        self.attempt = self.retries = self.level = 0
        self.open = self.settling = self.leaving = False
        self.due = self.output = self.fault = self.inputs = self.limit = None
        self.items, self.bodies, self.entered = [], [], 0
        self.story = None  # of a verification: begun, results, corrections

    @property
    def final(self):
        return self.state in FINAL


class Refused(Exception):
    pass


class Engine:
    def __init__(self, graph):
        self.graph = graph
        self.word, self.fault, self.outputs, self.due = None, None, None, None
        self.queued = self.paused = self.cancelling = False
        self.called_off = None
        self.root = None
        self.ready = []  # in the order in which they became so; containers that are to be left too
        self.signals = []
        self.iterations = 0

    # ---- commands

    def command(self, command):
        self.now, self.events, self.stops = command["now"], [], []
        try:
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

    def on_create(self, command):
        self.check(self.root is None, "conflict")
        self.inputs, self.by, self.queued = command["inputs"], command.get("by", ""), command.get("queued", False)
        self.emit("run.created")
        if "timeout_us" in self.graph:
            self.due = self.now + self.graph["timeout_us"]
        self.root = self.enter(None, self.graph["nodes"], "")

    def on_start(self, command):
        self.check(self.queued, "conflict")
        self.emit("run.started")
        self.queued = False

    def on_computed(self, command):
        step = self.step(command)
        self.check(step.state == "running" and self.is_pure(step), "conflict")
        output = self.rendered(step) if command.get("echo") else command.get("output")
        self.conclude(step, "step.computed", output, command.get("fault"))

    def on_finished(self, command):
        step = self.step(command)
        self.check(step.open and step.node["kind"] in EFFECTS and not command.get("other_effect"), "conflict")
        kind, outcome, fault = EFFECTS[step.node["kind"]] + ".finished", command["outcome"], command.get("fault")
        if self.cancelling:
            self.emit(kind, step)
            step.open = False
        elif outcome == "unknown":
            self.emit(kind, step)
            self.emit("human.requested", step)
            step.state, step.settling, step.due = "waiting_human", True, None
        elif outcome == "ok":
            self.conclude(step, kind, command.get("output"))
        else:
            late = step.due is not None and self.now >= step.due
            self.conclude(step, kind, None, "timeout" if late else fault)

    def on_answered(self, command):
        step, decision = self.step(command), command["decision"]
        self.check(step.state == "waiting_human", "conflict")
        self.check(not command.get("other_effect") and not command.get("other_revision"), "conflict")
        self.check(decision in (("happened", "not_happened", "retry") if step.settling else ("approve", "reject", "modify")), "invalid")
        self.check(step.settling or not step.node.get("four_eyes") or command["by"] != self.by, "forbidden")
        if step.settling:
            step.settling = False
            if decision == "retry":
                self.emit("human.finished", step)
                step.state, step.due, step.open = "retrying", self.now, False
                self.ready.append(step)
            else:
                fault = "outcome_unknown" if decision == "not_happened" else None
                self.conclude(step, "human.finished", command.get("output"), fault, retry=False)
            return
        output = {"decision": decision, "comment": command.get("comment", ""), "by": command["by"]}
        if decision == "modify":
            output["value"] = command.get("output")
        self.conclude(step, "human.finished", output, "rejected" if decision == "reject" else None)

    def on_restarted(self, command):
        step = self.step(command)
        self.check(step.open and step.node["kind"] == "tool" and not self.cancelling, "conflict")
        self.emit("tool.restarted", step)
        step.attempt += 1

    def on_due(self, command):
        if command["step"] == "":
            self.check(self.live() and not self.cancelling and self.due is not None and self.due <= self.now, "conflict")
            self.call_off("timeout")
            return
        step = self.step(command)
        self.check(not step.final and step.due is not None and step.due <= self.now, "conflict")
        kind = step.node["kind"]
        if step.state == "retrying":
            self.check(not self.paused, "conflict")
            self.request(step)
        elif kind in EFFECTS:
            self.stops.append(step.path)
        elif kind == "wait":
            self.conclude(step, "timer.finished", None, "timeout" if "signal" in step.node else None)
        elif step.level < len(step.node.get("levels", [])):
            level = step.node["levels"][step.level]
            self.emit("human.escalated", step)
            step.level += 1
            step.due = self.now + level["timeout_us"] if "timeout_us" in level else None
        else:
            self.conclude(step, "human.finished", None, "timeout")

    def on_pause(self, command):
        self.check(self.live() and not (self.paused or self.queued or self.cancelling), "conflict")
        self.emit("run.paused")
        self.paused = True

    def on_resume(self, command):
        self.check(self.paused, "conflict")
        self.emit("run.resumed")
        self.paused = False

    def on_cancel(self, command):
        self.check(self.live(), "conflict")
        if not self.cancelling:
            self.call_off(None)

    def on_signal(self, command):
        self.check(self.live() and not self.cancelling, "conflict")
        self.emit("run.signalled")
        self.signals.append((command["name"], command.get("output")))
        waits = [step for step in self.all() if step.open and step.node.get("signal") == command["name"]]
        if waits:
            self.take_signal(min(waits, key=lambda step: step.asked))

    # ---- what follows

    def advance(self):
        while not self.word:
            if self.cancelling:
                if any(step.open for step in self.all()):
                    return
                self.finish("failed" if self.called_off else "cancelled", self.called_off)
                return
            if self.paused or self.queued:
                return
            step = next((step for step in self.ready if self.may_start(step)), None)
            if step:
                self.ready.remove(step)
                self.start(step)
            elif not self.root.live():
                self.end()
            else:
                return

    def may_start(self, step):
        if step.leaving or step.state == "retrying" or step.node["kind"] not in EFFECTS:
            return True
        busy = [other for other in self.all() if self.has_room(other)]
        if step.node["class"] == "contained" and any(other.node["class"] == "contained" for other in busy):
            return False
        return len(busy) < self.graph.get("concurrency", 10)

    def has_room(self, step):
        return step.node["kind"] in EFFECTS and step.state in ("running", "retrying")

    def is_pure(self, step):
        return step.node["kind"] == "tool" and step.node["class"] == "pure"

    def start(self, step):
        node, kind = step.node, step.node["kind"]
        if step.leaving:
            self.leave(step)
        elif step.state == "retrying":
            self.request(step)
        elif "when" in node and not holds(node["when"], self.names(step.body)):
            self.emit("step.skipped", step)
            self.close(step, "skipped")
        elif self.is_pure(step):
            if "when" in node:
                self.emit("step.started", step)
            step.state = "running"
        elif kind in EFFECTS:
            self.request(step)
        elif kind == "condition":
            try:
                self.conclude(step, "step.computed", {"value": compute(node["value"], self.names(step.body))})
            except Unknown:
                self.conclude(step, "step.computed", {"value": holds(node["value"], self.names(step.body))})
        elif kind == "wait":
            self.emit("timer.requested", step)
            step.state, step.open, step.asked = "running", True, self.now
            delay = node.get("timeout_us" if "signal" in node else "wait_us")
            step.due = None if delay is None else self.now + delay
            self.take_signal(step)
        elif kind == "human":
            self.emit("human.requested", step)
            step.state, step.open = "waiting_human", True
            step.due = self.now + node["timeout_us"] if "timeout_us" in node else None
        elif kind == "verify" and step.round == 1:
            target = step.body.newest_final(node["target"])
            step.story = {"begun": self.now, "results": None, "corrections": []}
            self.verify(step, "step.computed", target.output if target else None, False)
        else:
            self.enter_step(step)

    def request(self, step):
        if step.state == "pending":
            step.inputs = self.rendered(step)
        self.emit(EFFECTS[step.node["kind"]] + ".requested", step)
        step.retries += step.state == "retrying"
        step.state, step.open, step.attempt = "running", True, step.attempt + 1
        step.due = self.now + step.node["timeout_us"] if "timeout_us" in step.node else None

    def take_signal(self, step):
        for signal in self.signals:
            if signal[0] == step.node.get("signal"):
                self.signals.remove(signal)
                self.conclude(step, "timer.finished", signal[1])
                return

    # ---- bodies

    def enter(self, owner, nodes, path, item=None):
        body = Body(owner, nodes, path, item)
        if owner:
            owner.bodies.append(body)
        led_to = {edge["to"] for node in nodes for edge in node.get("edges", [])}
        for node in nodes:
            if node["join"] == "all" or node.get("entry", node["name"] not in led_to):
                self.create(body, node)
        self.make_ready(body)
        return body

    def enter_step(self, step):
        node = step.node
        if node["kind"] == "map":
            step.items = render(node["over"], self.names(step.body))
            if not isinstance(step.items, list):
                step.items = []
                self.conclude(step, "step.left", None, "invalid")
                return
        self.emit("step.entered", step)
        step.state = "running"
        if node["kind"] == "map":
            self.enter_items(step)
            if not step.items:
                self.will_leave(step)
        else:
            self.enter(step, node["body"], step.path)

    def enter_items(self, step):
        while step.entered < len(step.items) and sum(body.live() for body in step.bodies) < step.node.get("at_once", len(step.items)):
            index, step.entered = step.entered, step.entered + 1
            self.enter(step, step.node["body"], "%s[%d]" % (step.path, index), index)

    def will_leave(self, step):
        step.leaving = True
        self.ready.append(step)

    def leave(self, step):
        kind, bodies = step.node["kind"], step.bodies
        failed = min((body.first_failed for body in bodies if body.first_failed), key=lambda one: one.failed_at, default=None)
        if kind == "gate":
            self.leave_gate(step)
        elif kind == "verify":
            self.verify(step, "step.left", bodies[0].output(), failed is not None)
        elif failed:
            self.conclude(step, "step.left", None, failed.fault)
        elif kind == "parallel":
            self.conclude(step, "step.left", {node["name"]: bodies[0].value(node["name"]) for node in bodies[0].nodes})
        elif kind == "map":
            self.conclude(step, "step.left", [body.output() for body in bodies])
        else:
            self.conclude(step, "step.left", bodies[0].output())
        step.bodies = []

    def leave_gate(self, step):
        tests = [(node["name"], step.bodies[0].newest_final(node["name"])) for node in step.bodies[0].nodes]
        tests = [(name, test) for name, test in tests if test and test.state != "skipped"]
        passed = [name for name, test in tests if self.passes(test)]
        if not tests:
            status = "skipped"
        elif any(name not in passed for name, _ in tests if name in step.node.get("required", [])):
            status = "failed"
        elif len(passed) / len(tests) >= step.node.get("threshold", 1):
            status = "passed"
        else:
            status = "partial" if passed else "failed"
        output = {"status": status, "passed": len(passed), "tests": len(tests)}
        self.conclude(step, "step.left", output, None if status in ("passed", "skipped") else "gate_closed")

    def passes(self, test):
        return (test.state == "succeeded" and look(test.output, "passed") in (None, True)
                and look(test.output, "exit_code") in (None, 0))

    def verify(self, step, event, output, broken):
        """One round: `output` is checked; `broken`: the body that should have corrected it failed."""
        node, story = step.node, step.story
        policy, before = node.get("policy", {}), story["results"]
        names = self.names(step.body, {"output": output})
        results = before if broken else {one["name"]: holds(one["check"], names) for one in node["criteria"]}
        failed = [name for name in results if not results[name]]
        if step.round > 1:
            bad = [name for name in before if not before[name]]
            resolved = [name for name in bad if name not in failed]
            story["corrections"] = story["corrections"] + [{
                "attempt_number": step.round - 1, "issues_resolved": resolved, "issues_remaining": failed,
                "outcome": "success" if not failed else "partial" if len(failed) < len(bad) else "failed"}]
        story["results"] = results
        good = 2 * len(failed) < len(results) if not policy.get("require_all_criteria", True) else not failed
        halt = policy.get("halt_on_critical", True) and any(one["critical"] for one in node["criteria"] if one["name"] in failed)
        seconds = policy.get("timeout_seconds")
        over = seconds is not None and self.now - story["begun"] >= seconds * 1000000
        if good and not broken:
            status = "passed" if step.round == 1 else "corrected"
        elif halt or not node.get("body"):
            status = "failed"
        elif step.round > policy.get("max_correction_attempts", 3) or over:
            status = "uncorrectable"
        else:
            status = None
        result = {"status": status or "failed", "criteria_results": results, "corrections": story["corrections"]}
        if status in ("passed", "corrected"):
            self.conclude(step, event, result)
        elif status is None:
            self.emit(event, step)
            step.output = result
            self.close(step, "succeeded", again=True)
        else:
            self.conclude(step, event, result, "unverified")
            if halt:
                self.call_off("unverified")

    # ---- results

    def conclude(self, step, event, output=None, fault=None, retry=True):
        """The closing event and what is decided with it."""
        node = step.node
        self.emit(event, step)
        step.open, step.due, step.fault = False, None, fault
        if fault:
            step.output = output if node["kind"] in ("verify", "gate") else None
            if retry and self.tries_again(step, fault):
                most = min(node["retry"]["max_delay_us"], node["retry"]["base_delay_us"] * 2 ** (step.attempt - 1))
                step.state, step.due = "retrying", (self.now, self.now + most)
            else:
                self.close(step, "failed")
            return
        step.output = output
        names = self.names(step.bodies[0] if node["kind"] == "loop" else step.body, {"output": output}, step)
        again = "until" in node and step.round < self.rounds(step) and not holds(node["until"], names)
        taken = [edge["to"] for edge in node.get("edges", []) if "when" not in edge or holds(edge["when"], names)]
        over = not again and self.too_often(step.body, taken)
        self.close(step, "succeeded", [] if again or over else taken, again)
        if over:
            self.call_off("limit_reached")

    def rounds(self, step):
        most = render(step.node.get("max", 3), self.names(step.body))
        return min(most, ROUNDS) if isinstance(most, int) else 1

    def tries_again(self, step, fault):
        retry = step.node.get("retry")
        if not retry or step.node["kind"] not in EFFECTS or self.is_pure(step) or fault == "timeout":
            return False
        return step.retries < retry["max_retries"] and fault in (retry.get("on") or AGAIN)

    def too_often(self, body, taken):
        nodes = {node["name"]: node for node in body.nodes}
        return (self.iterations + len(taken) > self.graph.get("max_iterations", ITERATIONS) or
                any(len(body.of(name)) + taken.count(name) > nodes[name].get("max_iterations", ITERATIONS) for name in taken))

    def close(self, step, state, taken=(), again=False):
        """The activation is final."""
        body, step.state, step.failed_at = step.body, state, len(self.events)
        nodes = {node["name"]: node for node in body.nodes}
        if state == "failed":
            body.first_failed = body.first_failed or step
            self.failures = getattr(self, "failures", 0) + 1
            step.failed_at = self.failures
            self.skip_dependents(body, step.node["name"])
        if again:
            following = self.create(body, step.node)
            following.round, following.story = step.round + 1, step.story
            self.ready.append(following)
        for name in taken:
            self.ready.append(self.create(body, nodes[name]))
        self.make_ready(body)
        owner = body.owner
        if owner and not body.live():
            if owner.node["kind"] == "map":
                self.enter_items(owner)
            if not any(inner.live() for inner in owner.bodies):
                self.will_leave(owner)

    def skip_dependents(self, body, name):
        for step in body.steps:
            if name in step.node["depends_on"] and step.state == "pending":
                step.state = "skipped"
                self.skip_dependents(body, step.node["name"])

    def create(self, body, node):
        step = Activation(body, node)
        body.steps.append(step)
        self.iterations += node["join"] == "any"
        return step

    def make_ready(self, body):
        for step in body.steps:
            if step.state == "pending" and step not in self.ready and all(map(body.done, step.node["depends_on"])):
                self.ready.append(step)

    # ---- the end

    def call_off(self, fault):
        self.emit("run.cancelling")
        self.cancelling, self.called_off, self.paused, self.queued, self.ready = True, fault, False, False, []
        for step in self.all():
            if not step.final:
                step.state, step.due = "cancelled", None
                step.open = step.open and step.node["kind"] in EFFECTS and not step.settling
                if step.open:
                    self.stops.append(step.path)

    def end(self):
        failed = self.root.first_failed
        values = {row["name"]: render(row["from"], self.names(self.root)) for row in self.graph["outputs"]}
        missing = any(values[row["name"]] is None and not row["optional"] for row in self.graph["outputs"])
        self.outputs = None if failed or missing else {key: value for key, value in values.items() if value is not None}
        self.finish("failed" if failed or missing else "succeeded", failed.fault if failed else "invalid" if missing else None)

    def finish(self, word, fault):
        self.emit("run.finished")
        self.word, self.fault = word, fault

    # ---- looking

    def emit(self, event, step=None):
        self.events.append([event, step.path if step else ""])

    def live(self):
        return self.root is not None and not self.word

    def all(self, body=None):
        for step in (body or self.root).steps if self.root else []:
            yield step
            for inner in step.bodies:
                yield from self.all(inner)

    def rendered(self, step):
        return render(step.node["inputs"], self.names(step.body))

    def names(self, body, variables=None, closing=None):
        """What names lead to in this body.  `closing`: an activation whose result is there before it is final."""
        def steps():
            seen, at = {}, body
            while at:
                for node in at.nodes:
                    name = node["name"]
                    step = closing if closing and closing.body is at and closing.node is node else at.newest_final(name)
                    if step and name not in seen:
                        word = "succeeded" if step is closing else step.state
                        seen[name] = {"outputs": step.output, "output": step.output, "status": word}
                at = at.owner and at.owner.body
            return seen

        def name(word):
            if word in ("inputs", "steps"):
                return self.inputs if word == "inputs" else steps()
            if variables and word in variables:
                return variables[word]
            at = body
            while at:
                if at.item is not None and word in (at.owner.node.get("as", "item"), "index"):
                    return at.item if word == "index" else at.owner.items[at.item]
                at = at.owner and at.owner.body
            return None
        return name

    def state(self):
        steps = list(self.all())
        asked = [step for step in steps if step.state == "waiting_human"]
        other = [step for step in steps if not step.final and (step.state == "retrying" or step.state == "running" and step.node["kind"] not in BODIES)]
        word = self.word or ("running" if self.cancelling else "queued" if self.queued else "paused" if self.paused else
                             "waiting_human" if asked and not other else "running")
        rows = {step.path: {"state": step.state, "attempt": step.attempt, "open": step.open or step.settling, "due": step.due,
                            "output": step.output, "fault": step.fault,
                            "inputs": step.inputs if step.open and step.node["kind"] == "tool" else None} for step in steps}
        return {"run": word, "fault": self.fault, "outputs": self.outputs, "steps": rows}
