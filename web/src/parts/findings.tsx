// Findings of a review to choose from: a question whose values have approved_items, the numbers that the
// evaluator proposes, and items.  The answer has the numbers that the person has chosen.
import type { run } from "contract";
import { useState } from "preact/hooks";

export interface Finding {
	number: number;
	title: string;
	place: string;
	issue: string;
	fix: string;
	reason: string;
}

type Values = { [name: string]: unknown };

const isValues = (value: unknown): value is Values => typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function findingOf(item: Values): Finding {
	const [file, line] = [textOf(item["file_path"]), Number(item["line"] ?? 0)];
	return {
		number: Number(item["number"]), title: textOf(item["title"]), place: file === "" ? "" : line > 0 ? `${file}:${line}` : file,
		issue: textOf(item["original_issue"]), fix: textOf(item["suggested_fix"]), reason: textOf(item["reason"]),
	};
}

/** undefined = the question is about something else. */
export function findingsOf({ inputs }: run.InboxItem): { items: Finding[]; proposed: number[] } | undefined {
	if (!isValues(inputs) || !Array.isArray(inputs["approved_items"]) || !Array.isArray(inputs["items"]))
		return undefined;
	const items = inputs["items"].filter(isValues).map(findingOf).filter((item) => Number.isInteger(item.number));
	return items.length === 0 ? undefined : { items, proposed: inputs["approved_items"].filter((one): one is number => typeof one === "number") };
}

export function useChosen(proposed: number[]) {
	const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set(proposed));
	const set = (number: number, on: boolean) => setChosen((old) => new Set(on ? [...old, number] : [...old].filter((one) => one !== number)));
	return { chosen, set };
}

export function FindingList({ items, chosen, set }: { items: Finding[]; chosen: ReadonlySet<number>; set: (number: number, on: boolean) => void }) {
	return (
		<ul class="findings" aria-label="Findings">
			{items.map((item) => (
				<li key={item.number} data-finding={item.number}>
					<label>
						<input type="checkbox" checked={chosen.has(item.number)} onChange={(event) => set(item.number, event.currentTarget.checked)} />
						<span><b>{item.number}. {item.title}</b>{item.place !== "" && <> <code>{item.place}</code></>}</span>
					</label>
					{item.issue !== "" && <p>{item.issue}</p>}
					{item.fix !== "" && <p class="muted">Repair: {item.fix}</p>}
					{item.reason !== "" && <p class="muted">Evaluator: {item.reason}</p>}
				</li>
			))}
		</ul>
	);
}
