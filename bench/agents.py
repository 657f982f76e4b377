"""W6: 64 agents that take 11 turns and make 10 calls each, every turn durable, beside a plain loop with fetch in Node.

The provider is a program of its own on loopback (provider.c) that answers at once, so what is measured is the loop.
"""
import contextlib
import json
import shutil
import subprocess
import urllib.request

from workloads import BUILD, ROOT, WARM_UP, ask, cpu_us, folder, judge, lines, serve

CALLS, CLIENTS, AGENTS, LONG = 10, 64, 400, 502
EARLY, LATE = 5, 500

# The load generator of W1 starts runs of this name and waits for their end.
WORK = """
name: w1-chain
inputs: {document: {type: object}}
agents:
  dev:
    driver: api:custom
    model: w6-%(calls)d
    system: You work.
    tools: [echo]
    max_turns: %(turns)d
    options: {base_url: "%(base)s", format: chat}
steps:
  - {name: work, agent: dev, inputs: {prompt: "Task ${inputs.document.wf}."}}
outputs: {text: {from: "${steps.work.outputs.text}"}}
"""


@contextlib.contextmanager
def provider():
    process = subprocess.Popen([BUILD / "bench/bench_provider"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        process.base = f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        yield process
    finally:
        process.stdin.close()
        process.wait()


def served(model):
    with urllib.request.urlopen(model.base) as answer:
        return json.loads(answer.read())


def stored(value):
    """The bytes of a value that an event refers to."""
    if isinstance(value, list):
        return sum(map(stored, value))
    if isinstance(value, dict):
        return (value.get("size", 0) if "sha256" in value else 0) + sum(map(stored, value.values()))
    return 0


def sizes(server, run):
    """turn -> the bytes of its events, with the values that they brought."""
    found, turn, after = {}, 0, 0
    while True:
        page = ask(server, f"/api/runs/{run}/events?after={after}&limit=1000")["items"]
        for event in page:
            turn += event["type"] == "step.entered"
            found[turn] = found.get(turn, 0) + len(json.dumps(event["data"])) + stored({
                key: value for key, value in event["data"].items() if key != "request"})
        if len(page) < 1000:
            return found
        after = page[-1]["seq"]


def define(home, model, calls):
    (home / "definitions/w1-chain.yaml").write_text(WORK % {"base": model.base, "calls": calls, "turns": calls + 2})


def loops(broken, home, model, agents):
    define(home, model, CALLS)
    with serve(home) as server:
        before, begun = served(model), cpu_us(server.pid)
        row = lines([BUILD / "bench/bench_w1_client", server.address, str(CLIENTS), str(agents)])[0]
        if row["kinds"]:
            raise SystemExit(f"runs failed: {row['kinds']}")
        turns = (agents + WARM_UP) * (CALLS + 1)
        ours, now = (cpu_us(server.pid) - begun) / turns, served(model)
    asked, opened = now["requests"] - before["requests"], now["connections"] - before["connections"]
    theirs = lines([shutil.which("node") or "node", ROOT / "bench/fetch_loop.mjs", model.base, f"w6-{CALLS}", str(CLIENTS), str(agents)])[0]
    print(f"W6: {CLIENTS} agents at once, {CALLS + 1} turns and {CALLS} calls each: {ours:.0f} us of the server's CPU a turn, all durable; a plain "
          f"fetch loop in Node: {theirs['cpu_us']:.0f}; ratio {ours / theirs['cpu_us']:.2f}; {row['p50_ms']} ms an agent (p50), {row['p99_ms']} (p99); "
          f"{asked} requests over {opened} connections")
    judge(broken, asked == turns, f"every turn was asked once ({asked} of {turns})")
    judge(broken, ours * 3 <= theirs["cpu_us"], "CPU of a turn at most a third of the loop's")
    judge(broken, opened <= 2 * CLIENTS + 2, f"connections are reused ({asked / max(opened, 1):.0f} requests a connection)")


def long_one(broken, home, model, turns):
    define(home, model, turns - 1)
    with serve(home) as server:
        run = ask(server, "/api/run", {"workflow": "w1-chain", "inputs": {"document": {"wf": "long"}}}, wait=60)
        size = sizes(server, run["run_id"])
    if len(size) != turns + 1:
        raise SystemExit(f"the long session took {len(size) - 1} turns instead of {turns}")
    late = min(LATE, turns - 2)
    ratio = size[late] / size[EARLY]
    print(f"    a session of {turns} turns: turn {EARLY} stores {size[EARLY]} bytes, turn {late} {size[late]}; ratio {ratio:.2f}")
    judge(broken, ratio <= 1.2, f"turn {late} stores at most 1.2 times what turn {EARLY} does ({ratio:.2f})")


def w6(broken, agents=AGENTS, turns=LONG):
    with folder() as home, provider() as model:
        loops(broken, home, model, agents)
        long_one(broken, home, model, turns)
