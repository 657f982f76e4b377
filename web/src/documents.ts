// Documents: what is kept and is not a run.  Each has a revision, which is its ETag; a change names
// the revision it was made from, so that two people do not overwrite each other unseen.
import { useEffect, useState } from "preact/hooks";
import { ask, asProblem, type Answer, type Problem } from "./api";
import { listen } from "./live";
import { schemas, type Schemas } from "./schema";

export interface Document<T> {
	body: T;
	/** null where the server gave none. */
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
	/** Another one with every reading, so that a form begins anew. */
	round: number;
}

export interface Opening<T> {
	opened: Opened<T> | undefined;
	problem: Problem | undefined;
	/** Reads what is stored now. */
	again: () => void;
	/** What saving has answered: the form goes on with its revision. */
	replace: (document: Document<T>) => void;
}

let rounds = 0;

/** A document to be changed: read once.  A connection that comes back does not throw away what is
 * being written. */
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
