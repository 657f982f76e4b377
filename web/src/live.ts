// The WebSocket of this tab: /ws/events, the events of all runs in commit order.
//
// Delivery has no gaps and no repetitions: listeners read the current state over HTTP once the
// socket is open, and the socket delivers everything after that.  After a lost connection the socket
// is opened with ?since= the last received event, and the server first sends the missed events.
// When that is impossible (no event was received yet, or the server does not know the event),
// listeners are asked to read everything again.
import type { pipeline } from "contract";
import { access, socketProtocols } from "./access";
import type { Problem } from "./api";
import { Cell } from "./cell";

export type LiveEvent = pipeline.WorkflowEvent;

/** The state that the banner shows. */
export interface Connection {
	kind: "connecting" | "live" | "lost";
	/** Time of the next attempt, as Date.now(); 0 during an attempt. */
	retryAt: number;
	/** The connection was lost before and is back. */
	recovered: boolean;
}

export interface Listener {
	/** Called for every event, in order. */
	event?: (event: LiveEvent) => void;
	/** Read the state again; `missed`: events may be missing, too. */
	resync?: (missed: boolean) => void;
}

const RETRY_FIRST_MS = 250;
const RETRY_MOST_MS = 8000;
/** The server pings every 30 s; a socket that is silent for longer is dead. */
const SILENCE_MS = 75000;

export const connection = new Cell<Connection>({ kind: "connecting", retryAt: 0, recovered: false });

/** True when a request failed because the connection is lost.  The banner reports that and the next
 * connection reads again, so a page that has data keeps it and shows no problem. */
export const isAway = (problem: Problem | undefined): boolean => problem?.status === 0 && connection.value.kind !== "live";

const listeners = new Set<Listener>();
let socket: WebSocket | null = null;
let lastId: string | null = null;
let failures = 0;
let wasLost = false;
let retryTimer: ReturnType<typeof setTimeout> | undefined;
let silenceTimer: ReturnType<typeof setTimeout> | undefined;

/** Adds a listener; the returned function removes it. */
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
	const wait = most / 2 + Math.random() * (most / 2); // jitter: many tabs must not reconnect at once
	connection.set({ kind: "lost", retryAt: Date.now() + wait, recovered: false });
	retryTimer = setTimeout(open, wait);
}

function open(): void {
	clearTimeout(retryTimer);
	// After a rejection the server is not asked again before there is another key.
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

/** Reconnects at once instead of waiting for the timer. */
export const retryNow = (): void => open();

export function begin(): void {
	open();
	// Reconnect at once when the network returns or the page becomes visible.
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
