// The agent registry.
import type { run } from "contract";
import { get } from "../api";
import { useLoaded } from "../data";
import { listKeys, useKeys } from "../keys";
import { Empty, Loading, ProblemText } from "../parts/basic";
import { DocumentPage } from "../parts/document_page";
import { go, href, Link } from "../route";

const PLACE = { list: href("settings", "agents"), title: "Agents", word: "agent", path: "/api/agents", entity: "run.Agent" };

export function AgentsTab() {
	const { value, problem } = useLoaded((signal) => get<run.AgentPage>("/api/agents?view=run&limit=1000", signal), []);
	useKeys([...listKeys("agent"), { keys: "n", text: "New agent", run: () => go(href("settings", "new-agent")) }]);
	const create = <Link class="action" data-tone="main" href={href("settings", "new-agent")}>New agent</Link>;
	return (
		<>
			<ProblemText problem={problem} />
			{value === undefined && problem === undefined && <Loading />}
			{value?.items.length === 0 && <Empty title="No agent yet."><p>{create}</p></Empty>}
			{value !== undefined && value.items.length > 0 && (
				<>
					<p>{create}</p>
					<div class="sideways">
						<table aria-label="Agents">
							<thead>
								<tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">Driver</th><th scope="col">Model</th></tr>
							</thead>
							<tbody>
								{value.items.map((agent) => (
									<tr key={agent.name} data-agent={agent.name}>
										<td class="name"><Link href={href("settings", "agents", agent.name)} data-row>{agent.name}</Link></td>
										<td>{agent.role}</td>
										<td>{agent.driver}</td>
										<td><code>{agent.llm_config.model}</code></td>
									</tr>
								))}
							</tbody>
						</table>
					</div>
				</>
			)}
		</>
	);
}

export const AgentPage = ({ name }: { name: string | null }) => <DocumentPage place={PLACE} name={name} />;
