// Completion in a definition: fields from the published JSON Schema, and names of steps, tools,
// agents and workflows.  The place of the cursor is found by indentation, so it works in a text that
// cannot be parsed at the moment.
import { resolved, type Schema, type Schemas } from "../schema";

export interface Proposal {
	label: string;
	/** Next to the label. */
	detail?: string;
	/** In a box beside the list. */
	info?: string;
	/** The inserted text, if it is not the label. */
	apply?: string;
}

/** What the server knows by name. */
export interface Names {
	tools: Proposal[];
	agents: Proposal[];
	workflows: Proposal[];
}

interface WideSchema extends Schema {
	items?: WideSchema;
	additionalProperties?: WideSchema | boolean;
}

const KEY = /^(\s*)((?:- +)*)([\w.-]+):(?:\s|$)/;

const widthOf = (text: string): number => text.length;

/** The keys around a line, outermost first; an item of a list is "-". */
function pathAt(lines: string[], at: number, column: number): string[] {
	const path: string[] = [];
	let inner = column;
	for (let number = at - 1; number >= 0 && inner > 0; number--) {
		const line = lines[number] ?? "";
		const [, space = "", dashes = "", key] = KEY.exec(line) ?? [];
		if (key === undefined || /^\s*#/.test(line))
			continue;
		const own = widthOf(space) + widthOf(dashes);
		if (own < inner) {
			path.unshift(key);
			inner = own;
		}
		if (dashes !== "" && widthOf(space) < inner + 1 && own >= inner) {
			path.unshift("-");
			inner = widthOf(space);
		}
	}
	return path;
}

function member(all: Schemas, schema: WideSchema | undefined, key: string): WideSchema | undefined {
	if (schema === undefined)
		return undefined;
	let wide = resolved(all, schema) as WideSchema;
	if (wide.anyOf !== undefined)
		wide = resolved(all, wide.anyOf.find((option) => option.type !== "null") ?? {}) as WideSchema;
	if (wide.items !== undefined) // steps of a list: the dash may be missing in the path
		return key === "-" ? wide.items : member(all, wide.items, key);
	if (key === "-")
		return wide;
	const named = wide.properties?.[key] as WideSchema | undefined;
	return named ?? (typeof wide.additionalProperties === "object" ? wide.additionalProperties : undefined);
}

function schemaAt(all: Schemas, path: string[]): WideSchema | undefined {
	let schema: WideSchema | undefined = (all["run.Definition.Input"] ?? all["run.Definition"]) as WideSchema;
	for (const key of path)
		schema = member(all, schema, key);
	if (schema === undefined)
		return undefined;
	const wide = resolved(all, schema) as WideSchema;
	return wide.items === undefined ? wide : (resolved(all, wide.items) as WideSchema);
}

function fields(all: Schemas, path: string[]): Proposal[] {
	const schema = schemaAt(all, path);
	return Object.entries(schema?.properties ?? {}).map(([name, field]) => {
		const { description } = resolved(all, field);
		return { label: name, apply: `${name}: `, ...(description === undefined ? {} : { info: description }) };
	});
}

const matches = (text: string, pattern: RegExp): string[] => [...new Set([...text.matchAll(pattern)].map(([, name]) => name ?? ""))];

const stepsOf = (text: string): Proposal[] => matches(text, /^\s*- +\{? *name: *([\w-]+)/gm).map((label) => ({ label, detail: "step" }));

/** The keys directly below a top-level key. */
function keysBelow(text: string, top: string): Proposal[] {
	const [, block = ""] = new RegExp(`^${top}:\\s*\\n((?:[ \\t]+.*\\n?|\\s*\\n)*)`, "m").exec(text) ?? [];
	const first = /^([ \t]+)/.exec(block)?.[1] ?? "  ";
	return matches(block, new RegExp(`^${first}([\\w-]+):`, "gm")).map((label) => ({ label }));
}

/** Names within ${…}. */
function references(text: string, word: string): Proposal[] {
	const [root, step] = word.split(".");
	if (root === "inputs" && word.includes("."))
		return keysBelow(text, "inputs").map(({ label }) => ({ label: `inputs.${label}`, detail: "input" }));
	if (root === "steps" && step !== undefined)
		return stepsOf(text).flatMap(({ label }) => ["outputs", "status", "error"].map((part) => ({ label: `steps.${label}.${part}`, detail: "step" })));
	return [{ label: "inputs.", detail: "inputs of the run" }, { label: "steps.", detail: "results of steps" }, { label: "ctx.", detail: "variables" }];
}

function values(all: Schemas, names: Names, text: string, path: string[], key: string): Proposal[] {
	if (key === "tool" || key === "tools" || key === "required_tools" || key === "approve")
		return names.tools;
	if (key === "agent")
		return [...keysBelow(text, "agents").map((one) => ({ ...one, detail: "agent of this file" })), ...names.agents];
	if (key === "workflow")
		return names.workflows;
	if (key === "depends_on" || key === "to" || key === "target")
		return stepsOf(text);
	const schema = member(all, schemaAt(all, path), key);
	const shape = schema === undefined ? undefined : resolved(all, schema);
	if (shape?.type === "boolean")
		return [{ label: "true" }, { label: "false" }];
	return (shape?.enum ?? []).map((word) => ({ label: String(word) }));
}

/** Proposals for the cursor at `at`; `from` is where the word begins that they replace. */
export function propose(all: Schemas, names: Names, text: string, at: number): { from: number; proposals: Proposal[] } | null {
	const before = text.slice(0, at);
	const lines = text.split("\n");
	const number = before.split("\n").length - 1;
	const line = before.slice(before.lastIndexOf("\n") + 1);
	const [, expression] = /\$\{([^}]*)$/.exec(line) ?? [];
	if (expression !== undefined) {
		const word = /[\w.-]*$/.exec(expression)?.[0] ?? "";
		return { from: at - word.length, proposals: references(text, word) };
	}
	const word = /[\w.-]*$/.exec(line)?.[0] ?? "";
	const from = at - word.length;
	const rest = line.slice(0, line.length - word.length);
	const [, indent = "", dashes = ""] = /^(\s*)((?:- +)*)$/.exec(rest) ?? [];
	if (/^\s*(?:- +)*$/.test(rest)) {
		const column = widthOf(indent) + widthOf(dashes);
		const path = pathAt(lines, number, dashes === "" ? column : widthOf(indent) + 1);
		const last = path[path.length - 1];
		if (dashes !== "" && (last === "depends_on" || last === "tools"))
			return { from, proposals: values(all, names, text, path.slice(0, -1), last) };
		return { from, proposals: fields(all, path) };
	}
	const [, space = "", marks = "", key] = KEY.exec(rest) ?? [];
	const flow = /([\w.-]+): *(?:\[[^\]]*)?$/.exec(rest)?.[1];
	const last = flow ?? key;
	if (last === undefined)
		return null;
	const path = pathAt(lines, number, widthOf(space) + widthOf(marks));
	return { from, proposals: values(all, names, text, marks === "" ? path : [...path.filter((part) => part !== "-")], last) };
}
