// Profiles: where and under which conditions pipelines run.
import type { run } from "contract";
import { ask, get } from "../api";
import { useDoing, useLoaded } from "../data";
import { createDocument, deleteDocument, readDocument, useOpened, writeDocument } from "../documents";
import { listKeys, useKeys } from "../keys";
import { Action, Badge, Empty, Loading, Page, ProblemText } from "../parts/basic";
import { DocumentForm } from "../parts/document_form";
import { go, href, Link } from "../route";

type Members = { [key: string]: unknown };

const pathOf = (name: string): string => `/api/profiles/${encodeURIComponent(name)}`;

function Activate({ name, done }: { name: string; done: () => void }) {
	const activating = useDoing(async () => {
		await ask(`${pathOf(name)}/activate`, { method: "POST" });
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

/** A profile by its name, or a new one. */
export function ProfilePage({ name }: { name: string | null }) {
	const { opened, problem, again, replace } = useOpened<Members>(
		async (signal) => (name === null ? { body: {}, etag: null } : readDocument<Members>(pathOf(name), signal)),
		[name],
	);
	const list = href("settings", "profiles");
	const deleting = useDoing(async () => {
		await deleteDocument(pathOf(name ?? ""), opened?.document.etag ?? null);
		go(list);
	});
	const save = async (body: Members, etag: string | null) => {
		if (name !== null) {
			replace(await writeDocument<Members>(pathOf(name), body, etag));
			return;
		}
		await createDocument("/api/profiles", body);
		go(list);
	};
	return (
		<>
			<nav class="crumbs" aria-label="Breadcrumb"><Link href={list}>Profiles</Link></nav>
			<Page title={name ?? "New profile"}>
				<ProblemText problem={problem} />
				{opened === undefined && problem === undefined && <Loading />}
				{opened !== undefined && (
					<DocumentForm
						key={opened.round}
						all={opened.all}
						entity="pipeline.Profile"
						start={opened.document}
						fixed={name === null ? [] : ["/name"]}
						save={save}
						again={again}
						saveWord={name === null ? "Create" : "Save"}
					>
						{name !== null && <Action doing={deleting} tone="bad" busy="Deleting …">Delete</Action>}
						<ProblemText problem={deleting.problem} />
					</DocumentForm>
				)}
			</Page>
		</>
	);
}
