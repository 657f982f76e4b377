// A form generated from a JSON Schema.  Maps and lists are edited as JSON.  The server validates: its
// problems are shown at the field that their pointer names.
import type { run } from "contract";
import { useState } from "preact/hooks";
import { shapeOf, type Schema, type Schemas } from "../schema";
import { pretty } from "../words";
import { Places, textPlaces } from "./places";

type Value = unknown;
type Members = { [name: string]: Value };

interface FieldProps {
	all: Schemas;
	schema: Schema;
	name: string;
	pointer: string;
	value: Value;
	required: boolean;
	/** undefined removes the member, so that the server's default applies. */
	onChange: (value: Value | undefined) => void;
	/** Fields with invalid JSON, by pointer. */
	broken: Map<string, string>;
	places: run.ProblemPlace[];
	fixed?: string[];
}

export const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

/** Problems of a member and of everything inside it. */
export const placesIn = (places: run.ProblemPlace[], pointer: string): run.ProblemPlace[] =>
	places.filter((place) => place.pointer === pointer || place.pointer.startsWith(`${pointer}/`));

const idOf = (pointer: string): string => `field${pointer.replaceAll(/[^\w]/g, "-")}`;

function JsonField({ pointer, value, placeholder, onChange, broken, disabled, described, invalid }: {
	pointer: string; value: Value; placeholder: string; onChange: (value: Value | undefined) => void; broken: Map<string, string>;
	disabled: boolean; described: string; invalid: boolean;
}) {
	const [text, setText] = useState(value === undefined ? "" : pretty(typeof value === "string" ? JSON.stringify(value) : value));
	const change = (now: string) => {
		setText(now);
		try {
			const read: Value = now.trim() === "" ? undefined : JSON.parse(now);
			broken.delete(pointer);
			onChange(read);
		} catch (cause) {
			broken.set(pointer, `is not JSON: ${(cause as Error).message}`);
			onChange(value);
		}
	};
	return (
		<textarea id={idOf(pointer)} class="mono" rows={Math.min(14, text.split("\n").length + 1)} value={text} placeholder={placeholder} disabled={disabled} spellcheck={false}
			aria-describedby={described} aria-invalid={invalid} onInput={(event) => change(event.currentTarget.value)} />
	);
}

function Control(props: FieldProps & { described: string; invalid: boolean; disabled: boolean }) {
	const { all, pointer, value, onChange, required, described, invalid, disabled } = props;
	const { kind, nullable, schema } = shapeOf(all, props.schema);
	const common = { id: idOf(pointer), disabled, "aria-describedby": described, "aria-invalid": invalid };
	const nothing = nullable ? null : undefined;
	if (kind === "choice") {
		const words = schema.enum ?? [];
		return (
			<select {...common} value={value == null ? "" : String(value)} aria-required={required} onChange={(event) => onChange(words.find((word) => String(word) === event.currentTarget.value) ?? nothing)}>
				{(!required || nullable || value === undefined) && <option value="">{required ? "choose" : schema.default === undefined ? "not set" : `default (${String(schema.default)})`}</option>}
				{words.map((word) => <option key={String(word)} value={String(word)}>{String(word)}</option>)}
			</select>
		);
	}
	if (kind === "boolean")
		return <input {...common} type="checkbox" checked={(value ?? schema.default) === true} onChange={(event) => onChange(event.currentTarget.checked)} />;
	if (kind === "number")
		return (
			<input {...common} type="number" step="any" min={schema.minimum} max={schema.maximum} required={required}
				value={(value as number | null | undefined) ?? ""} placeholder={schema.default == null ? "" : String(schema.default)}
				onInput={(event) => onChange(event.currentTarget.value === "" ? nothing : event.currentTarget.valueAsNumber)} />
		);
	if (kind === "text" && schema.multiline)
		return (
			<textarea {...common} class="growing" rows={Math.min(14, String(value ?? "").split("\n").length)} required={required} maxLength={schema.maxLength}
				value={(value as string | null | undefined) ?? ""} placeholder={schema.default == null ? "" : String(schema.default)}
				onInput={(event) => onChange(event.currentTarget.value === "" ? nothing : event.currentTarget.value)} />
		);
	if (kind === "text")
		return (
			<input {...common} type="text" required={required} maxLength={schema.maxLength} spellcheck={false} autoComplete="off"
				value={(value as string | null | undefined) ?? ""} placeholder={schema.default == null ? "" : String(schema.default)}
				onInput={(event) => onChange(event.currentTarget.value === "" ? nothing : event.currentTarget.value)} />
		);
	return <JsonField {...props} placeholder={schema.default == null ? "" : JSON.stringify(schema.default)} described={described} invalid={invalid} disabled={disabled} />;
}

function Field(props: FieldProps) {
	const { all, name, pointer, broken, places, required, fixed } = props;
	const { kind, schema } = shapeOf(all, props.schema);
	if (kind === "object") {
		const members = (props.value ?? {}) as Members;
		return (
			<details class="group" open={placesIn(places, pointer).length > 0}>
				<summary>{name} <span class="muted">{schema.description}</span></summary>
				<Fields {...props} schema={schema} value={members} />
			</details>
		);
	}
	const wrong = broken.get(pointer);
	// The field itself needs no pointer.
	const inside = placesIn(places, pointer).map((place) => (place.pointer === pointer ? { ...place, pointer: "" } : place));
	const here = wrong === undefined ? inside : textPlaces(wrong);
	const id = idOf(pointer);
	return (
		<div class="field" data-pointer={pointer}>
			<label class="label" for={id}>{name}{required && <span class="muted"> (required)</span>}</label>
			<Control {...props} described={`${id}-help ${id}-places`} invalid={here.length > 0} disabled={fixed?.includes(pointer) ?? false} />
			<span class="muted" id={`${id}-help`}>{schema.description}</span>
			<Places id={`${id}-places`} places={here} />
		</div>
	);
}

interface FieldsProps extends Omit<FieldProps, "name" | "required" | "onChange" | "value"> {
	value: Members;
	onChange: (value: Members) => void;
}

/** A field for each property of an object's schema. */
export function Fields({ all, schema, pointer, value, onChange, broken, places, fixed }: FieldsProps) {
	const change = (name: string, member: Value | undefined) => {
		const next = { ...value };
		if (member === undefined)
			delete next[name];
		else
			next[name] = member;
		onChange(next);
	};
	return (
		<>
			{Object.entries(schema.properties ?? {}).map(([name, property]) => (
				<Field
					key={name}
					all={all}
					schema={property}
					name={name}
					pointer={`${pointer}/${escaped(name)}`}
					value={value[name]}
					required={schema.required?.includes(name) ?? false}
					onChange={(member) => change(name, member)}
					broken={broken}
					places={places}
					{...(fixed ? { fixed } : {})}
				/>
			))}
		</>
	);
}

/** Problems that belong to no field. */
export function placesElsewhere(places: run.ProblemPlace[], schema: Schema): run.ProblemPlace[] {
	const shown = Object.keys(schema.properties ?? {}).map((name) => `/${escaped(name)}`);
	return places.filter((place) => !shown.some((pointer) => place.pointer === pointer || place.pointer.startsWith(`${pointer}/`)));
}
