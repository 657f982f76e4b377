// An object by its members: a text as it is, everything else as JSON.
import { Json } from "./basic";

interface Props {
	value: { [name: string]: unknown };
	/** What the object is, for assistive technology. */
	label: string;
}

function Member({ name, value, label }: { name: string; value: unknown; label: string }) {
	const short = typeof value === "number" || typeof value === "boolean" || value === null || (typeof value === "string" && value.length < 60 && !value.includes("\n"));
	return (
		<div class={short ? "member short" : "member"} data-member={name}>
			<dt>{name}</dt>
			<dd>{short ? <code>{value === "" ? "\"\"" : String(value)}</code> : <Json value={value} label={`${label}: ${name}`} />}</dd>
		</div>
	);
}

export function Members({ value, label }: Props) {
	const names = Object.keys(value);
	if (names.length === 0)
		return <p class="muted">none</p>;
	return (
		<div role="group" aria-label={label}>
			<dl class="members">{names.map((name) => <Member key={name} name={name} value={value[name]} label={label} />)}</dl>
		</div>
	);
}
