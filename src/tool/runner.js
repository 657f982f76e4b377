// Calls one function of a script: node -e THIS SCRIPT FUNCTION call|lines
//
// call: inputs as JSON on stdin, the result as JSON on stdout.  lines: one {"id", "run", "inputs"} a
// line in, one {"id", "output"} or {"id", "error"} a line out.  The environment says which call and run it is, either
// way.  What the script logs goes to stderr.  A script that cannot be loaded and a function that throws are answers,
// too: {"error"} and status 1 for call.  A result that is no JSON is none: it ends the process, because the function
// may well have done what it is for.
const fs = require("fs");
const [script, name, mode] = process.argv.slice(1);
for (const word of ["log", "info", "debug"]) console[word] = console.error;
Object.defineProperty(process, "stdout", { get: () => process.stderr });

function say(value) {
	fs.writeSync(1, JSON.stringify(value) + "\n");
}

function load() {
	const made = new module.constructor(script, module);
	made.filename = script;
	made.paths = [];
	made._compile(fs.readFileSync(script, "utf8"), script + ".js");
	const found = made.exports[name] ?? (made.exports.name === name ? made.exports : undefined);
	if (typeof found !== "function") throw new Error(`the script exports no function ${name}`);
	return found;
}

async function main() {
	let called;
	try {
		called = load();
	} catch (wrong) {
		called = () => { throw wrong; };
	}
	if (mode === "call") {
		let result;
		try {
			result = await called(JSON.parse(fs.readFileSync(0, "utf8")));
		} catch (wrong) {
			console.error(wrong);
			say({ error: String(wrong) });
			process.exit(1);
		}
		say(result === undefined ? null : result);
		return;
	}
	for await (const line of require("readline").createInterface({ input: process.stdin })) {
		const asked = JSON.parse(line);
		Object.assign(process.env, { BATON_EFFECT: asked.id, BATON_RUN: asked.run });
		let said;
		try {
			const output = await called(asked.inputs);
			said = { id: asked.id, output: output === undefined ? null : output };
		} catch (wrong) {
			said = { id: asked.id, error: String(wrong) };
		}
		say(said);
	}
}

main().catch((wrong) => {
	console.error(wrong);
	process.exit(1);
});
