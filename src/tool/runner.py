"""Calls one function of a script: python3 -I -c THIS SCRIPT FUNCTION call|lines

call: inputs as JSON on stdin, the result as JSON on stdout.  lines: one {"id", "run", "inputs"} a
line in, one {"id", "output"} or {"id", "error"} a line out.  The environment says which call and run it is, either
way.  What the script prints goes to stderr.

A script that cannot be loaded and a function that raises are answers, too: {"error"} and status 1 for call.  A
result that is no JSON is none: it ends the process, because the function may well have done what it is for."""
import importlib.util
import inspect
import json
import os
import sys
import traceback

answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)

script, name, mode = sys.argv[1:4]
loader = importlib.machinery.SourceFileLoader("tool", script)
spec = importlib.util.spec_from_loader("tool", loader)
module = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode = True
broken = None
try:
    loader.exec_module(module)
    function = getattr(module, name)
except Exception as wrong:
    broken = wrong


def call(inputs):
    if broken is not None:
        raise broken
    result = function(**inputs)
    if inspect.isawaitable(result):
        import asyncio

        async def wait():
            return await result
        result = asyncio.run(wait())
    return result


def say(value):
    answers.write(json.dumps(value, allow_nan=False) + "\n")
    answers.flush()


if mode == "call":
    try:
        said = call(json.load(sys.stdin))
    except Exception as wrong:
        traceback.print_exc()
        say({"error": f"{type(wrong).__name__}: {wrong}"})
        sys.exit(1)
    say(said)
else:
    for line in sys.stdin:
        asked = json.loads(line)
        os.environ.update(BATON_EFFECT=asked["id"], BATON_RUN=asked["run"])
        try:
            said = {"id": asked["id"], "output": call(asked["inputs"])}
        except Exception as wrong:
            said = {"id": asked["id"], "error": f"{type(wrong).__name__}: {wrong}"}
        say(said)
