// Schedules: workflows that start at given times.
import type { run } from "contract";
import { ask, get } from "../api";
import { useDoing, useLoaded } from "../data";
import { listKeys, useKeys } from "../keys";
import { Action, Empty, Loading, ProblemText } from "../parts/basic";
import { DocumentPage } from "../parts/document_page";
import { go, href, Link } from "../route";

const PLACE = {
	list: href("settings", "schedules"), title: "Schedules", word: "schedule", path: "/api/schedules", entity: "run.Schedule",
};

function Pause({ schedule, done }: { schedule: run.ScheduleItem; done: () => void }) {
	const verb = schedule.paused ? "resume" : "pause";
	const doing = useDoing(async () => {
		await ask(`${PLACE.path}/${encodeURIComponent(schedule.name)}/${verb}`, { method: "POST" });
		done();
	});
	const word = schedule.paused ? "Resume" : "Pause";
	return (
		<>
			<Action doing={doing} busy={schedule.paused ? "Resuming …" : "Pausing …"} label={`${word} ${schedule.name}`}>{word}</Action>
			<ProblemText problem={doing.problem} />
		</>
	);
}

function Row({ schedule, done }: { schedule: run.ScheduleItem; done: () => void }) {
	const { name, cron, every, time_zone, workflow, next_at, started, skipped, failed, last_run, last_error } = schedule;
	return (
		<tr data-schedule={name}>
			<td class="name"><Link href={href("settings", "schedules", name)} data-row>{name}</Link></td>
			<td><code>{cron ?? `every ${every ?? ""}`}</code> {cron !== undefined && time_zone}</td>
			<td>{workflow}</td>
			<td>{next_at ?? "paused"}</td>
			<td>
				{last_run === null ? `${started} started` : <Link href={href("runs", last_run)}>{`${started} started`}</Link>}
				{skipped > 0 && `, ${skipped} skipped`}
				{failed > 0 && `, ${failed} failed`}
				{last_error !== null && `: ${last_error}`}
			</td>
			<td><Pause schedule={schedule} done={done} /></td>
		</tr>
	);
}

export function SchedulesTab() {
	const { value, problem, reload } = useLoaded((signal) => get<run.SchedulePage>("/api/schedules?limit=1000", signal), []);
	useKeys([...listKeys("schedule"), { keys: "n", text: "New schedule", run: () => go(href("settings", "new-schedule")) }]);
	const create = <Link class="action" data-tone="main" href={href("settings", "new-schedule")}>New schedule</Link>;
	return (
		<>
			<ProblemText problem={problem} />
			{value === undefined && problem === undefined && <Loading />}
			{value?.items.length === 0 && <Empty title="No schedule yet."><p>{create}</p></Empty>}
			{value !== undefined && value.items.length > 0 && (
				<>
					<p>{create}</p>
					<div class="sideways">
						<table aria-label="Schedules">
							<thead>
								<tr>
									<th scope="col">Name</th><th scope="col">When</th><th scope="col">Workflow</th>
									<th scope="col">Next</th><th scope="col">So far</th><th scope="col">Pause</th>
								</tr>
							</thead>
							<tbody>
								{value.items.map((schedule) => <Row key={schedule.name} schedule={schedule} done={() => void reload()} />)}
							</tbody>
						</table>
					</div>
				</>
			)}
		</>
	);
}

export const SchedulePage = ({ name }: { name: string | null }) => <DocumentPage place={PLACE} name={name} />;
