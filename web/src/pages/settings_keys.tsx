// API keys.  The secret of a key is shown once, when it is created.
import type { run } from "contract";
import { useState } from "preact/hooks";
import { ask, get } from "../api";
import { useDoing, useLoaded } from "../data";
import { listKeys, useKeys } from "../keys";
import { Action, Empty, Loading, ProblemText, Time } from "../parts/basic";
import { Places } from "../parts/places";
import { placesIn } from "../parts/form";

const ROLES: run.Role[] = ["viewer", "operator", "admin"];

function Revoke({ item, done }: { item: run.KeyItem; done: () => void }) {
	const [sure, setSure] = useState(false);
	const revoking = useDoing(async () => {
		await ask(`/api/keys/${item.id}`, { method: "DELETE" });
		done();
	});
	if (!sure)
		return <button type="button" class="action" data-tone="bad" data-row aria-label={`Revoke ${item.label}`} onClick={() => setSure(true)}>Revoke</button>;
	return (
		<>
			<Action doing={revoking} tone="bad" busy="Revoking …" label={`Really revoke ${item.label}`}>Really revoke</Action>
			<button type="button" class="action" onClick={() => setSure(false)}>Keep</button>
			<ProblemText problem={revoking.problem} />
		</>
	);
}

function Create({ made }: { made: (item: run.KeyItem) => void }) {
	const [label, setLabel] = useState("");
	const [role, setRole] = useState<run.Role>("viewer");
	const [expires, setExpires] = useState("");
	const creating = useDoing(async () => {
		const body: run.KeyRequest = { label, role };
		if (expires !== "")
			body.expires_at = new Date(expires).toISOString();
		const { body: item } = await ask<run.KeyItem>("/api/keys", { method: "POST", body });
		setLabel("");
		setExpires("");
		made(item);
	});
	const places = creating.problem?.places ?? [];
	return (
		<form
			class="form inline"
			aria-label="New key"
			noValidate
			onSubmit={(event) => {
				event.preventDefault();
				void creating.start();
			}}
		>
			<label class="field">
				<span class="label">Label</span>
				<input value={label} maxLength={128} autoComplete="off" placeholder="owner or purpose" onInput={(event) => setLabel(event.currentTarget.value)} />
				<Places places={placesIn(places, "/label")} />
			</label>
			<label class="field">
				<span class="label">Role</span>
				<select value={role} onChange={(event) => setRole(event.currentTarget.value as run.Role)}>
					{ROLES.map((word) => <option key={word} value={word}>{word}</option>)}
				</select>
				<Places places={placesIn(places, "/role")} />
			</label>
			<label class="field">
				<span class="label">Expires <span class="muted">(optional)</span></span>
				<input type="datetime-local" value={expires} onInput={(event) => setExpires(event.currentTarget.value)} />
				<Places places={placesIn(places, "/expires_at")} />
			</label>
			<Action doing={creating} tone="main" busy="Creating …" submit>Create key</Action>
			<ProblemText problem={creating.problem} withPlaces={false} />
		</form>
	);
}

export function KeysTab() {
	const { value, problem, reload } = useLoaded((signal) => get<run.KeyPage>("/api/keys", signal), []);
	const [made, setMade] = useState<run.KeyItem | undefined>();
	useKeys(listKeys("key"));
	return (
		<>
			<Create made={(item) => {
				setMade(item);
				void reload();
			}} />
			{made !== undefined && (
				<div class="notice" role="status">
					<p>API key <strong>{made.label}</strong>: it is shown only once. Store it in a safe place.</p>
					<pre tabIndex={0} role="group" aria-label="The new key">{made.key}</pre>
					<button type="button" class="action" onClick={() => setMade(undefined)}>Done</button>
				</div>
			)}
			<ProblemText problem={problem} />
			{value === undefined && problem === undefined && <Loading />}
			{value?.items.length === 0 && <Empty title="No key yet."><p class="muted">Without an API key, only this machine can use the server. Create one above to allow remote access.</p></Empty>}
			{value !== undefined && value.items.length > 0 && (
				<table aria-label="API keys">
					<thead>
						<tr><th scope="col">Label</th><th scope="col">Role</th><th scope="col">Created</th><th scope="col">By</th><th scope="col">Expires</th><th scope="col"><span class="hidden">Actions</span></th></tr>
					</thead>
					<tbody>
						{value.items.map((item) => (
							<tr key={item.id} data-key={item.id}>
								<td class="name">{item.label}</td>
								<td>{item.role}</td>
								<td><Time at={item.created_at} /></td>
								<td>{item.created_by}</td>
								<td>{item.expires_at === null ? "never" : <Time at={item.expires_at} />}</td>
								<td><Revoke item={item} done={() => void reload()} /></td>
							</tr>
						))}
					</tbody>
				</table>
			)}
		</>
	);
}
