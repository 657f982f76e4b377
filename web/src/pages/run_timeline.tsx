// The steps of a run over time: a bar for each, colored by its state, below a scale.
import type { run } from "contract";
import { useState } from "preact/hooks";
import { useNow } from "../data";
import { shapeOf } from "../parts/basic";
import { Link, withQuery } from "../route";
import type { Step } from "../steps";
import { durationText } from "../words";

const ROWS = 50;
const WIDE = 1000;
/** So wide is at least every bar, so that the shortest step can be seen. */
const THIN = 3;
const TICKS = 6;

const STEPS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 15000, 30000, 60000, 120000, 300000, 600000, 900000, 1800000,
	3600000, 7200000, 14400000, 21600000, 43200000, 86400000];

/** Times of the scale: round numbers, at most TICKS of them after the zero. */
export function ticksOf(wholeMs: number): number[] {
	const least = wholeMs / TICKS;
	const days = 86400000 * Math.ceil(least / 86400000);
	const step = STEPS_MS.find((ms) => ms >= least) ?? days;
	const ticks = [];
	for (let at = 0; at <= wholeMs && ticks.length <= TICKS; at += step)
		ticks.push(at);
	return ticks;
}

/** A label at the left edge begins there, one at the right edge ends there: none sticks out. */
function tickStyle(at: number, whole: number) {
	const percent = (100 * at) / Math.max(1, whole);
	return { left: `${percent}%`, transform: `translateX(-${percent}%)` };
}

function Scale({ whole }: { whole: number }) {
	return (
		<div class="scale" aria-hidden="true">
			{ticksOf(whole).map((at) => (
				<span key={at} data-tick={at} style={tickStyle(at, whole)}>{at === 0 ? "0" : durationText(at)}</span>
			))}
		</div>
	);
}

interface BarProps {
	step: Step;
	/** Of the run, as Date.now(). */
	begin: number;
	whole: number;
	/** End of the timeline, as Date.now(). */
	end: number;
}

function Bar({ step, begin, whole, end }: BarProps) {
	const from = Date.parse(step.started_at ?? "") - begin;
	const to = (step.ended_at === undefined ? end : Date.parse(step.ended_at)) - begin;
	const scale = WIDE / Math.max(1, whole);
	const x = Math.min(Math.max(0, from * scale), WIDE - THIN);
	const [, tone] = shapeOf(step.state);
	return (
		<li data-bar={step.step}>
			<Link class="bar-name" href={withQuery({ step: step.step })} title={step.step}>{step.step}</Link>
			<svg class="strip" role="img" aria-label={`${step.step}: ${step.state}, starts at ${durationText(from)}, takes ${durationText(to - from)}`} viewBox={`0 0 ${WIDE} 10`} preserveAspectRatio="none">
				{ticksOf(whole).map((at) => <line key={at} class="tick" x1={at * scale} x2={at * scale} y1={0} y2={10} />)}
				<rect data-state={step.state} data-tone={tone} x={x} y={0} width={Math.max(THIN, Math.min(WIDE - x, (to - from) * scale))} height={10} />
			</svg>
			<span class="number">{durationText(to - from)}</span>
		</li>
	);
}

export function TimelineSection({ outline }: { outline: run.Outline }) {
	const [all, setAll] = useState(false);
	const open = outline.ended_at === undefined;
	const now = useNow(open ? 1000 : null);
	const begin = Date.parse(outline.created_at);
	const whole = Math.max(1, (open ? now : Date.parse(outline.ended_at ?? "")) - begin);
	const begun = outline.steps.filter((step) => step.started_at !== undefined);
	const shown = [...begun].sort((one, other) => Date.parse(one.started_at ?? "") - Date.parse(other.started_at ?? ""));
	const states = [...new Set(begun.map((step) => step.state))];
	if (begun.length === 0)
		return null;
	return (
		<section aria-labelledby="timeline-title">
			<details class="timeline" open>
				<summary><h2 id="timeline-title">Timeline <span class="count">{durationText(whole)}</span></h2></summary>
				<ul class="shares" aria-label="Colors of the states">
					{states.map((state) => <li key={state}><span class="swatch" data-tone={shapeOf(state)[1]} aria-hidden="true" /> {state}</li>)}
				</ul>
				<Scale whole={whole} />
				<ol>
					{shown.slice(0, all ? undefined : ROWS).map((step) => <Bar key={step.step} step={step} begin={begin} whole={whole} end={begin + whole} />)}
				</ol>
				{!all && begun.length > ROWS && <p><button type="button" class="action" onClick={() => setAll(true)}>Show all {begun.length} steps</button></p>}
			</details>
		</section>
	);
}
