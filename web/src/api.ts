// HTTP requests.  Every failure is a Problem, including a server that does not answer.
import type { run } from "contract";
import { access, refused } from "./access";

const ANSWER_WITHIN_MS = 15000;

export class Problem extends Error {
	constructor(
		/** HTTP status; 0 = no response. */
		readonly status: number,
		readonly code: string,
		detail: string,
		readonly places: run.ProblemPlace[],
		/** 412 for a workflow: what the sent text would change, and the current ETag. */
		readonly diff?: string,
		readonly etag?: string,
	) {
		super(detail);
	}
}

export interface Answer<T> {
	body: T;
	headers: Headers;
}

export interface Asking {
	method?: string;
	body?: unknown;
	headers?: Record<string, string>;
	signal?: AbortSignal | undefined;
	/** Statuses other than 2xx whose body is a result, not a problem. */
	also?: number[];
}

function isProblem(body: unknown): body is run.Problem {
	return typeof body === "object" && body !== null && "detail" in body && "code" in body;
}

function refusal(response: Response, body: unknown): Problem {
	if (isProblem(body))
		return new Problem(response.status, body.code, body.detail, body.details ?? [], body.diff, body.etag);
	return new Problem(response.status, "internal", `The server answered ${response.status} ${response.statusText}`.trim(), []);
}

async function send(path: string, asking: Asking, patient = false): Promise<Response> {
	const patience = AbortSignal.timeout(ANSWER_WITHIN_MS);
	const signal = patient ? (asking.signal ?? null) : asking.signal ? AbortSignal.any([asking.signal, patience]) : patience;
	const headers: Record<string, string> = { ...asking.headers };
	const { key } = access.value;
	if (key !== null)
		headers["Authorization"] = `Bearer ${key}`;
	const options: RequestInit = { method: asking.method ?? "GET", cache: "no-store", signal, headers };
	if (asking.body !== undefined) {
		headers["Content-Type"] = "application/json";
		options.body = JSON.stringify(asking.body);
	}
	try {
		const response = await fetch(path, options);
		if (response.status === 401)
			refused(key);
		return response;
	} catch (cause) {
		if (asking.signal?.aborted)
			throw cause;
		throw new Problem(0, "unavailable", "The server does not answer.", []);
	}
}

export async function ask<T>(path: string, asking: Asking = {}): Promise<Answer<T>> {
	const response = await send(path, asking);
	const text = await response.text().catch(() => "");
	let body: unknown = null;
	try {
		body = text === "" ? null : JSON.parse(text);
	} catch {
		body = undefined;
	}
	const good = response.ok || asking.also?.includes(response.status);
	if (!good || body === undefined || (!response.ok && isProblem(body)))
		throw refusal(response, body);
	return { body: body as T, headers: response.headers };
}

export const get = async <T>(path: string, signal?: AbortSignal): Promise<T> =>
	(await ask<T>(path, { signal })).body;

export async function getText(path: string, signal?: AbortSignal): Promise<string> {
	const response = await send(path, { signal });
	const text = await response.text();
	if (!response.ok)
		throw refusal(response, null);
	return text;
}

export async function getBlob(path: string): Promise<Blob> {
	const response = await send(path, {}, true);
	if (!response.ok)
		throw refusal(response, null);
	return response.blob();
}

/** Opens a response without an end; the caller reads its body. */
export async function openStream(path: string, signal: AbortSignal): Promise<Response> {
	const response = await send(path, { signal }, true);
	if (!response.ok)
		throw refusal(response, null);
	return response;
}

/** The cursor of the next page from the Link header; null on the last page. */
export function nextCursor(headers: Headers): string | null {
	const [, target] = /<([^>]*)>\s*;\s*rel="?next"?/.exec(headers.get("Link") ?? "") ?? [];
	return target === undefined ? null : new URL(target, location.origin).searchParams.get("cursor");
}

export const asProblem = (cause: unknown): Problem =>
	cause instanceof Problem ? cause : new Problem(0, "internal", String(cause), []);
