// The complete, ordered list of a run's events, in whatever order they arrive.
//
// `complete` is the sequence number up to which no event is missing.  The next number is appended, a
// smaller one is a duplicate, and a larger one shows a gap, which is read over HTTP.  The vocabulary
// hides some events, so numbers may be missing; the server's pages decide what is complete.
//
// The server cannot deliver the deleted events of a compacted run.  Then nothing more is read, and
// new events are appended as they arrive.
import type { LiveEvent } from "./live";

export interface EventPage {
	items: LiveEvent[];
	cursor: string | null;
}

/** Reads the page of events after a sequence number. */
export type ReadPage = (after: number) => Promise<EventPage>;

export class RunLog {
	/** Ordered by sequence; every change creates a new array. */
	events: LiveEvent[] = [];
	complete = 0;
	/** The first read is complete. */
	loaded = false;
	/** The last read failed: events may be missing. */
	failing = false;
	/** The older events are deleted; `events` has only new ones. */
	gone = false;
	private readonly early = new Map<number, LiveEvent>();
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
		if (event.sequence <= this.complete)
			return;
		if (this.gone) {
			this.complete = event.sequence;
			this.events = this.events.concat(event);
			this.changed();
			return;
		}
		this.early.set(event.sequence, event);
		if (this.reading)
			return;
		if (this.settle())
			this.changed();
		if (this.early.size > 0)
			void this.fill();
	}

	/** Appends early events that are next in sequence; true when there were any. */
	private settle(): boolean {
		const added: LiveEvent[] = [];
		for (let next; (next = this.early.get(this.complete + 1)) !== undefined;) {
			this.early.delete(++this.complete);
			added.push(next);
		}
		if (added.length > 0)
			this.events = this.events.concat(added);
		return added.length > 0;
	}

	private takePage(page: EventPage): void {
		const fresh = page.items.filter((event) => event.sequence > this.complete);
		this.events = this.events.concat(fresh);
		const last = fresh[fresh.length - 1]?.sequence ?? 0;
		this.complete = Math.max(this.complete, last, Number(page.cursor ?? 0));
		for (const known of [...this.early.keys()])
			if (known <= this.complete)
				this.early.delete(known);
		this.changed();
	}

	/** The gap can never be filled: appends the early events. */
	private giveUp(): void {
		this.gone = this.loaded = true;
		const waiting = [...this.early.values()].sort((one, other) => one.sequence - other.sequence);
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
				page = await this.read(this.complete);
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
