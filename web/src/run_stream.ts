// The event stream of one run, including events that the WebSocket's vocabulary hides (a pause, a
// skipped step).  It only notifies that something happened; the page reads the state again.  After a
// lost connection the stream continues after the last event, until the run ends.  The replies that models
// are writing come as chunks between the events.
import type { run } from "contract";
import { useEffect, useRef } from "preact/hooks";
import { openStream, Problem } from "./api";

const RETRY_FIRST_MS = 250;
const RETRY_MOST_MS = 8000;
/** The server sends a keep-alive every 15 s; a stream that is silent for longer is dead. */
const SILENCE_MS = 40000;

/** Reads the lines of the stream until it ends; every read resets the silence timer. */
export async function readLines(response: Response, watch: () => void, line: (text: string) => void): Promise<void> {
	const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
	let rest = "";
	for (;;) {
		const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
		if (done)
			return;
		watch();
		const lines = (rest + value).split("\n");
		rest = lines.pop() ?? "";
		lines.forEach(line);
	}
}

export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
	new Promise((done) => {
		const timer = setTimeout(done, ms);
		signal.addEventListener("abort", () => {
			clearTimeout(timer);
			done();
		}, { once: true });
	});

class RunStream {
	private ended = false;
	private heardAny = false;

	constructor(
		private readonly id: string,
		private last: number,
		private readonly heard: () => void,
		private readonly chunk: (chunk: run.Chunk) => void,
	) {}

	private take(line: string): void {
		if (line.startsWith("id: ")) {
			this.last = Number(line.slice(4));
		} else if (line.startsWith("data: ")) {
			const data = JSON.parse(line.slice(6)) as { type: string } | run.Chunk;
			if ("delta" in data) {
				this.chunk(data);
			} else {
				this.ended = data.type === "run.finished";
				this.heard();
			}
		}
		this.heardAny = true;
	}

	/** Follows one connection to its end. */
	private async follow(signal: AbortSignal): Promise<void> {
		const silence = new AbortController();
		let timer: ReturnType<typeof setTimeout> | undefined;
		const watch = () => {
			clearTimeout(timer);
			timer = setTimeout(() => silence.abort(), SILENCE_MS);
		};
		watch();
		try {
			const response = await openStream(`/api/runs/${encodeURIComponent(this.id)}/stream?chunks=1&after=${this.last}`, AbortSignal.any([signal, silence.signal]));
			this.heard(); // the page's data may be older than the start of this stream
			await readLines(response, watch, (line) => this.take(line));
		} finally {
			clearTimeout(timer);
		}
	}

	/** Runs until the run has ended, the page is left, or the server rejects the request. */
	async run(signal: AbortSignal): Promise<void> {
		for (let failures = 0; !this.ended && !signal.aborted; failures++) {
			this.heardAny = false;
			try {
				await this.follow(signal);
			} catch (cause) {
				if (cause instanceof Problem && cause.status >= 400 && cause.status < 500)
					return;
			}
			if (this.heardAny)
				failures = 0;
			if (!this.ended)
				await pause(Math.min(RETRY_MOST_MS, RETRY_FIRST_MS * 2 ** failures), signal);
		}
	}
}

/** Calls `heard` after every event after sequence `from`; does nothing while `from` is undefined.  The
 * stream ends with the run, and a retry of the run (`ended` is false again) opens it again.  A hidden
 * tab keeps no connection: a browser has only a few for all its tabs. */
export function useRunStream(id: string, from: number | undefined, ended: boolean, heard: () => void, chunk: (chunk: run.Chunk) => void): void {
	const current = useRef({ heard, chunk });
	current.current = { heard, chunk };
	const known = useRef(ended);
	const openings = useRef(0);
	if (known.current && !ended)
		openings.current++;
	known.current = ended;
	useEffect(() => {
		if (from === undefined)
			return undefined;
		const stream = new RunStream(id, from, () => current.current.heard(), (piece) => current.current.chunk(piece));
		let stop: AbortController | null = null;
		const turn = () => {
			stop?.abort();
			stop = document.hidden ? null : new AbortController();
			if (stop !== null)
				void stream.run(stop.signal);
		};
		turn();
		document.addEventListener("visibilitychange", turn);
		return () => {
			document.removeEventListener("visibilitychange", turn);
			stop?.abort();
		};
	}, [id, from === undefined, openings.current]);
}
