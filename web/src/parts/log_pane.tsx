// The log of a step: lines with the colors of the terminal, following the end while it is written.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Line, Piece, Style } from "../ansi";
import { useStepLog, type LogAttempt, type LogLine } from "../step_log";
import { bytesText } from "../words";

/** More lines slow down every update; the user can show all. */
const LINES_AT_FIRST = 2000;
const NEAR_THE_END = 24;

const ATTRIBUTES = ["bold", "dim", "italic", "underline", "strike"] as const;

/** The palette is a matter of the style sheet, which has one for each theme. */
function classOf(style: Style): string {
	const classes: string[] = ATTRIBUTES.filter((name) => style[name]);
	const [color, back] = style.inverse ? [style.back, style.color] : [style.color, style.back];
	if (typeof color === "number")
		classes.push(`ink-${color}`);
	if (typeof back === "number")
		classes.push(`paper-${back}`);
	if (style.inverse)
		classes.push("inverse");
	return classes.join(" ");
}

function colorsOf(style: Style): { [name: string]: string } {
	const [color, back] = style.inverse ? [style.back, style.color] : [style.color, style.back];
	return { ...(typeof color === "string" ? { color } : {}), ...(typeof back === "string" ? { backgroundColor: back } : {}) };
}

function PieceText({ text, style }: Piece) {
	return Object.keys(style).length === 0 ? <>{text}</> : <span class={classOf(style)} style={colorsOf(style)}>{text}</span>;
}

export const LineText = ({ pieces }: { pieces: Line }) => <>{pieces.map((piece, at) => <PieceText key={at} {...piece} />)}</>;

function LogRow({ line }: { line: LogLine }) {
	return (
		<>
			{line.omitted > 0 && <div class="log-omitted">… {bytesText(line.omitted)} left out: the log is longer than its limit …</div>}
			<div class="log-line" data-stream={line.stream} title={line.stream === "stderr" ? "stderr" : undefined}><LineText pieces={line.pieces} />{"\n"}</div>
		</>
	);
}

function Pane({ log }: { log: LogAttempt }) {
	const box = useRef<HTMLPreElement>(null);
	const [follow, setFollow] = useState(true);
	const [all, setAll] = useState(false);
	const hidden = all ? 0 : Math.max(0, log.lines.length - LINES_AT_FIRST);
	useLayoutEffect(() => {
		if (follow && box.current)
			box.current.scrollTop = box.current.scrollHeight;
	}, [log, follow]);
	const scrolled = () => {
		const element = box.current;
		if (element)
			setFollow(element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_THE_END);
	};
	return (
		<>
			{hidden > 0 && <p><button type="button" class="action quiet" onClick={() => setAll(true)}>Show {hidden} earlier lines</button></p>}
			<pre class="log-pane" ref={box} tabIndex={0} role="log" aria-live="off" aria-label={`Log of attempt ${log.attempt}`} data-log={log.attempt} data-open={log.open} onScroll={scrolled}>
				{log.lines.slice(hidden).map((line, at) => <LogRow key={hidden + at} line={line} />)}
				{log.lines.length === 0 && <span class="muted">{log.open ? "nothing yet" : "This attempt wrote nothing to stdout or stderr."}</span>}
			</pre>
			{log.open && <p class="muted" role="status">{follow ? "● following" : "Scroll to the end to follow."}</p>}
		</>
	);
}

interface Props {
	/** Address of the log. */
	path: string;
	/** The step has ended. */
	final: boolean;
}

export function LogSection({ path, final }: Props) {
	const attempts = useStepLog(`${path}?follow`, final);
	const [chosen, setChosen] = useState(0);
	useEffect(() => setChosen(0), [path]);
	const log = attempts.find((one) => one.attempt === chosen) ?? attempts[attempts.length - 1];
	// A step without a process has no log; one that has written nothing so far may have one soon.
	if (log === undefined || (final && attempts.every((one) => one.lines.length === 0)))
		return null;
	return (
		<section class="step-log" aria-labelledby="log-title">
			<div class="headline">
				<h3 id="log-title">Log</h3>
				{attempts.length > 1 && (
					<span>
						<label for="log-attempt">Attempt</label>{" "}
						<select id="log-attempt" value={log.attempt} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
							{attempts.map(({ attempt }) => <option key={attempt} value={attempt}>{attempt}</option>)}
						</select>
					</span>
				)}
			</div>
			<Pane key={log.attempt} log={log} />
		</section>
	);
}
