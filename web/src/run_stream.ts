// A run's own stream: every event of it, also those that have no word in the vocabulary of the
// socket (a pause, a step that is passed over).  Only that something happened is told: what came of
// it is asked for.  The stream goes on behind the last event it heard until the run has ended.
import { useEffect, useRef } from "preact/hooks";
import { openStream, Problem } from "./api";

const RETRY_FIRST_MS = 250;
const RETRY_MOST_MS = 8000;
/** The server says something every 15 s; a stream that is silent for longer is dead. */
const SILENCE_MS = 40000;

/** Lines of the stream until it ends; each wakes the watch. */
async function readLines(response: Response, watch: () => void, line: (text: string) => void): Promise<void> {
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

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
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
	) {}

	private take(line: string): void {
		if (line.startsWith("id: ")) {
			this.last = Number(line.slice(4));
		} else if (line.startsWith("data: ")) {
			this.ended = (JSON.parse(line.slice(6)) as { type: string }).type === "run.finished";
			this.heard();
		}
		this.heardAny = true;
	}

	/** One connection, to its end. */
	private async follow(signal: AbortSignal): Promise<void> {
		const silence = new AbortController();
		let timer: ReturnType<typeof setTimeout> | undefined;
		const watch = () => {
			clearTimeout(timer);
			timer = setTimeout(() => silence.abort(), SILENCE_MS);
		};
		watch();
		try {
			const response = await openStream(`/api/runs/${encodeURIComponent(this.id)}/stream?after=${this.last}`, AbortSignal.any([signal, silence.signal]));
			this.heard(); // what was read before may be older than where this begins
			await readLines(response, watch, (line) => this.take(line));
		} finally {
			clearTimeout(timer);
		}
	}

	/** Until the run has ended, the page does not want it any more, or the server refuses it. */
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

/** Calls `heard` after every event behind number `from`; does nothing while that is not known.  A tab
 * that nobody sees keeps no connection: a browser has only a few of them for all its tabs. */
export function useRunStream(id: string, from: number | undefined, heard: () => void): void {
	const current = useRef(heard);
	current.current = heard;
	useEffect(() => {
		if (from === undefined)
			return undefined;
		const stream = new RunStream(id, from, () => current.current());
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
	}, [id, from === undefined]);
}
