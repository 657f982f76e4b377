// JSON Schemas of the entities, from /openapi.json.
import { get } from "./api";

export interface Schema {
	$ref?: string;
	type?: string | string[];
	enum?: unknown[];
	anyOf?: Schema[];
	properties?: { [name: string]: Schema };
	required?: string[];
	description?: string;
	default?: unknown;
	minimum?: number;
	maximum?: number;
	maxLength?: number;
	/** Text of several lines. */
	multiline?: boolean;
}

export interface Schemas {
	[name: string]: Schema;
}

const PREFIX = "#/components/schemas/";
let known: Promise<Schemas> | null = null;

/** Reads the schemas once; after a failure the next call tries again. */
export function schemas(): Promise<Schemas> {
	known ??= get<{ components: { schemas: Schemas } }>("/openapi.json").then((document) => document.components.schemas);
	known.catch(() => (known = null));
	return known;
}

/** The schema of an entity as a request body: its Input form if it has one. */
export const inputSchema = (all: Schemas, name: string): Schema | undefined => all[`${name}.Input`] ?? all[name];

/** Follows a reference; members next to it (description, default) override those of the target. */
export function resolved(all: Schemas, schema: Schema): Schema {
	if (schema.$ref === undefined)
		return schema;
	const { $ref, ...siblings } = schema;
	return { ...(all[$ref.slice(PREFIX.length)] ?? {}), ...siblings };
}

export type Kind = "text" | "number" | "boolean" | "choice" | "object" | "json";

export interface Shape {
	kind: Kind;
	nullable: boolean;
	schema: Schema;
}

/** The control for a schema; a value without a control of its own is edited as JSON. */
export function shapeOf(all: Schemas, given: Schema): Shape {
	let schema = resolved(all, given);
	let nullable = false;
	if (schema.anyOf) {
		const others = schema.anyOf.filter((option) => option.type !== "null");
		nullable = others.length < schema.anyOf.length;
		if (others.length !== 1)
			return { kind: "json", nullable, schema };
		const { anyOf: _, ...siblings } = schema;
		schema = { ...resolved(all, others[0] ?? {}), ...siblings };
	}
	const types = ([] as string[]).concat(schema.type ?? []);
	nullable ||= types.includes("null");
	const [type, more] = types.filter((word) => word !== "null");
	const plain = more === undefined;
	if (schema.enum && schema.enum.every((word) => typeof word !== "object"))
		return { kind: "choice", nullable, schema };
	if (plain && type === "boolean" && !nullable)
		return { kind: "boolean", nullable, schema };
	if (plain && (type === "integer" || type === "number"))
		return { kind: "number", nullable, schema };
	if (plain && type === "string")
		return { kind: "text", nullable, schema };
	if (plain && type === "object" && schema.properties && !nullable)
		return { kind: "object", nullable, schema };
	return { kind: "json", nullable, schema };
}
