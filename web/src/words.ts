// Formatting of values, and Baton's own words for states and events.

export function durationText(ms: number): string {
	if (ms < 1000)
		return `${Math.max(0, Math.round(ms))} ms`;
	const seconds = Math.floor(ms / 1000);
	const two = (number: number) => String(number).padStart(2, "0");
	if (seconds < 60)
		return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
	if (seconds < 3600)
		return `${Math.floor(seconds / 60)} m ${two(seconds % 60)} s`;
	if (seconds < 86400)
		return `${Math.floor(seconds / 3600)} h ${two(Math.floor(seconds / 60) % 60)} m`;
	return `${Math.floor(seconds / 86400)} d ${Math.floor(seconds / 3600) % 24} h`;
}

/** The duration of something that is still running, in whole seconds. */
export function elapsedText(since: string, now: number): string {
	const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1000));
	return seconds < 60 ? `${seconds} s` : durationText(seconds * 1000);
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const calendar = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

export function timeText(at: Date): string {
	const today = at.toDateString() === new Date().toDateString();
	return today ? clock.format(at) : `${calendar.format(at)}, ${clock.format(at)}`;
}

export function bytesText(bytes: number): string {
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let at = 0;
	while (bytes >= 1024 && at < units.length - 1) {
		bytes /= 1024;
		at++;
	}
	return `${at === 0 ? bytes : bytes.toFixed(1)} ${units[at]}`;
}

export const shortId = (id: string): string => id.slice(0, 8);

export const pretty = (value: unknown): string =>
	typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");

/** Parses JSON; `wrong` says why the text is not valid. */
export function readJson(text: string): { value: unknown; wrong: string | undefined } {
	try {
		return { value: JSON.parse(text) as unknown, wrong: undefined };
	} catch (cause) {
		return { value: undefined, wrong: `is not JSON: ${(cause as Error).message}` };
	}
}

/** Baton's own word for a run's status in the runtime vocabulary. */
export const ownState = (status: string): string =>
	status === "success" ? "succeeded" : status === "pending" ? "queued" : status;

/** Baton's own word for a step's status in the runtime vocabulary. */
export const ownStepState = (status: string): string => (status === "success" ? "succeeded" : status);

/** Baton's own name of an event of the WebSocket's vocabulary. */
export const ownEvent = (event: { event_type: string; data?: { [key: string]: unknown } | null }): string =>
	String(event.data?.["event"] ?? event.event_type);
