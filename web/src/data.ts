// Loading of page data, and reloading when events arrive.
//
// State (status, steps, open questions) is read from the server again when an event may have changed
// it.  The browser never computes state from events: a second implementation of that logic would
// drift from the server's.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { asProblem, type Problem } from "./api";
import { connection, isAway, listen, type LiveEvent } from "./live";

/** A burst of events causes one read, and reads take at most a third of the time. */
const REFRESH_AFTER_MS = 120;

export interface Loaded<T> {
	value: T | undefined;
	problem: Problem | undefined;
	/** Reads again now. */
	reload: () => Promise<void>;
	/** Schedules one read; further calls until then have no effect. */
	soon: () => void;
}

/** It has a value or a problem: what is shown does not change its shape any more. */
export const isSettled = ({ value, problem }: { value: unknown; problem: unknown }): boolean => value !== undefined || problem !== undefined;

interface State<T> {
	value?: T;
	problem?: Problem;
	deps: unknown[];
}

/** The state without a problem that the banner already reports. */
function quiet<T>(state: State<T>): State<T> {
	return state.value !== undefined && isAway(state.problem) ? { value: state.value, deps: state.deps } : state;
}

type Load<T> = (signal: AbortSignal) => Promise<T>;

/** Loads when mounted, when `deps` change, after a reconnect, and when `concerns` accepts an event. */
export function useLoaded<T>(load: Load<T>, deps: unknown[], concerns?: (event: LiveEvent) => boolean): Loaded<T> {
	const [state, setState] = useState<State<T>>({ deps });
	const current = useRef({ load, concerns });
	current.current = { load, concerns };
	const reloadRef = useRef<() => Promise<void>>(async () => {});
	const soonRef = useRef<() => void>(() => {});

	useEffect(() => {
		const stop = new AbortController();
		let busy: Promise<void> | null = null;
		let queued: Promise<void> | null = null;
		let timer: ReturnType<typeof setTimeout> | undefined;
		let tookMs = 0;
		const readOnce = async () => {
			const begun = performance.now();
			try {
				const value = await current.current.load(stop.signal);
				if (!stop.signal.aborted)
					setState({ value, deps });
			} catch (cause) {
				if (!stop.signal.aborted)
					setState((old) => quiet({ ...(old.deps === deps ? old : { deps }), problem: asProblem(cause) }));
			}
			tookMs = performance.now() - begun;
		};
		// Never two reads at once; a request during a read causes another read, because the first may be outdated.
		const reload = (): Promise<void> => {
			clearTimeout(timer);
			timer = undefined;
			if (stop.signal.aborted)
				return Promise.resolve();
			if (busy === null)
				return (busy = readOnce().finally(() => (busy = null)));
			queued ??= busy.then(() => {
				queued = null;
				return reload();
			});
			return queued;
		};
		const soon = () => (timer ??= setTimeout(() => void reload(), Math.max(REFRESH_AFTER_MS, 2 * tookMs)));
		reloadRef.current = reload;
		soonRef.current = soon;
		void reload();
		const end = listen({
			event: (event) => {
				if (current.current.concerns?.(event))
					soon();
			},
			resync: soon,
		});
		// A request may fail a moment before the WebSocket does.
		const endWatch = connection.watch(() => setState(quiet));
		return () => {
			end();
			endWatch();
			clearTimeout(timer);
			stop.abort();
		};
	}, deps);

	const reload = useCallback(() => reloadRef.current(), []);
	const soon = useCallback(() => soonRef.current(), []);
	// Data of other deps (another run, another filter) is not shown.
	const same = state.deps.length === deps.length && state.deps.every((dep, at) => dep === deps[at]);
	return { value: same ? state.value : undefined, problem: same ? state.problem : undefined, reload, soon };
}

export interface Doing {
	pending: boolean;
	problem: Problem | undefined;
	/** Starts the action unless it is running; true when it succeeded. */
	start: () => Promise<boolean>;
	clear: () => void;
}

/** The action of a button, with its pending state and its problem. */
export function useDoing(work: () => Promise<void>): Doing {
	const [state, setState] = useState<{ pending: boolean; problem?: Problem }>({ pending: false });
	const mounted = useRef(true);
	useEffect(() => () => void (mounted.current = false), []);
	const busy = useRef(false);
	const start = async () => {
		if (busy.current)
			return false;
		busy.current = true;
		setState({ pending: true });
		let problem: Problem | undefined;
		try {
			await work();
		} catch (cause) {
			problem = asProblem(cause);
		}
		busy.current = false;
		if (mounted.current)
			setState(problem ? { pending: false, problem } : { pending: false });
		return problem === undefined;
	};
	return { pending: state.pending, problem: state.problem, start, clear: () => setState({ pending: false }) };
}

/** The current time, updated every `everyMs`; null stops the updates. */
export function useNow(everyMs: number | null): number {
	const [now, setNow] = useState(Date.now());
	useEffect(() => {
		if (everyMs === null)
			return undefined;
		const timer = setInterval(() => setNow(Date.now()), everyMs);
		return () => clearInterval(timer);
	}, [everyMs]);
	return everyMs === null ? now : Math.max(now, Date.now());
}
