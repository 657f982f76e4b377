// Calls one function of a script: node -e THIS SCRIPT FUNCTION call|lines
//
// call: reads the inputs as JSON from stdin and writes the result as JSON to stdout.
// lines: reads one {"id", "run", "inputs"} per line and writes one {"id", "output"} or {"id", "error"} per line.
//
// In both modes BATON_EFFECT and BATON_RUN identify the call.  Output of console.log() goes to stderr.  A script that
// cannot be loaded and a function that throws give an error answer: {"error"}, and exit status 1 in mode call.  A result
// that is not JSON ends the process without an answer, because the function may already have had its effect.
const fs = require("fs");
const [script, name, mode] = process.argv.slice(1);
for (const word of ["log", "info", "debug"]) console[word] = console.error;
Object.defineProperty(process, "stdout", { get: () => process.stderr });

function write_answer(value) {
	fs.writeSync(1, JSON.stringify(value) + "\n");
}

function load() {
	const loaded = new module.constructor(script, module);
	loaded.filename = script;
	loaded.paths = [];
	loaded._compile(fs.readFileSync(script, "utf8"), script + ".js");
	const found = loaded.exports[name] ?? (loaded.exports.name === name ? loaded.exports : undefined);
	if (typeof found !== "function") throw new Error(`the script exports no function ${name}`);
	return found;
}

async function main() {
	let target;
	try {
		target = load();
	} catch (error) {
		target = () => { throw error; };
	}
	if (mode === "call") {
		let result;
		try {
			result = await target(JSON.parse(fs.readFileSync(0, "utf8")));
		} catch (error) {
			console.error(error);
			write_answer({ error: String(error) });
			process.exit(1);
		}
		write_answer(result === undefined ? null : result);
		return;
	}
	for await (const line of require("readline").createInterface({ input: process.stdin })) {
		const request = JSON.parse(line);
		Object.assign(process.env, { BATON_EFFECT: request.id, BATON_RUN: request.run });
		let answer;
		try {
			const output = await target(request.inputs);
			answer = { id: request.id, output: output === undefined ? null : output };
		} catch (error) {
			answer = { id: request.id, error: String(error) };
		}
		write_answer(answer);
	}
}

main().catch((error) => {
	console.error(error);
	process.exit(1);
});
