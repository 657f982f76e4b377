// Calls one function of a script: node -e THIS SCRIPT FUNCTION call|lines
//
// call: inputs as JSON on stdin, the result as JSON on stdout.  lines: one {"id", "run", "inputs"} a
// line in, one {"id", "output"} or {"id", "error"} a line out.  The environment says which call and run it is, either
// way.  What the script logs goes to stderr.
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
	const called = load();
	if (mode === "call") {
		const result = await called(JSON.parse(fs.readFileSync(0, "utf8")));
		say(result === undefined ? null : result);
		return;
	}
	for await (const line of require("readline").createInterface({ input: process.stdin })) {
		const asked = JSON.parse(line);
		Object.assign(process.env, { BATON_EFFECT: asked.id, BATON_RUN: asked.run });
		try {
			const output = await called(asked.inputs);
			say({ id: asked.id, output: output === undefined ? null : output });
		} catch (wrong) {
			say({ id: asked.id, error: String(wrong) });
		}
	}
}

main().catch((wrong) => {
	console.error(wrong);
	process.exit(1);
});
