"""Calls one function of a script: python3 -I -c THIS SCRIPT FUNCTION call|lines

call: reads the inputs as JSON from stdin and writes the result as JSON to stdout.
lines: reads one {"id", "run", "inputs"} per line and writes one {"id", "output"} or {"id", "error"} per line.

In both modes BATON_EFFECT and BATON_RUN identify the call.  Output of print() goes to stderr.  A script that cannot be
loaded and a function that raises give an error answer: {"error"}, and exit status 1 in mode call.  A result that is not
JSON ends the process without an answer, because the function may already have had its effect."""
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
except Exception as error:
    broken = error


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


def write_answer(value):
    answers.write(json.dumps(value, allow_nan=False) + "\n")
    answers.flush()


if mode == "call":
    try:
        answer = call(json.load(sys.stdin))
    except Exception as error:
        traceback.print_exc()
        write_answer({"error": f"{type(error).__name__}: {error}"})
        sys.exit(1)
    write_answer(answer)
else:
    for line in sys.stdin:
        request = json.loads(line)
        os.environ.update(BATON_EFFECT=request["id"], BATON_RUN=request["run"])
        try:
            answer = {"id": request["id"], "output": call(request["inputs"])}
        except Exception as error:
            answer = {"id": request["id"], "error": f"{type(error).__name__}: {error}"}
        write_answer(answer)
