// Triggers: signed requests that start or signal runs.
import type { run } from "contract";
import { get } from "../api";
import { useLoaded } from "../data";
import { listKeys, useKeys } from "../keys";
import { Empty, Loading, ProblemText } from "../parts/basic";
import { DocumentPage } from "../parts/document_page";
import { go, href, Link } from "../route";

const PLACE = {
	list: href("settings", "triggers"), title: "Triggers", word: "trigger", path: "/api/triggers", entity: "run.Trigger",
};

function Row({ trigger }: { trigger: run.Trigger }) {
	const { name, source, when, workflow, signal, enabled } = trigger;
	return (
		<tr data-trigger={name}>
			<td class="name"><Link href={href("settings", "triggers", name)} data-row>{name}</Link></td>
			<td>{source}</td>
			<td><code>{`${PLACE.path}/${encodeURIComponent(name)}`}</code></td>
			<td>{when !== undefined && <code>{when}</code>}</td>
			<td>{workflow !== undefined ? `starts ${workflow}` : `signals ${signal ?? ""}`}</td>
			<td>{enabled ? "enabled" : "disabled"}</td>
		</tr>
	);
}

export function TriggersTab() {
	const { value, problem } = useLoaded((signal) => get<run.TriggerPage>("/api/triggers?limit=1000", signal), []);
	useKeys([...listKeys("trigger"), { keys: "n", text: "New trigger", run: () => go(href("settings", "new-trigger")) }]);
	const create = <Link class="action" data-tone="main" href={href("settings", "new-trigger")}>New trigger</Link>;
	return (
		<>
			<ProblemText problem={problem} />
			{value === undefined && problem === undefined && <Loading />}
			{value?.items.length === 0 && (
				<Empty title="No trigger yet."><p>A trigger starts or signals a run when GitHub, GitLab or another sender posts a signed request.</p><p>{create}</p></Empty>
			)}
			{value !== undefined && value.items.length > 0 && (
				<>
					<p>{create}</p>
					<div class="sideways">
						<table aria-label="Triggers">
							<thead>
								<tr>
									<th scope="col">Name</th><th scope="col">Source</th><th scope="col">Address</th><th scope="col">When</th>
									<th scope="col">What it does</th><th scope="col">State</th>
								</tr>
							</thead>
							<tbody>{value.items.map((trigger) => <Row key={trigger.name} trigger={trigger} />)}</tbody>
						</table>
					</div>
				</>
			)}
		</>
	);
}

export const TriggerPage = ({ name }: { name: string | null }) => <DocumentPage place={PLACE} name={name} />;
