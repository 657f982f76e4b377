// The events of a run, live, with filters and the details of one event.
import type { run } from "contract";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { asProblem, get, type Problem } from "../api";
import { useLoaded } from "../data";
import { useKeys } from "../keys";
import { connection, isAway, listen, type LiveEvent } from "../live";
import { eventKey, RunLog, type EventPage } from "../log";
import { Badge, Json, Loading, ProblemText } from "../parts/basic";
import { Rows } from "../parts/rows";
import { goQuery, usePlace } from "../route";
import { ownEvent } from "../words";

const PAGE = 1000;
const GONE = 410;

export interface ShownLog {
	events: LiveEvent[];
	loaded: boolean;
	problem: Problem | undefined;
}

/** The list without a problem that the banner already reports. */
const quiet = (shown: ShownLog): ShownLog =>
	shown.events.length > 0 && isAway(shown.problem) ? { ...shown, problem: undefined } : shown;

/** All events of the run, complete even after lost connections. */
export function useRunLog(id: string): ShownLog {
	const [shown, setShown] = useState<ShownLog>({ events: [], loaded: false, problem: undefined });
	useEffect(() => {
		const stop = new AbortController();
		let frame = 0;
		const log: RunLog = new RunLog(
			(after) => get<EventPage>(`/api/runs/${encodeURIComponent(id)}/events?view=pipeline&limit=${PAGE}&after=${after}`, stop.signal),
			// However many events arrive, the page is rendered once per frame.
			() => (frame ||= requestAnimationFrame(() => {
				frame = 0;
				setShown((old) => ({ events: log.events, loaded: log.loaded, problem: log.gone ? old.problem : undefined }));
			})),
			(cause) => setShown((old) => quiet({ ...old, loaded: log.loaded, problem: asProblem(cause) })),
			(cause) => asProblem(cause).status === GONE,
		);
		setShown({ events: [], loaded: false, problem: undefined });
		const end = listen({
			event: (event) => {
				if (event.workflow_id === id)
					log.take(event);
			},
			resync: (missed) => {
				if (missed || !log.loaded || log.failing)
					void log.fill();
			},
		});
		void log.fill();
		const endWatch = connection.watch(() => setShown(quiet));
		return () => {
			end();
			endWatch();
			log.close();
			stop.abort();
			cancelAnimationFrame(frame);
		};
	}, [id]);
	return shown;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hour12: false });

function EventRow({ event, selected }: { event: LiveEvent; selected: boolean }) {
	const toggle = () => goQuery({ event: selected ? null : eventKey(event) });
	return (
		<button type="button" class="event" data-seq={event.sequence} data-event={eventKey(event)} data-level={event.level} aria-pressed={selected} onClick={toggle}>
			<span class="seq">{eventKey(event)}</span>
			<time dateTime={event.timestamp}>{clock.format(new Date(event.timestamp))}</time>
			<span class="type">{ownEvent(event)}</span>
			<span class="agent">{event.agent}</span>
			<span class="message">{event.message}</span>
		</button>
	);
}

/** The message and details of an event, and the event as stored. */
function EventDetails({ id, event }: { id: string; event: LiveEvent }) {
	const stored = useLoaded(
		(signal) => get<run.EventPage>(`/api/runs/${encodeURIComponent(id)}/events?limit=1&after=${event.sequence - 1}`, signal),
		[id, event.sequence],
	);
	return (
		<aside class="details" aria-label={`Event ${event.sequence}`}>
			<div class="headline">
				<h3>Event {event.sequence}</h3>
				<Badge state={event.level ?? "info"} />
				<button type="button" class="action" onClick={() => goQuery({ event: null })}>Close</button>
			</div>
			<p class="message">{event.message}</p>
			<h4>Details</h4>
			<Json value={event.data} label={`Details of event ${event.sequence}`} />
			<h4>Stored event</h4>
			<ProblemText problem={stored.problem} />
			{stored.value?.items[0] && <Json value={stored.value.items[0]} label={`Event ${event.sequence} as stored`} />}
		</aside>
	);
}

function Filters({ events, level, type }: { events: LiveEvent[]; level: string; type: string }) {
	const types = useMemo(() => [...new Set(events.map(ownEvent))].sort(), [events]);
	const levels = useMemo(() => [...new Set(events.map((event) => event.level as string | null ?? "info"))].sort(), [events]);
	const options = (all: string[], chosen: string) => (chosen === "" || all.includes(chosen) ? all : [...all, chosen]);
	return (
		<div class="filters">
			<label>
				Level{" "}
				<select value={level} onChange={(event) => goQuery({ level: event.currentTarget.value })}>
					<option value="">any</option>
					{options(levels, level).map((word) => <option key={word} value={word}>{word}</option>)}
				</select>
			</label>
			<label>
				Type{" "}
				<select value={type} onChange={(event) => goQuery({ type: event.currentTarget.value })}>
					<option value="">any</option>
					{options(types, type).map((word) => <option key={word} value={word}>{word}</option>)}
				</select>
			</label>
		</div>
	);
}

export function EventsSection({ id, log }: { id: string; log: ShownLog }) {
	const { query } = usePlace();
	const level = query.get("level") ?? "";
	const type = query.get("type") ?? "";
	const chosen = query.get("event") ?? "";
	const [follow, setFollow] = useState(chosen === "");
	const events = useMemo(
		() => log.events.filter((event) => (level === "" || (event.level ?? "info") === level) && (type === "" || ownEvent(event) === type)),
		[log.events, level, type],
	);
	const at = chosen === "" ? -1 : events.findIndex((event) => eventKey(event) === chosen);
	const selected = log.events.find((event) => eventKey(event) === chosen);

	const current = useRef({ events, at });
	current.current = { events, at };
	const step = (by: number) => {
		const { events: list, at: from } = current.current;
		const next = from < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(list.length - 1, Math.max(0, from + by));
		const event = list[next];
		if (event) {
			setFollow(false);
			goQuery({ event: eventKey(event) });
		}
	};
	useKeys([
		{ keys: "j", text: "Next event", run: () => step(1) },
		{ keys: "k", text: "Previous event", run: () => step(-1) },
		{ keys: "f", text: "Toggle following new events", run: () => setFollow(!follow) },
		{ keys: "x", text: "Close the event", run: () => goQuery({ event: null }) },
	]);

	return (
		<section aria-labelledby="events-title">
			<div class="headline">
				<h2 id="events-title">Events <span class="count" data-count={log.events.length}>{log.events.length}</span></h2>
				<Filters events={log.events} level={level} type={type} />
				<label class="follow">
					<input type="checkbox" checked={follow} onChange={(event) => setFollow(event.currentTarget.checked)} /> Follow
				</label>
			</div>
			{log.problem?.status === GONE ? (
				<p class="muted" data-gone>
					The older events of this run were deleted by compaction ({log.problem.message}). Its steps and its result are kept; new events appear here.
				</p>
			) : <ProblemText problem={log.problem} />}
			{!log.loaded && log.events.length === 0 && log.problem === undefined && <Loading />}
			{log.loaded && log.problem === undefined && events.length === 0 && <p class="muted">No event matches this filter.</p>}
			<div class="log" data-loaded={log.loaded}>
				<Rows
					items={events}
					label="Events"
					follow={follow}
					onFollow={setFollow}
					shown={follow ? -1 : at}
					keyOf={eventKey}
					row={(event) => <EventRow event={event} selected={eventKey(event) === chosen} />}
				/>
				{selected && <EventDetails id={id} event={selected} />}
			</div>
		</section>
	);
}
