// The time profile of a run: shares that add up to its wall-clock time.
import type { run } from "contract";
import { useEffect } from "preact/hooks";
import type { Problem } from "../api";
import { ProblemText } from "../parts/basic";
import { durationText } from "../words";

type Times = run.Time;
type Share = run.Share;

/** In the order of run.Share: work before waiting. */
const SHARES: [Share, string][] = [
	["model", "waiting for a model"],
	["tool", "running tools"],
	["subrun", "running sub-runs"],
	["paused", "paused"],
	["human", "waiting for a person"],
	["wait", "waiting for a timer, a signal or a retry"],
	["queue", "waiting in the admission queue"],
	["fsync", "committing to disk"],
	["engine", "Baton itself"],
];

/** Refresh interval while the run is running. */
const AGAIN_MS = 5000;
const WIDE = 1000;

const percent = (part: number, whole: number): string =>
	whole === 0 ? "0 %" : part > 0 && part * 1000 < whole ? "< 0.1 %" : `${((100 * part) / whole).toFixed(1)} %`;

/** A bar for the whole time, stretched to the available width. */
function Strip({ wall, pieces, label }: { wall: number; pieces: { share: string; from: number; us: number }[]; label: string }) {
	const scale = WIDE / Math.max(1, wall);
	return (
		<svg class="strip" role="img" aria-label={label} viewBox={`0 0 ${WIDE} 10`} preserveAspectRatio="none">
			{pieces.map((piece, at) => (
				<rect key={at} data-share={piece.share} x={piece.from * scale} y={0} width={Math.max(0.5, piece.us * scale)} height={10} />
			))}
		</svg>
	);
}

function Legend({ time }: { time: Times }) {
	return (
		<ul class="shares" aria-label="Shares of the time">
			{SHARES.map(([share, text]) => [share, text, time.shares[share]] as const)
				.filter(([, , us]) => us > 0)
				.map(([share, text, us]) => (
					<li key={share} data-share-row={share} data-us={us} title={text}>
						<span class="swatch" data-share={share} aria-hidden="true" /> <b>{share}</b> {durationText(us / 1000)} <span class="muted">{percent(us, time.wall_us)}</span>
					</li>
				))}
		</ul>
	);
}

interface TimeProps {
	time: Times | undefined;
	problem: Problem | undefined;
	reload: () => void;
}

export function TimeSection({ time, problem, reload }: TimeProps) {
	const growing = time !== undefined && !time.ended;
	useEffect(() => {
		if (!growing)
			return undefined;
		const timer = setInterval(() => {
			if (!document.hidden)
				reload();
		}, AGAIN_MS);
		return () => clearInterval(timer);
	}, [growing, reload]);
	return (
		<section aria-labelledby="time-title">
			<h2 id="time-title">Time {time !== undefined && <span class="count" data-wall={time.wall_us}>{durationText(time.wall_us / 1000)}</span>}</h2>
			<ProblemText problem={problem} />
			{time !== undefined && (
				<>
					<Strip wall={time.wall_us} label="Shares of the time from start to end" pieces={time.pieces.map((piece) => ({ share: piece.share, from: piece.from_us, us: piece.us }))} />
					<Legend time={time} />
					{time.pieces_left_out > 0 && <p class="muted">The bar shows the first {time.pieces.length} changes; the shares cover the whole run.</p>}
					{time.compacted && <p class="muted">Older events were compacted: time without events counts as engine.</p>}
				</>
			)}
		</section>
	);
}
