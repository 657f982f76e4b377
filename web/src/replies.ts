// Replies that models are writing: the chunks of a run's stream, put together.
//
// A chunk names its turn, attempt, part and offset, so a stream that was opened again continues where the
// one before it ended: what is already there is skipped.  A new attempt replaces the text.
import type { run } from "contract";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

const bytes = new TextEncoder();
const text = new TextDecoder();

export interface Reply {
	attempt: number;
	text: string;
	thinking: string;
	/** Names of the tools that it asks for. */
	calls: string[];
	truncated: boolean;
}

interface Written {
	attempt: number;
	parts: Record<run.ReplyPart, { text: string; size: number }>;
	truncated: boolean;
}

const empty = (attempt: number): Written => ({
	attempt,
	parts: { text: { text: "", size: 0 }, thinking: { text: "", size: 0 }, call: { text: "", size: 0 } },
	truncated: false,
});

export class Replies {
	private readonly turns = new Map<string, Written>();

	take(chunk: run.Chunk): void {
		let written = this.turns.get(chunk.turn);
		if (written === undefined || written.attempt < chunk.attempt)
			this.turns.set(chunk.turn, (written = empty(chunk.attempt)));
		const part = written.parts[chunk.part];
		if (written.attempt > chunk.attempt || part === undefined || chunk.offset > part.size)
			return;
		const delta = bytes.encode(chunk.delta);
		const known = part.size - chunk.offset;
		if (known < delta.length) {
			part.text += known === 0 ? chunk.delta : text.decode(delta.subarray(known));
			part.size = chunk.offset + delta.length;
		}
		written.truncated ||= chunk.truncated === true;
	}

	/** What is written in this turn; undefined = nothing yet. */
	of(turn: string | undefined): Reply | undefined {
		const written = this.turns.get(turn ?? "");
		return written && {
			attempt: written.attempt,
			text: written.parts.text.text,
			thinking: written.parts.thinking.text,
			calls: written.parts.call.text.split("\n").filter(Boolean),
			truncated: written.truncated,
		};
	}
}

/** The replies of one run; the page is drawn again at most once per frame. */
export function useReplies(): { replies: Replies; take: (chunk: run.Chunk) => void } {
	const [, again] = useState({});
	const replies = useRef(new Replies());
	const frame = useRef(0);
	useEffect(() => () => cancelAnimationFrame(frame.current), []);
	const take = useCallback((chunk: run.Chunk) => {
		replies.current.take(chunk);
		frame.current ||= requestAnimationFrame(() => {
			frame.current = 0;
			again({});
		});
	}, []);
	return { replies: replies.current, take };
}
