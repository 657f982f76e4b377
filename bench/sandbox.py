#!/usr/bin/env python3
"""What the sandbox costs: a no-op command with all walls, with fewer, and without any; and a whole no-op shell step.

    bench/sandbox.py [ROUNDS]       default 200; needs `make build` and ninja -C build bench/bench_sandbox

The sandbox alone is measured by bench_sandbox with the command lines that the server uses, as this user and, if that is
root, as an ordinary user. The step is measured by the server, as its duration in the events: sandbox, snapshot and commits.
Milliseconds. Prints what is above its aim and exits with 1 then.
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build/bench/bench_sandbox"
USER = 64125
AIM_MS = 20  # median of a no-op command with all walls, as an ordinary user
STEP_AIM_MS = 60  # p99 of a no-op shell step in an empty workspace, with its snapshot

sys.path.insert(0, str(ROOT / "tests/support"))
from baton import Home  # noqa: E402


def alone(rounds, user=None):
    """{variant: figures} of the sandbox alone."""
    folder = tempfile.mkdtemp(prefix="baton-bench-")
    under = [] if user is None else ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups"]
    if user is not None:
        os.chown(folder, user, user)
    try:
        done = subprocess.run([*under, PROGRAM, str(rounds), folder], check=True, capture_output=True, text=True)
    finally:
        shutil.rmtree(folder)
    return {row["variant"]: row for row in map(json.loads, done.stdout.splitlines())}


def show(title, figures):
    print(title)
    for name, row in figures.items():
        print(f"  {name:<10} least {row['least']:6.2f}   median {row['median']:6.2f}   p99 {row['p99']:6.2f}   processor {row['cpu']:5.2f}")


def step(rounds):
    """Durations of no-op shell steps, one run each."""
    with Home() as home:
        home.define("name: noop\nsteps: [{name: step, tool: shell, inputs: {command: ':'}}]\n")
        server = home.serve()
        took = []
        for _ in range(rounds):
            answer = server.start("noop", wait=True)
            assert answer.body["status"] == "success", answer
            took.append(answer.body["steps"][0]["duration_ms"])
    return sorted(took)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    over = []
    users = [(None, "as this user")] + ([(USER, "as an ordinary user")] if os.geteuid() == 0 else [])
    for user, title in users:
        figures = alone(rounds, user)
        show(f"a no-op command {title}", figures)
    if figures["all"]["median"] > AIM_MS:
        over.append(f"the sandbox with all walls takes {figures['all']['median']:.1f} ms, the aim is {AIM_MS}")
    took = step(rounds)
    p99 = took[len(took) - 1 - len(took) // 100]
    print(f"a no-op shell step with its snapshot\n  median {statistics.median(took):.0f}   p99 {p99}")
    if p99 > STEP_AIM_MS:
        over.append(f"a no-op shell step takes {p99} ms (p99), the aim is {STEP_AIM_MS}")
    for line in over:
        print(f"over: {line}")
    return bool(over)


if __name__ == "__main__":
    sys.exit(main())
