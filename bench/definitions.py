"""How long it takes to compile the largest definitions: a chain, a step that waits for all others, and branches of one container, 10,000 each."""
import os
import pathlib
import resource
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build/bench-build/src/baton"
STEPS, LIMIT_S = 9999, 1.0


def chain():
    yield "steps:\n"
    for i in range(STEPS):
        before = f", depends_on: [s{i - 1}], inputs: {{x: \"${{steps.s{i - 1}.outputs.x}}\"}}" if i else ", inputs: {x: 1}"
        yield f"  - {{name: s{i}, tool: echo{before}}}\n"


def joined():
    yield "steps:\n"
    for i in range(STEPS):
        yield f"  - {{name: s{i}, tool: echo, inputs: {{x: {i}}}}}\n"
    yield "  - {name: end, tool: noop, depends_on: [" + ", ".join(f"s{i}" for i in range(STEPS)) + "]}\n"


def branches():
    yield "steps:\n  - name: all\n    parallel:\n      steps:\n"
    for i in range(STEPS):
        yield f"        - {{name: s{i}, tool: echo, inputs: {{x: {i}}}}}\n"


def cpu_s(home, file):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([PROGRAM, "--home", home, "check", file], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def definitions(broken):
    with tempfile.TemporaryDirectory(prefix="baton-bench-") as home:
        for shape in (chain, joined, branches):
            file = os.path.join(home, f"{shape.__name__}.yaml")
            pathlib.Path(file).write_text(f"name: {shape.__name__}\n" + "".join(shape()))
            small = os.path.join(home, "small.yaml")
            pathlib.Path(small).write_text("name: small\nsteps: [{name: a, tool: noop}]\n")
            spent = cpu_s(home, file) - cpu_s(home, small)
            print(f"definition, {shape.__name__} of {STEPS} steps: {spent * 1000:.0f} ms of CPU to compile (limit {LIMIT_S * 1000:.0f})", flush=True)
            if spent > LIMIT_S:
                broken.append(f"compiling a {shape.__name__} of {STEPS} steps takes {spent:.2f} s")
