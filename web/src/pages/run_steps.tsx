// The steps of a run as a tree: an activation, the steps of its body, its next activation.  Among
// siblings, failed steps come first.
import type { runtime } from "contract";
import { useState } from "preact/hooks";
import { plainText } from "../ansi";
import { Badge, Duration } from "../parts/basic";
import { goQuery, Link, usePlace, withQuery } from "../route";
import { currentOf, durationOf, failuresOf, nameOf, parentOf, type Step } from "../steps";
import { shortId } from "../words";

/** A table with thousands of rows would slow down every update; the user can show all. */
const STEPS_AT_FIRST = 100;
const DEEPEST = 6;
const LINE = 300;

export type Outputs = ReadonlyMap<string, runtime.StepResultModel["output"]>;

/** An output on one line: the last line of its text, or all of it. */
function lineOf(output: { [key: string]: unknown }): string {
	const [only, more] = Object.values(output);
	const text = typeof output["stdout"] === "string" ? output["stdout"] : typeof only === "string" && more === undefined ? only : null;
	if (text === null)
		return JSON.stringify(output).slice(0, LINE);
	const lines = plainText(text.slice(-LINE)).split("\n").filter((line) => line.trim() !== "");
	return lines[lines.length - 1] ?? JSON.stringify(output).slice(0, LINE);
}

interface Row {
	step: Step;
	depth: number;
	folds: boolean;
}

/** Each step with those of its body, failed ones first; what is inside a folded body is left out. */
function rowsOf(steps: Step[], folded: Set<string>): Row[] {
	const bodies = new Map<string | null, Step[]>();
	for (const step of steps) {
		const body = bodies.get(parentOf(step));
		if (body === undefined)
			bodies.set(parentOf(step), [step]);
		else
			body.push(step);
	}
	const rows: Row[] = [];
	const current = new Set(currentOf(steps));
	const isFailed = (step: Step) => step.state === "failed" && current.has(step);
	const add = (parent: string | null, depth: number) => {
		const body = bodies.get(parent) ?? [];
		const failed = body.filter(isFailed);
		const others = failed.length === 0 ? body : body.filter((step) => !isFailed(step));
		for (const step of [...failed, ...others]) {
			rows.push({ step, depth, folds: bodies.has(step.step) });
			if (!folded.has(step.step))
				add(step.step, depth + 1);
		}
	};
	add(null, 0);
	return rows;
}

const failedRows = (steps: Step[]): Row[] =>
	failuresOf(steps).map((step) => ({ step, depth: 0, folds: false }));

interface StepRowProps extends Row {
	output: { [key: string]: unknown } | null;
	whole: boolean;
	chosen: boolean;
	folded: boolean;
	fold: () => void;
}

function StepRow({ step, depth, folds, output, whole, chosen, folded, fold }: StepRowProps) {
	const to = withQuery({ step: step.step });
	return (
		<tr data-step={step.step} data-depth={Math.min(depth, DEEPEST)} data-folds={folds} data-chosen={chosen}>
			<td><Badge state={step.state} /></td>
			<td class="name" title={step.step}>
				{folds && <button type="button" class="fold" aria-expanded={!folded} aria-label={`Steps of ${step.step}`} onClick={fold}>{folded ? "▸" : "▾"}</button>}
				<Link href={to} data-opens={step.step} aria-current={chosen ? "true" : undefined}>{whole ? step.step : nameOf(step.step)}</Link>
			</td>
			<td class="by">{step.agent}{step.undoes !== undefined && <> of {step.undoes}</>}{step.subrun !== undefined && <> <Link class="subrun" href={`/ui/runs/${step.subrun}`}>run {shortId(step.subrun)}</Link></>}</td>
			<td class="number attempts">{step.attempts === 0 ? "" : step.attempts}</td>
			<td class="number"><Duration of={durationOf(step)} /></td>
			<td class="result">
				{step.error !== undefined && <span class={step.state === "failed" ? "error clip" : "muted clip"}>{step.error}</span>}
				{output !== null && step.error === undefined && <span class="line">{lineOf(output)}</span>}
			</td>
		</tr>
	);
}

interface StepsProps {
	steps: Step[];
	outputs: Outputs;
	/** Path of the step in the drawer; "" = none. */
	chosen: string;
}

export function Steps({ steps, outputs, chosen }: StepsProps) {
	const { query } = usePlace();
	const [all, setAll] = useState(false);
	const [folded, setFolded] = useState<Set<string>>(new Set());
	const fold = (path: string) => {
		const now = new Set(folded);
		if (!now.delete(path))
			now.add(path);
		setFolded(now);
	};
	const only = query.get("failed") !== null;
	const failed = failuresOf(steps).length;
	const rows = only ? failedRows(steps) : rowsOf(steps, folded);
	return (
		<section aria-labelledby="steps-title">
			<div class="headline">
				<h2 id="steps-title">Steps <span class="count">{steps.length}</span></h2>
				{(failed > 0 || only) && (
					<label class="switch">
						<input type="checkbox" checked={only} onChange={(event) => goQuery({ failed: event.currentTarget.checked ? "1" : null })} /> Failed only ({failed})
					</label>
				)}
			</div>
			<table class={rows.some((row) => row.folds) ? "steps tree" : "steps"} aria-labelledby="steps-title">
				<thead>
					<tr>
						<th scope="col" class="state">State</th>
						<th scope="col">Step</th>
						<th scope="col" class="by">By</th>
						<th scope="col" class="number attempts">Attempts</th>
						<th scope="col" class="number took">Duration</th>
						<th scope="col" class="result">Result</th>
					</tr>
				</thead>
				<tbody>
					{(all ? rows : rows.slice(0, STEPS_AT_FIRST)).map((row) => (
						<StepRow key={row.step.step} {...row} whole={only} output={outputs.get(row.step.step) ?? null} chosen={row.step.step === chosen}
							folded={folded.has(row.step.step)} fold={() => fold(row.step.step)} />
					))}
				</tbody>
			</table>
			{only && rows.length === 0 && <p class="muted">No step has failed.</p>}
			{!all && rows.length > STEPS_AT_FIRST && (
				<p><button type="button" class="action" onClick={() => setAll(true)}>Show all {rows.length} steps</button></p>
			)}
		</section>
	);
}
