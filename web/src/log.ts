// A run's events, whole and in order, whichever way and in whichever order they arrive.
//
// `complete` is the number up to which nothing is missing.  An event right behind it is added, one
// before it is known already, and one further on shows a gap: what lies between is read over HTTP.
// Numbers may be left out by the vocabulary, so "nothing is missing" is what the server says by
// answering, not a count.
//
// Of a compacted run the server has no beginning to give and never will: then nothing more is read,
// and what still happens is shown as it comes.
import type { LiveEvent } from "./live";

export interface EventPage {
	items: LiveEvent[];
	cursor: string | null;
}

/** Reads the page of events behind a number. */
export type ReadPage = (after: number) => Promise<EventPage>;

export class RunLog {
	/** In order of their sequence; a new array with every change. */
	events: LiveEvent[] = [];
	complete = 0;
	/** Whether the first read has come to its end. */
	loaded = false;
	/** The last reading failed: events may be missing. */
	failing = false;
	/** The beginning is gone for good; `events` is what came since. */
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

	/** Moves what lies right behind the end; true when there was something. */
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

	/** What came early has nothing to wait for any more. */
	private giveUp(): void {
		this.gone = this.loaded = true;
		const waiting = [...this.early.values()].sort((one, other) => one.sequence - other.sequence);
		this.early.clear();
		for (const event of waiting)
			this.take(event);
	}

	/** Reads everything behind the end.  One that is asked for during another follows it. */
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
			return; // the next event or connection asks again, unless it is gone
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
