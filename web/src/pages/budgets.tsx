// Named budgets on the usage page: what is spent and reserved of each limit, and a form for the limits.
import type { run } from "contract";
import { useState } from "preact/hooks";
import { ask, get } from "../api";
import { useDoing, useLoaded } from "../data";
import { Action, Loading, ProblemText, Time } from "../parts/basic";

type Item = run.BudgetItem;

const KINDS = [["day", "Each day (UTC)"], ["server", "Everything"], ["agent:", "An agent"], ["profile:", "A profile"]] as const;

const pathOf = (name: string): string => `/api/budgets/${encodeURIComponent(name)}`;

const dollars = (amount: number): string => `$${amount.toFixed(amount === 0 || amount >= 1 ? 2 : 6)}`;

const write = (name: string, limit: string) => ask(pathOf(name), { method: "PUT", body: { limit_usd: Number(limit) } });

/** Spent, then reserved, as parts of the limit. */
function Bar({ item }: { item: Item }) {
	const part = (amount: number): number => Math.min(100, item.limit_usd > 0 ? (amount / item.limit_usd) * 100 : amount > 0 ? 100 : 0);
	const spent = part(item.spent_usd);
	const used = part(item.spent_usd + item.reserved_usd);
	return (
		<svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label={`${item.name}: ${Math.round(used)} % of the limit`}>
			<rect class="chart-reserved" width={used} height="8" />
			<rect class="chart-bar" width={spent} height="8" />
		</svg>
	);
}

function Limit({ item, done }: { item: Item; done: () => void }) {
	const [limit, setLimit] = useState<string | null>(null);
	const saving = useDoing(async () => {
		await write(item.name, limit ?? "");
		setLimit(null);
		done();
	});
	const deleting = useDoing(async () => {
		await ask(pathOf(item.name), { method: "DELETE" });
		done();
	});
	if (limit === null)
		return <button type="button" class="action" data-row aria-label={`Change ${item.name}`} onClick={() => setLimit(String(item.limit_usd))}>Change</button>;
	return (
		<>
			<input type="number" min="0" step="any" aria-label={`Limit of ${item.name} in dollars`} value={limit} onInput={(event) => setLimit(event.currentTarget.value)} />
			<Action doing={saving} busy="Saving …" label={`Save ${item.name}`}>Save</Action>
			<Action doing={deleting} tone="bad" busy="Deleting …" label={`Delete ${item.name}`}>Delete</Action>
			<button type="button" class="action" onClick={() => setLimit(null)}>Keep</button>
			<ProblemText problem={saving.problem ?? deleting.problem} />
		</>
	);
}

function waits(item: Item): string {
	const parts = [item.waiting > 0 ? `${item.waiting} waiting` : "", item.paused > 0 ? `${item.paused} paused` : ""];
	return parts.filter((part) => part !== "").join(", ");
}

function Table({ items, done }: { items: Item[]; done: () => void }) {
	return (
		<table aria-labelledby="budgets" data-budgets>
			<thead><tr><th scope="col">Budget</th><th scope="col" class="number">Limit</th><td /><th scope="col" class="number">Spent</th><th scope="col" class="number">Reserved</th><th scope="col">Runs</th><td /></tr></thead>
			<tbody>
				{items.map((item) => (
					<tr key={item.name}>
						<td class="name">{item.name} {item.resets_at !== undefined && <span class="muted">until <Time at={item.resets_at} /></span>}</td>
						<td class="number">{dollars(item.limit_usd)}</td>
						<td><Bar item={item} /></td>
						<td class="number">{dollars(item.spent_usd)}</td>
						<td class="number">{dollars(item.reserved_usd)}</td>
						<td>{waits(item)}</td>
						<td><Limit item={item} done={done} /></td>
					</tr>
				))}
			</tbody>
		</table>
	);
}

function Create({ done }: { done: () => void }) {
	const [kind, setKind] = useState<string>("day");
	const [name, setName] = useState("");
	const [limit, setLimit] = useState("");
	const named = kind.endsWith(":");
	const creating = useDoing(async () => {
		await write(named ? kind + name.trim() : kind, limit);
		setName("");
		setLimit("");
		done();
	});
	return (
		<form
			class="form inline"
			aria-label="New budget"
			onSubmit={(event) => {
				event.preventDefault();
				void creating.start();
			}}
		>
			<label class="field">
				<span class="label">Limits</span>
				<select value={kind} onChange={(event) => setKind(event.currentTarget.value)}>
					{KINDS.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
				</select>
			</label>
			{named && (
				<label class="field">
					<span class="label">Name</span>
					<input required maxLength={100} autoComplete="off" value={name} onInput={(event) => setName(event.currentTarget.value)} />
				</label>
			)}
			<label class="field">
				<span class="label">Dollars</span>
				<input type="number" min="0" step="any" required value={limit} onInput={(event) => setLimit(event.currentTarget.value)} />
			</label>
			<Action doing={creating} tone="main" busy="Saving …" submit>Set budget</Action>
			<ProblemText problem={creating.problem} />
		</form>
	);
}

export function Budgets() {
	const loaded = useLoaded((signal) => get<run.BudgetPage>("/api/budgets", signal), [], () => true);
	const items = loaded.value?.items;
	const done = () => void loaded.reload();
	return (
		<section aria-labelledby="budgets">
			<h2 id="budgets">Budgets</h2>
			<ProblemText problem={loaded.problem} />
			{items === undefined && loaded.problem === undefined && <Loading />}
			{items?.length === 0 && <p class="muted">No budgets: turns are not limited.</p>}
			{items !== undefined && items.length > 0 && <Table items={items} done={done} />}
			{items !== undefined && <Create done={done} />}
		</section>
	);
}
