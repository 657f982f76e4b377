// Profiles: repository, tracker and agents of pipelines.
import type { run } from "contract";
import { ask, get } from "../api";
import { useDoing, useLoaded } from "../data";
import { listKeys, useKeys } from "../keys";
import { Action, Badge, Empty, Loading, ProblemText } from "../parts/basic";
import { DocumentPage } from "../parts/document_page";
import { go, href, Link } from "../route";

const PLACE = {
	list: href("settings", "profiles"), title: "Profiles", word: "profile", path: "/api/profiles", entity: "pipeline.Profile",
};

function Activate({ name, done }: { name: string; done: () => void }) {
	const activating = useDoing(async () => {
		await ask(`${PLACE.path}/${encodeURIComponent(name)}/activate`, { method: "POST" });
		done();
	});
	return (
		<>
			<Action doing={activating} busy="Activating …" label={`Use ${name}`}>Use</Action>
			<ProblemText problem={activating.problem} />
		</>
	);
}

export function ProfilesTab() {
	const { value, problem, reload } = useLoaded((signal) => get<run.ProfilePage>("/api/profiles", signal), []);
	useKeys([...listKeys("profile"), { keys: "n", text: "New profile", run: () => go(href("settings", "new-profile")) }]);
	const create = <Link class="action" data-tone="main" href={href("settings", "new-profile")}>New profile</Link>;
	return (
		<>
			<ProblemText problem={problem} />
			{value === undefined && problem === undefined && <Loading />}
			{value?.items.length === 0 && <Empty title="No profile yet."><p>{create}</p></Empty>}
			{value !== undefined && value.items.length > 0 && (
				<>
					<p>{create}</p>
					<table aria-label="Profiles">
						<thead>
							<tr><th scope="col">Name</th><th scope="col">Repository</th><th scope="col">Tracker</th><th scope="col">In use</th></tr>
						</thead>
						<tbody>
							{value.items.map((profile) => (
								<tr key={profile.name} data-profile={profile.name}>
									<td class="name"><Link href={href("settings", "profiles", profile.name)} data-row>{profile.name}</Link></td>
									<td><code>{profile.repo_root}</code></td>
									<td>{profile.tracker}</td>
									<td>{profile.name === value.active_profile ? <Badge state="active" /> : <Activate name={profile.name} done={() => void reload()} />}</td>
								</tr>
							))}
						</tbody>
					</table>
				</>
			)}
		</>
	);
}

export const ProfilePage = ({ name }: { name: string | null }) => <DocumentPage place={PLACE} name={name} />;
