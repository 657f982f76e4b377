// Documents: profiles, agents, schedules and settings.  The ETag of a document is its revision; a
// change names the revision it is based on, so that two people cannot overwrite each other's changes.
import { useEffect, useState } from "preact/hooks";
import { ask, asProblem, type Answer, type Problem } from "./api";
import { listen } from "./live";
import { schemas, type Schemas } from "./schema";

export interface Document<T> {
	body: T;
	/** null = the server sent none. */
	etag: string | null;
}

const documentOf = <T>({ body, headers }: Answer<T>): Document<T> => ({ body, etag: headers.get("ETag") });

const condition = (etag: string | null): Record<string, string> => (etag === null ? {} : { "If-Match": etag });

export const readDocument = async <T>(path: string, signal?: AbortSignal): Promise<Document<T>> =>
	documentOf(await ask<T>(path, { signal }));

export const createDocument = async <T>(path: string, body: unknown): Promise<Document<T>> =>
	documentOf(await ask<T>(path, { method: "POST", body }));

export const writeDocument = async <T>(path: string, body: unknown, etag: string | null): Promise<Document<T>> =>
	documentOf(await ask<T>(path, { method: "PUT", body, headers: condition(etag) }));

export const deleteDocument = async (path: string, etag: string | null): Promise<void> =>
	void (await ask(path, { method: "DELETE", headers: condition(etag) }));

export interface Opened<T> {
	all: Schemas;
	document: Document<T>;
	/** Changes with every read, so that the form starts over. */
	round: number;
}

export interface Opening<T> {
	opened: Opened<T> | undefined;
	problem: Problem | undefined;
	/** Reads the stored document again. */
	again: () => void;
	/** Continues with the saved document and its new revision. */
	replace: (document: Document<T>) => void;
}

let rounds = 0;

/** A document in a form.  It is read once: a reconnect must not discard what the user has typed. */
export function useOpened<T>(read: (signal: AbortSignal) => Promise<Document<T>>, deps: unknown[]): Opening<T> {
	const [state, setState] = useState<{ opened?: Opened<T>; problem?: Problem }>({});
	const [attempt, setAttempt] = useState(0);
	useEffect(() => {
		const stop = new AbortController();
		setState({});
		Promise.all([schemas(), read(stop.signal)]).then(
			([all, document]) => stop.signal.aborted || setState({ opened: { all, document, round: ++rounds } }),
			(cause: unknown) => stop.signal.aborted || setState({ problem: asProblem(cause) }),
		);
		return () => stop.abort();
	}, [...deps, attempt]);
	const again = () => setAttempt((number) => number + 1);
	const failed = state.problem?.status === 0;
	useEffect(() => (failed ? listen({ resync: again }) : undefined), [failed]);
	const replace = (document: Document<T>) =>
		setState((old) => (old.opened ? { opened: { ...old.opened, document } } : old));
	return { opened: state.opened, problem: state.problem, again, replace };
}
