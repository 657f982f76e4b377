// The one WebSocket of this tab: /ws/events, every run's events in the order of the store.
//
// Without a gap and without a repetition: whoever listens reads the present over HTTP once the
// socket is open, and the socket carries everything from there on.  After a lost connection the
// socket is opened with ?since= the last event heard, and the server sends what was missed before
// it goes on.  Where that is not possible (nothing was heard yet, or the server does not know the
// event) listeners are told to read again themselves.
import type { pipeline } from "contract";
import { access, socketProtocols } from "./access";
import type { Problem } from "./api";
import { Cell } from "./cell";

export type LiveEvent = pipeline.WorkflowEvent;

/** What the banner shows. */
export interface Connection {
	kind: "connecting" | "live" | "lost";
	/** When the next try is made, in Date.now() terms; 0 while one is under way. */
	retryAt: number;
	/** Whether it was lost before in the life of this page. */
	recovered: boolean;
}

export interface Listener {
	/** One event, in order. */
	event?: (event: LiveEvent) => void;
	/** Read the present again; `missed` says that events may be missing too. */
	resync?: (missed: boolean) => void;
}

const RETRY_FIRST_MS = 250;
const RETRY_MOST_MS = 8000;
/** The server pings every 30 s; a socket that is silent for longer is dead. */
const SILENCE_MS = 75000;

export const connection = new Cell<Connection>({ kind: "connecting", retryAt: 0, recovered: false });

/** Whether a request got no answer because the server is away.  The banner says so, and the next
 * connection reads again: a page that has something to show keeps it and adds no problem box. */
export const isAway = (problem: Problem | undefined): boolean => problem?.status === 0 && connection.value.kind !== "live";

const listeners = new Set<Listener>();
let socket: WebSocket | null = null;
let lastId: string | null = null;
let failures = 0;
let wasLost = false;
let retryTimer: ReturnType<typeof setTimeout> | undefined;
let silenceTimer: ReturnType<typeof setTimeout> | undefined;

/** Starts to listen; the answer ends it. */
export function listen(listener: Listener): () => void {
	listeners.add(listener);
	return () => void listeners.delete(listener);
}

function resync(missed: boolean): void {
	for (const listener of [...listeners])
		listener.resync?.(missed);
}

function heard(event: LiveEvent): void {
	lastId = event.id;
	for (const listener of [...listeners])
		listener.event?.(event);
}

interface Message {
	type: string;
	payload?: LiveEvent;
}

function take(from: WebSocket, message: Message): void {
	if (message.type === "event" && message.payload) {
		heard(message.payload);
	} else if (message.type === "ping") {
		from.send('{"type":"pong"}');
	} else if (message.type === "backfill_complete") {
		resync(false);
	} else if (message.type === "backfill_expired") {
		lastId = null;
		resync(true);
	}
}

function watchSilence(of: WebSocket): void {
	clearTimeout(silenceTimer);
	silenceTimer = setTimeout(() => lost(of), SILENCE_MS);
}

function lost(which: WebSocket): void {
	if (which !== socket)
		return;
	socket = null;
	wasLost = true;
	clearTimeout(silenceTimer);
	which.close();
	const most = Math.min(RETRY_MOST_MS, RETRY_FIRST_MS * 2 ** failures++);
	const wait = most / 2 + Math.random() * (most / 2); // many tabs do not come back at once
	connection.set({ kind: "lost", retryAt: Date.now() + wait, recovered: false });
	retryTimer = setTimeout(open, wait);
}

function open(): void {
	clearTimeout(retryTimer);
	// A server that has refused us is not asked again before there is another key.
	if (socket !== null || access.value.refused)
		return;
	if (wasLost)
		connection.set({ kind: "lost", retryAt: 0, recovered: false });
	const since = lastId;
	const url = new URL("/ws/events", location.href);
	url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
	if (since !== null)
		url.searchParams.set("since", since);
	const opened = (socket = new WebSocket(url, socketProtocols()));
	opened.onopen = () => {
		failures = 0;
		watchSilence(opened);
		connection.set({ kind: "live", retryAt: 0, recovered: wasLost });
		if (since === null)
			resync(true);
	};
	opened.onmessage = (message) => {
		watchSilence(opened);
		if (opened === socket)
			take(opened, JSON.parse(message.data as string) as Message);
	};
	opened.onclose = () => lost(opened);
}

/** Tries at once instead of waiting for the next turn. */
export const retryNow = (): void => open();

export function begin(): void {
	open();
	// A laptop that wakes up or a network that returns need not wait for the timer.
	addEventListener("online", retryNow);
	access.watch(({ refused }) => {
		if (!refused)
			retryNow();
	});
	document.addEventListener("visibilitychange", () => {
		if (!document.hidden)
			retryNow();
	});
}
