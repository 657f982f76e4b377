// The steps of a run as a tree: an activation, the steps of its body, its next activation.
import type { runtime } from "contract";
import { useState } from "preact/hooks";
import { Badge, Duration, Json } from "../parts/basic";
import { ownStepState } from "../words";

type Step = runtime.StepResultModel;

/** A table with thousands of rows would slow down every update; the user can show all. */
const STEPS_AT_FIRST = 100;
const DEEPEST = 6;

/** The activation whose body contains the step; null = root.  The item of a map has no row. */
function parentOf(path: string): string | null {
	const cut = path.lastIndexOf("/");
	return cut < 0 ? null : path.slice(0, cut).replace(/\[\d+\]$/, "");
}

/** The name in the row: the last piece of the path, with the item of a map. */
function nameOf(path: string): string {
	const cut = path.lastIndexOf("/");
	const item = cut < 0 ? null : /\[\d+\]$/.exec(path.slice(0, cut));
	return `${item === null ? "" : `${item[0]} `}${path.slice(cut + 1)}`;
}

/** An output on one line: its only value, or all of it. */
function lineOf(output: { [key: string]: unknown }): string {
	const [only, more] = Object.values(output);
	return (typeof only === "string" && more === undefined ? only : JSON.stringify(output)).slice(0, 300);
}

interface Row {
	step: Step;
	depth: number;
	folds: boolean;
}

/** The rows that are not inside a folded body. */
function rowsOf(steps: Step[], folded: Set<string>): Row[] {
	const depths = new Map<string, number>();
	const parents = new Set(steps.map((step) => parentOf(step.step_id)));
	const hidden = new Set<string>();
	const rows: Row[] = [];
	for (const step of steps) {
		const path = step.step_id;
		const parent = parentOf(path);
		const depth = parent === null ? 0 : (depths.get(parent) ?? 0) + 1;
		depths.set(path, depth);
		if (parent !== null && (folded.has(parent) || hidden.has(parent)))
			hidden.add(path);
		else
			rows.push({ step, depth, folds: parents.has(path) });
	}
	return rows;
}

interface StepsProps {
	steps: Step[];
	attempts: Map<string, number>;
	asked: Set<string>;
}

export function Steps({ steps, attempts, asked }: StepsProps) {
	const [all, setAll] = useState(false);
	const [folded, setFolded] = useState<Set<string>>(new Set());
	const fold = (path: string) => {
		const now = new Set(folded);
		if (!now.delete(path))
			now.add(path);
		setFolded(now);
	};
	const rows = rowsOf(steps, folded);
	return (
		<section aria-labelledby="steps-title">
			<h2 id="steps-title">Steps</h2>
			<table class="steps" aria-labelledby="steps-title">
				<thead>
					<tr>
						<th scope="col">State</th>
						<th scope="col">Step</th>
						<th scope="col">By</th>
						<th scope="col" class="number">Attempts</th>
						<th scope="col" class="number">Duration</th>
						<th scope="col" class="result">Result</th>
					</tr>
				</thead>
				<tbody>
					{(all ? rows : rows.slice(0, STEPS_AT_FIRST)).map(({ step, depth, folds }) => (
						<tr key={step.step_id} data-step={step.step_id} data-depth={Math.min(depth, DEEPEST)}>
							<td><Badge state={asked.has(step.step_id) && step.status === "running" ? "waiting_human" : ownStepState(step.status)} /></td>
							<td class="name" title={step.step_id}>
								{folds && <button type="button" class="fold" aria-expanded={!folded.has(step.step_id)} aria-label={`Steps of ${step.step_id}`} onClick={() => fold(step.step_id)}>{folded.has(step.step_id) ? "▸" : "▾"}</button>}
								{nameOf(step.step_id)}
							</td>
							<td>{step.agent}</td>
							<td class="number">{step.started_at === null ? "" : (attempts.get(step.step_id) ?? 1)}</td>
							<td class="number"><Duration of={step} /></td>
							<td class="result">
								{step.error !== null && <span class="error clip">{step.error}</span>}
								{step.output !== null && (
									<details>
										<summary><span class="line">{lineOf(step.output)}</span></summary>
										<Json value={step.output} label={`Output of ${step.step_id}`} />
									</details>
								)}
							</td>
						</tr>
					))}
				</tbody>
			</table>
			{!all && rows.length > STEPS_AT_FIRST && (
				<p><button type="button" class="action" onClick={() => setAll(true)}>Show all {rows.length} steps</button></p>
			)}
		</section>
	);
}
