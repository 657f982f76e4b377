// The complete, ordered list of a run's events, in whatever order they arrive.
//
// `complete` is the cursor up to which no event is missing.  The next event is appended, an earlier one is
// a duplicate, and a later one shows a gap, which is read over HTTP.  The vocabulary hides some events, so
// numbers may be missing; the server's pages decide what is complete.
//
// One stored event can become several events with the same sequence number: `part` of `parts`.  A cursor
// is "7" behind all of them, or "7.2" behind the third.
//
// The server cannot deliver the deleted events of a compacted run.  Then nothing more is read, and
// new events are appended as they arrive.
import type { LiveEvent } from "./live";

export interface EventPage {
	items: LiveEvent[];
	cursor: string | null;
}

/** Reads the page of events after a cursor. */
export type ReadPage = (after: string) => Promise<EventPage>;

/** Everything up to and including this part of this event. */
interface Cursor {
	sequence: number;
	part: number;
}

const ALL = Number.MAX_SAFE_INTEGER;

const partOf = (event: LiveEvent): number => Number(event.data?.part ?? 0);

/** The cursor behind the event. */
function behind(event: LiveEvent): Cursor {
	const part = partOf(event);
	return { sequence: event.sequence, part: part + 1 >= Number(event.data?.parts ?? 1) ? ALL : part };
}

const compare = (one: Cursor, other: Cursor): number => one.sequence - other.sequence || one.part - other.part;
const keyOf = (sequence: number, part: number): string => `${sequence}.${part}`;
const textOf = (cursor: Cursor): string => (cursor.part === ALL ? String(cursor.sequence) : keyOf(cursor.sequence, cursor.part));

function parse(text: string): Cursor {
	const [sequence, part] = text.split(".");
	return { sequence: Number(sequence), part: part === undefined ? ALL : Number(part) };
}

/** Names an event of a run in the address of a page: "7", or "7.2" for a further part. */
export const eventKey = (event: LiveEvent): string => (partOf(event) === 0 ? String(event.sequence) : keyOf(event.sequence, partOf(event)));

export class RunLog {
	/** Ordered by sequence; every change creates a new array. */
	events: LiveEvent[] = [];
	complete: Cursor = { sequence: 0, part: ALL };
	/** The first read is complete. */
	loaded = false;
	/** The last read failed: events may be missing. */
	failing = false;
	/** The older events are deleted; `events` has only new ones. */
	gone = false;
	private readonly early = new Map<string, LiveEvent>();
	private reading = false;
	private again = false;
	private closed = false;

	constructor(
		private readonly read: ReadPage,
		private readonly changed: () => void,
		private readonly failed: (cause: unknown) => void,
		private readonly isGone: (cause: unknown) => boolean = () => false,
	) {}

	close(): void {
		this.closed = true;
	}

	take(event: LiveEvent): void {
		if (compare(behind(event), this.complete) <= 0)
			return;
		if (this.gone) {
			this.complete = behind(event);
			this.events = this.events.concat(event);
			this.changed();
			return;
		}
		this.early.set(keyOf(event.sequence, partOf(event)), event);
		if (this.reading)
			return;
		if (this.settle())
			this.changed();
		if (this.early.size > 0)
			void this.fill();
	}

	private nextKey(): string {
		const { sequence, part } = this.complete;
		return part === ALL ? keyOf(sequence + 1, 0) : keyOf(sequence, part + 1);
	}

	/** Appends early events that are next in sequence; true when there were any. */
	private settle(): boolean {
		const added: LiveEvent[] = [];
		for (let next; (next = this.early.get(this.nextKey())) !== undefined;) {
			this.early.delete(this.nextKey());
			this.complete = behind(next);
			added.push(next);
		}
		if (added.length > 0)
			this.events = this.events.concat(added);
		return added.length > 0;
	}

	private takePage(page: EventPage): void {
		const fresh = page.items.filter((event) => compare(behind(event), this.complete) > 0);
		this.events = this.events.concat(fresh);
		const ends = fresh.slice(-1).map(behind);
		if (page.cursor !== null)
			ends.push(parse(page.cursor));
		for (const end of ends)
			if (compare(end, this.complete) > 0)
				this.complete = end;
		for (const [key, known] of [...this.early])
			if (compare(behind(known), this.complete) <= 0)
				this.early.delete(key);
		this.changed();
	}

	/** The gap can never be filled: appends the early events. */
	private giveUp(): void {
		this.gone = this.loaded = true;
		const waiting = [...this.early.values()].sort((one, other) => compare(behind(one), behind(other)));
		this.early.clear();
		for (const event of waiting)
			this.take(event);
	}

	/** Reads all events after the end.  A call during a read causes another read afterwards. */
	async fill(): Promise<void> {
		if (this.gone)
			return;
		if (this.reading) {
			this.again = true;
			return;
		}
		this.reading = true;
		try {
			let page;
			do {
				page = await this.read(textOf(this.complete));
				if (this.closed)
					return;
				this.takePage(page);
			} while (page.cursor !== null);
			this.loaded = true;
			this.failing = false;
		} catch (cause) {
			if (this.closed)
				return;
			this.failing = true;
			if (this.isGone(cause))
				this.giveUp();
			this.failed(cause);
			return; // the next event or connection retries, unless the events are deleted
		} finally {
			this.reading = false;
		}
		this.settle();
		this.changed();
		if (this.again || this.early.size > 0) {
			this.again = false;
			void this.fill();
		}
	}
}
