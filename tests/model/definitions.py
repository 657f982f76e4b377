"""Random definitions: every kind of node, nested bodies, edges with cycles, and expressions over the readable values.

A definition is a dictionary, printed as JSON, which is valid YAML.  Names are unique in the whole definition.
"""
from hypothesis import strategies as st

TOOLS = ("echo", "echo", "get", "pay", "ask", "write", "send")
CODES = ("tool_failed", "unavailable", "io", "timeout", "cancelled")
CALLABLE = ("echo", "get", "write", "send", "submit", "ask_human")
MAILBOX = ["send_message", "read_messages"]
SCHEMA = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
KINDS = ("tool",) * 6 + ("condition", "human", "wait", "agent", "session", "session", "workflow", "parallel", "map", "loop", "verify", "gate", "try", "try")
NESTING = 3


class Maker:
    def __init__(self, draw):
        self.draw, self.count, self.undoable = draw, 0, True
        self.state = self.often(4)  # its nodes share a state

    def pick(self, *choices):
        return self.draw(st.sampled_from(choices))

    def often(self, one_in):
        """True once in so many; shrinks to false."""
        return self.draw(st.integers(0, one_in - 1)) == one_in - 1

    def some(self, of, most=2):
        return self.draw(st.lists(st.sampled_from(of), max_size=most, unique=True)) if of else []

    # ---- expressions

    def atom(self, reads):
        names = ["inputs.n", "inputs.nothing.at.all"]
        if self.state:
            names += ["state.n", "state.ok", "state.list[1]", "state.routing_key"]
        for name in reads:
            if name == "error":
                names += ["error.code", "error.step"]
            elif name in ("item", "index", "output"):
                names += [name, name + ".n"]
            else:
                names += ["steps.%s.outputs.n" % name, "steps.%s.outputs.ok" % name, "steps.%s.outputs.list[1]" % name]
        return self.pick(*names)

    def expression(self, reads, depth=0):
        kind = self.pick("compare", "ok", "status", "arithmetic", "and", "or", "not", "in", "null", "error") if depth < 2 else "compare"
        names = [name for name in reads if name not in ("item", "index", "output", "error")]
        if kind in ("and", "or"):
            return "(%s %s %s)" % (self.expression(reads, depth + 1), kind, self.expression(reads, depth + 1))
        if kind == "not":
            return "(not %s)" % self.expression(reads, depth + 1)
        if kind == "status" and names:
            return "steps.%s.status %s 'succeeded'" % (self.pick(*names), self.pick("==", "!="))
        if kind == "error" and names:
            return "steps.%s.error%s" % (self.pick(*names), self.pick(" is null", ".code == 'tool_failed'", ".code != 'cancelled'"))
        if kind == "in":
            return "%s %s [0, 1, true]" % (self.atom(reads), self.pick("in", "not in"))
        if kind == "null":
            return "%s %s null" % (self.atom(reads), self.pick("is", "is not"))
        if kind == "arithmetic":
            return "%s %s %d > 2" % (self.atom(reads), self.pick("+", "-", "*", "%"), self.pick(0, 1, 2))
        if kind == "ok" and names:
            return "steps.%s.outputs.ok" % self.pick(*names)
        return "%s %s %d" % (self.atom(reads), self.pick("==", "!=", "<", "<=", ">", ">="), self.pick(0, 1, 2))

    def template(self, reads):
        value = "${%s}" % self.atom(reads)
        return self.pick(value, "is " + value, {"n": value}, [value, 1])

    # ---- steps

    def body(self, depth, outer):
        """A list of steps; `outer` are the names that the owners of the enclosing bodies may read."""
        edges, names = self.often(3), []
        for _ in range(self.draw(st.integers(1, 3)) if depth else self.draw(st.integers(1, 7))):
            names.append("s%d" % self.count)
            self.count += 1
        steps = [{"name": name} for name in names]
        for number, step in enumerate(steps if edges else []):
            if self.often(5) if number == 0 else not self.often(3):
                step["join"] = "any"
        anys = [step["name"] for step in steps if "join" in step]
        before = {}
        for number, step in enumerate(steps):
            name, known = names[number], set()
            if step.get("join") != "any":
                step["depends_on"] = self.some(names[:number])
            for other in step.get("depends_on", []):
                known |= before[other] | {other}
            before[name] = known
            reads = outer + (names if anys else sorted(known))
            targets = step.get("depends_on") or [other for other in names if anys and other != name]
            self.fill(step, depth, reads, targets)
            if anys:
                self.join(step, number, names, anys, reads)
        led_to = [edge["to"] for step in steps for edge in step.get("next", [])]
        if not any(step.get("join") != "any" or step.get("entry", step["name"] not in led_to) for step in steps):
            steps[0]["entry"] = True
        return steps

    def join(self, step, number, names, anys, reads):
        if step.get("join") == "any" and self.often(6):
            step["entry"] = self.often(2)
        if step.get("join") == "any" and self.often(3):
            step["max_iterations"] = self.pick(1, 2, 3, 5)
        step["next"] = []
        for to in self.draw(st.lists(st.sampled_from(anys), min_size=self.pick(0, 1), max_size=3)):
            edge = {"to": to}
            if names.index(to) <= number or self.often(2):
                edge["when"] = self.expression(reads)
            step["next"].append(edge)

    def fill(self, step, depth, reads, targets):
        kind = self.pick(*KINDS)
        if depth >= NESTING and kind in ("parallel", "map", "loop", "verify", "gate", "try"):
            kind = "tool"
        if kind == "verify" and not targets:
            kind = "condition"
        caught = kind != "try" and depth < NESTING and self.often(10)
        if caught:  # the step inside its try has the same name, and is not the one that edges start
            reads = [name for name in reads if name != step["name"]]
        getattr(self, "make_" + kind)(step, depth, reads, *([targets] if kind == "verify" else []))
        own = reads + [step["name"]]
        if self.often(5):
            step["when"] = self.expression(reads)
        if self.often(12):
            step["unless"] = self.expression(reads)
        if caught:
            self.catch(step, depth, reads)
        if self.undoable and depth < NESTING and self.often(8):
            step["undo"] = self.cleanup(depth, own)
        if self.often(6):
            step["continue_on_error"] = True
        if self.often(5):
            step["milestone"] = {"kind": self.pick("task", "review", "plan_validation"), "data": {"a": self.template(reads)} if reads else {}}
            if self.often(2):
                step["milestone"]["passed"] = self.expression(["output"] + own)
        if kind not in ("loop", "verify") and self.often(7):
            step["loop_until"] = self.expression(own)
            if self.often(2):
                step["loop_max"] = self.pick(1, 2, "${inputs.n}", "${inputs.nothing}")
        if kind in ("agent", "session", "workflow") or step.get("tool", "echo") != "echo":
            if self.often(3):
                step["timeout"] = self.pick(1, 5)
            if self.often(2):
                step["retry"] = {"max_retries": self.pick(0, 1, 2), "base_delay": self.pick(0, 1), "max_delay": self.pick(1, 2)}
                if self.often(2):
                    step["retry"]["on"] = self.some(CODES)

    def make_tool(self, step, depth, reads):
        step["tool"] = self.pick(*TOOLS)
        step["inputs"] = {"a": self.template(reads)} if reads or self.often(2) else {}

    def make_condition(self, step, depth, reads):
        step["condition"] = self.expression(reads)

    def make_human(self, step, depth, reads):
        step["human"] = {"question": "good?", "four_eyes": self.often(3)}
        if self.often(2):
            step["human"]["on_reject"] = self.pick("continue", "fail")
        if self.often(2):
            step["human"]["timeout"] = self.pick(1, 5)
            step["human"]["escalate"] = [{"to": "boss", **self.pick({}, {"timeout": 2})} for _ in range(self.pick(0, 1, 2))]

    def make_wait(self, step, depth, reads):
        step["wait"] = self.pick({"seconds": 0}, {"seconds": 3}, {"signal": "go"}, {"signal": "go", "timeout": 4},
                                 {"signal": "stop"})

    def make_agent(self, step, depth, reads):
        step["agent"] = "ada"
        step["inputs"] = {"prompt": self.template(reads)}

    def make_session(self, step, depth, reads):
        step["agent"] = self.pick("dev", "eve")
        step["inputs"] = {"prompt": self.template(reads)}

    def worker(self):
        """An agent that takes turns."""
        tools = self.draw(st.lists(st.sampled_from(CALLABLE), min_size=1, max_size=4, unique=True))
        tools += MAILBOX if self.often(2) else []
        agent = {"driver": "script", "model": "none", "tools": tools, "approve": self.some(tools) if self.often(2) else []}
        if self.often(4):
            agent["required_tools"] = self.some(tools, 1)
        if self.often(4):
            agent["schema"] = SCHEMA
        if self.often(2):
            agent["max_turns"] = self.pick(1, 2, 4, 8)
        if self.often(3):
            agent["context_tokens"], agent["max_tokens"] = 1000, self.pick(10, 400)
        return agent

    def make_workflow(self, step, depth, reads):
        step["workflow"] = "other"
        step["inputs"] = self.pick({}, {"x": "a"})

    def make_parallel(self, step, depth, reads):
        step["parallel"] = {"steps": self.body(depth + 1, reads), "serial": True}

    def make_map(self, step, depth, reads):
        over = ["${inputs.list}", [], [1], [{"n": 1}, {"n": 2}, 3], "${inputs.n}"]
        over += ["${steps.%s.outputs.list}" % name for name in reads if name not in ("item", "index", "output", "error")]
        step["map"] = {"over": self.pick(*over), "steps": self.body(depth + 1, reads + ["item", "index"]), "serial": True}
        if self.often(3):
            step["map"]["at_once"] = self.pick(1, 2)

    def make_loop(self, step, depth, reads):
        steps = self.body(depth + 1, reads + [step["name"]])
        step["loop"] = {"until": self.expression(reads + [inner["name"] for inner in steps]), "steps": steps}
        if self.often(2):
            step["loop"]["max"] = self.pick(1, 2, "${inputs.n}", "${inputs.n - 2}")
        if self.often(2):
            step["loop"]["on_limit"] = "continue"

    def make_try(self, step, depth, reads):
        step["try"] = {"steps": self.body(depth + 1, reads)}
        parts, before = self.pick(("catch",), ("finally",), ("catch", "finally")), [one["name"] for one in step["try"]["steps"]]
        for part in parts:
            step["try"][part] = (self.cleanup if part == "finally" else self.inner)(depth, reads + before + ["error"])
            before = before + [one["name"] for one in step["try"][part]]

    def inner(self, depth, reads):
        return self.body(depth + 1, reads)

    def cleanup(self, depth, reads):
        """Finally and undo steps cannot be undone."""
        undoable, self.undoable = self.undoable, False
        steps = self.body(depth + 1, reads)
        self.undoable = undoable
        return steps

    def catch(self, step, depth, reads):
        """The shorthand: catch and finally of a step that is no try."""
        parts, before = self.pick(("catch",), ("finally",), ("catch", "finally")), [step["name"]]
        for part in parts:
            step[part] = (self.cleanup if part == "finally" else self.inner)(depth, reads + before + ["error"])
            before = before + [one["name"] for one in step[part]]

    def make_verify(self, step, depth, reads, targets):
        criteria = [{"name": "c%d" % n, "check": self.expression(["output"] + reads), "critical": self.often(5)}
                    for n in range(self.pick(1, 2, 3))]
        repeats = self.often(2)
        step["verify"] = {"criteria": criteria} if repeats else {"target": self.pick(*targets), "criteria": criteria}
        if self.often(2):
            step["verify"]["policy"] = {"max_correction_attempts": self.pick(0, 1, 2), "require_all_criteria": self.often(2),
                                        "halt_on_critical": self.often(2)}
            if self.often(3):
                step["verify"]["policy"]["timeout_seconds"] = self.pick(1, 10)
        if repeats:
            step["verify"]["steps"] = self.body(depth + 1, reads + [step["name"]])
            step["verify"]["repeats"] = step["verify"]["steps"][0]["name"]
        elif not self.often(4):
            step["verify"]["steps"] = self.body(depth + 1, reads + [step["name"]])

    def make_gate(self, step, depth, reads):
        steps = self.body(depth + 1, reads)
        step["gate"] = {"steps": steps, "required": self.some([inner["name"] for inner in steps]),
                        "threshold": self.pick(1, 0.5, 0, 0.3)}


@st.composite
def definitions(draw):
    make = Maker(draw)
    steps = make.body(0, [])
    definition = {"name": "w", "inputs": {"n": {"type": "number", "default": 2}, "list": {"type": "array", "default": [1, 2]},
                                          "nothing": {"required": False}},
                  "agents": {"ada": {"driver": "script", "model": "none"}, "dev": make.worker(), "eve": make.worker()}, "steps": steps}
    roots = [step["name"] for step in steps]
    definition["outputs"] = {"o%d" % n: {"from": "${steps.%s.outputs}" % name, "optional": not make.often(4)}
                             for n, name in enumerate(make.some(roots))}
    if make.state:
        words = ("overwrite", "append", "union", "merge", "add")
        definition["state"] = {name: {"reducer": make.pick(*words)} for name in ("n", "ok", "list")}
        if make.often(2):
            definition["state"]["ok"]["default"] = make.pick(0, True, [], {"n": 1})
        definition["outputs"]["state"] = {"from": "${state}"}
        for step in steps:
            if "next" in step and make.often(4):
                step["routes"] = make.some(["*", "true", "false", "approve", "modify", "1"], 3) or ["*"]
    if make.often(3):
        definition["issues"] = "steps.%s.outputs.list" % make.pick(*roots)
    if make.often(3):
        definition["concurrency"] = make.pick(1, 2)
    if make.often(6):
        definition["timeout"] = make.pick(5, 20)
    if make.often(6):
        definition["unwind_timeout"] = make.pick(1, 10)
    # Always bounded: a cycle whose condition always holds would run a hundred thousand times.
    definition["max_iterations"] = make.pick(2, 4) if make.often(6) else make.pick(20, 50)
    return definition
