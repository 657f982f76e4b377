// The log of a step: what its tool wrote in every attempt, from the beginning and then live.
//
// A chunk names its attempt and its offset, so that a stream that was opened again continues where the
// one before it ended: what is already there is skipped.
import type { run } from "contract";
import { useEffect, useRef, useState } from "preact/hooks";
import { Terminal, type Line } from "./ansi";
import { openStream, Problem } from "./api";
import { pause, readLines } from "./run_stream";

const RETRY_FIRST_MS = 250;
const RETRY_MOST_MS = 8000;
/** The server sends a keep-alive every 15 s; a stream that is silent for longer is dead. */
const SILENCE_MS = 40000;

export type Stream = run.LogStream;

export interface LogLine {
	stream: Stream;
	pieces: Line;
	/** Bytes that were left out before this line, 0 = none. */
	omitted: number;
}

export interface LogAttempt {
	attempt: number;
	lines: LogLine[];
	/** It is being written. */
	open: boolean;
}

const bytes = new TextEncoder();

/** One attempt as it arrives. */
class Written {
	readonly lines: LogLine[] = [];
	open = true;
	private size = 0;
	private omitted = 0;
	private readonly terminals = new Map<Stream, Terminal>();

	private terminal(stream: Stream): Terminal {
		let terminal = this.terminals.get(stream);
		if (terminal === undefined) {
			terminal = new Terminal(() => {
				const line: LogLine = { stream, pieces: [], omitted: this.omitted };
				this.omitted = 0;
				this.lines.push(line);
				return line.pieces;
			});
			this.terminals.set(stream, terminal);
		}
		return terminal;
	}

	take(chunk: run.LogChunk): void {
		if (chunk.stream === undefined || chunk.offset < this.size)
			return;
		if (chunk.omitted !== undefined) {
			this.omitted += chunk.omitted;
			this.terminals.clear(); // what follows is not the rest of what was before
		}
		this.size = chunk.offset + bytes.encode(chunk.text).length;
		this.terminal(chunk.stream).write(chunk.text);
	}
}

class StepLog {
	private readonly attempts = new Map<number, Written>();
	private type = "";
	private heardAny = false;

	constructor(
		private readonly path: string,
		private readonly changed: () => void,
	) {}

	get shown(): LogAttempt[] {
		return [...this.attempts].map(([attempt, { lines, open }]) => ({ attempt, lines: [...lines], open }));
	}

	private take(line: string): void {
		this.heardAny = true;
		if (line.startsWith("event: "))
			this.type = line.slice(7);
		if (!line.startsWith("data: "))
			return;
		const chunk = JSON.parse(line.slice(6)) as run.LogChunk;
		let written = this.attempts.get(chunk.attempt);
		if (written === undefined)
			this.attempts.set(chunk.attempt, (written = new Written()));
		if (this.type === "end")
			written.open = false;
		else
			written.take(chunk);
		this.changed();
	}

	private async follow(signal: AbortSignal): Promise<void> {
		const silence = new AbortController();
		let timer: ReturnType<typeof setTimeout> | undefined;
		const watch = () => {
			clearTimeout(timer);
			timer = setTimeout(() => silence.abort(), SILENCE_MS);
		};
		watch();
		try {
			const response = await openStream(this.path, AbortSignal.any([signal, silence.signal]));
			await readLines(response, watch, (line) => this.take(line));
		} finally {
			clearTimeout(timer);
		}
	}

	/** Runs until the stream of a step that is final ends, the step is left, or the server refuses. */
	async run(signal: AbortSignal, isFinal: () => boolean): Promise<void> {
		for (let failures = 0; !signal.aborted; failures++) {
			this.heardAny = false;
			try {
				await this.follow(signal);
				if (isFinal())
					return;
			} catch (cause) {
				if (cause instanceof Problem && cause.status >= 400 && cause.status < 500)
					return;
			}
			if (this.heardAny)
				failures = 0;
			await pause(Math.min(RETRY_MOST_MS, RETRY_FIRST_MS * 2 ** failures), signal);
		}
	}
}

/** The log of the step at this address.  A hidden tab keeps no connection. */
export function useStepLog(path: string, final: boolean): LogAttempt[] {
	const [shown, setShown] = useState<LogAttempt[]>([]);
	const ended = useRef(final);
	const openings = useRef(0);
	if (ended.current && !final)
		openings.current++; // the step runs again
	ended.current = final;
	useEffect(() => {
		let frame = 0;
		const log: StepLog = new StepLog(path, () => (frame ||= requestAnimationFrame(() => {
			frame = 0;
			setShown(log.shown);
		})));
		let stop: AbortController | null = null;
		const turn = () => {
			stop?.abort();
			stop = document.hidden ? null : new AbortController();
			if (stop !== null)
				void log.run(stop.signal, () => ended.current);
		};
		setShown([]);
		turn();
		document.addEventListener("visibilitychange", turn);
		return () => {
			document.removeEventListener("visibilitychange", turn);
			stop?.abort();
			cancelAnimationFrame(frame);
		};
	}, [path, openings.current]);
	return shown;
}
