// An editor that speaks with `baton lsp`: node client.mjs ACTIONS -- COMMAND...
// ACTIONS is a JSON list: ["open", uri, text] ["change", uri, text] ["close", uri] ["diagnostics", uri]
// ["actions", uri] (for all diagnostics) ["completion" | "hover" | "definition", uri, line, character] ["initialize", capabilities] ["kill"].
// Prints a JSON list with the result of each action, and the exit status of the server.
import { spawn } from "node:child_process";
import process from "node:process";
import protocol from "vscode-languageserver-protocol/node";

const [actions, , ...command] = process.argv.slice(2);
const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
const exited = new Promise((resolve) => child.on("exit", resolve));
const connection = protocol.createProtocolConnection(
	new protocol.StreamMessageReader(child.stdout),
	new protocol.StreamMessageWriter(child.stdin),
);
const versions = new Map();
const published = [];
let arrived = () => {};
connection.onNotification(protocol.PublishDiagnosticsNotification.type, (params) => {
	published.push(params);
	arrived();
});
connection.listen();

async function diagnostics(uri) {
	for (;;) {
		const found = published.findLast((one) => one.uri === uri && (one.version ?? -1) === versions.get(uri));
		if (found !== undefined) return found.diagnostics;
		await new Promise((resolve) => (arrived = resolve));
	}
}

const requests = {
	completion: protocol.CompletionRequest.type,
	hover: protocol.HoverRequest.type,
	definition: protocol.DefinitionRequest.type,
};

async function act([name, uri, ...rest]) {
	if (name === "initialize") {
		const result = await connection.sendRequest(protocol.InitializeRequest.type, {
			processId: process.pid,
			rootUri: null,
			capabilities: uri ?? {},
		});
		await connection.sendNotification(protocol.InitializedNotification.type, {});
		return result;
	}
	if (name === "open") {
		versions.set(uri, 1);
		const textDocument = { uri, languageId: "yaml", version: 1, text: rest[0] };
		return connection.sendNotification(protocol.DidOpenTextDocumentNotification.type, { textDocument });
	}
	if (name === "change") {
		versions.set(uri, versions.get(uri) + 1);
		const textDocument = { uri, version: versions.get(uri) };
		return connection.sendNotification(protocol.DidChangeTextDocumentNotification.type, {
			textDocument,
			contentChanges: [{ text: rest[0] }],
		});
	}
	if (name === "close") {
		versions.set(uri, -1);
		return connection.sendNotification(protocol.DidCloseTextDocumentNotification.type, { textDocument: { uri } });
	}
	if (name === "diagnostics") return diagnostics(uri);
	if (name === "actions") {
		const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
		const context = { diagnostics: await diagnostics(uri) };
		return connection.sendRequest(protocol.CodeActionRequest.type, { textDocument: { uri }, range, context });
	}
	if (name === "request")
		return connection.sendRequest(uri, rest[0]).catch((error) => ({ code: error.code, message: error.message }));
	const position = { line: rest[0], character: rest[1] };
	return connection.sendRequest(requests[name], { textDocument: { uri }, position });
}

const results = [];
for (const action of JSON.parse(actions)) results.push((await act(action)) ?? null);
await connection.sendRequest(protocol.ShutdownRequest.type);
await connection.sendNotification(protocol.ExitNotification.type);
results.push(await exited);
console.log(JSON.stringify(results));
process.exit(0);
