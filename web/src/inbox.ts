// The open questions to people, shared by the badge, the inbox, the run list and the run page.
import type { run } from "contract";
import { access } from "./access";
import { get } from "./api";
import { Cell } from "./cell";
import { listen } from "./live";

const PAGES = 10;
const REFRESH_AFTER_MS = 120;

export interface Inbox {
	items: run.InboxItem[];
	loaded: boolean;
	/** More questions are open than were read. */
	more: boolean;
	/** Outcomes of questions that somebody else answered while they were shown here. */
	outcomes: ReadonlyMap<string, string>;
}

const WORDS: Record<run.Decision, string> = {
	approve: "approved",
	reject: "rejected",
	modify: "approved with changes",
	happened: "settled as happened",
	not_happened: "settled as not happened",
	retry: "sent for a retry",
	timeout: "closed without an answer",
};

const cell = new Cell<Inbox>({ items: [], loaded: false, more: false, outcomes: new Map() });
const kept = new Map<string, run.InboxItem>();
const held = new Set<string>();
const underWay = new Set<string>();
let busy = false;
let again = false;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Who answered and how, from the run's events; null when nobody has answered. */
export async function outcomeOf(item: run.InboxItem): Promise<string | null> {
	let after: string | null = "0";
	while (after !== null) {
		const page: run.EventPage = await get<run.EventPage>(`/api/runs/${item.run_id}/events?limit=1000&after=${after}`);
		for (const event of page.items) {
			const data = event.data as run.HumanFinished;
			if (event.type !== "human.finished" || data.effect !== item.id)
				continue;
			return `Already ${WORDS[data.decision]} by ${data.by}${data.comment ? `: ${data.comment}` : ""}`;
		}
		after = page.cursor;
	}
	return null;
}

async function keepHeld(open: run.InboxItem[]): Promise<void> {
	const gone = cell.value.items.filter((item) => !open.some((other) => other.id === item.id));
	open.push(...gone.filter((item) => underWay.has(item.id)));
	for (const item of gone)
		if (held.has(item.id) && !underWay.has(item.id) && !kept.has(item.id))
			inbox.keep(item, (await outcomeOf(item)) ?? "This question is no longer open.");
}

async function readAll(): Promise<void> {
	const items: run.InboxItem[] = [];
	let cursor: string | null = "";
	for (let page = 0; page < PAGES && cursor !== null; page++) {
		const answer: run.InboxPage = await get<run.InboxPage>(`/api/inbox${cursor && `?cursor=${cursor}`}`);
		items.push(...answer.items);
		cursor = answer.cursor;
	}
	await keepHeld(items);
	for (const [id, item] of kept)
		if (!items.some((open) => open.id === id))
			items.push(item);
	cell.set({ ...cell.value, items, loaded: true, more: cursor !== null });
}

async function reload(): Promise<void> {
	timer = undefined;
	if (busy) {
		again = true;
		return;
	}
	busy = true;
	try {
		await readAll();
	} catch {
		// The banner reports the lost connection; the next connection reads again.
	}
	busy = false;
	if (again) {
		again = false;
		soon();
	}
}

function soon(): void {
	timer ??= setTimeout(() => void reload(), REFRESH_AFTER_MS);
}

function withOutcome(change: (outcomes: Map<string, string>) => void, items: run.InboxItem[]): void {
	const outcomes = new Map(cell.value.outcomes);
	change(outcomes);
	cell.set({ ...cell.value, items, outcomes });
}

export const inbox = {
	cell,
	outcome: (id: string): string | undefined => cell.value.outcomes.get(id),
	/** Keeps showing a closed question, with its outcome. */
	keep(item: run.InboxItem, outcome: string): void {
		kept.set(item.id, item);
		withOutcome((outcomes) => outcomes.set(item.id, outcome), cell.value.items);
	},
	/** Marks a question for which an answer is being written here. */
	hold(id: string, hold: boolean): void {
		if (hold)
			held.add(id);
		else
			held.delete(id);
	},
	/** Keeps the question while an answer is being sent. */
	async whileAnswering(id: string, work: () => Promise<void>): Promise<void> {
		underWay.add(id);
		try {
			await work();
		} finally {
			underWay.delete(id);
			soon();
		}
	},
	/** Removes a question that was answered here, or whose outcome was read. */
	answered(id: string): void {
		kept.delete(id);
		held.delete(id);
		withOutcome((outcomes) => outcomes.delete(id), cell.value.items.filter((item) => item.id !== id));
	},
	/** The questions that are still open. */
	open: (value: Inbox): run.InboxItem[] => value.items.filter((item) => !value.outcomes.has(item.id)),
	begin(): void {
		listen({ event: soon, resync: soon });
		access.watch(soon);
		void reload();
	},
};
