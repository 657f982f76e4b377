// Webhooks: receivers of notifications about runs, and what was delivered to them.
import type { run } from "contract";
import { ask, get } from "../api";
import { useDoing, useLoaded } from "../data";
import { listKeys, useKeys } from "../keys";
import { Action, Empty, Loading, ProblemText, Time } from "../parts/basic";
import { DocumentPage } from "../parts/document_page";
import { go, href, Link } from "../route";
import { shortId } from "../words";

const PLACE = {
	list: href("settings", "webhooks"), title: "Webhooks", word: "webhook", path: "/api/webhooks", entity: "run.Webhook",
};

const own = (name: string) => `${PLACE.path}/${encodeURIComponent(name)}`;

function Test({ name, done }: { name: string; done?: () => void }) {
	const doing = useDoing(async () => {
		await ask(`${own(name)}/test`, { method: "POST" });
		done?.();
	});
	return (
		<>
			<Action doing={doing} busy="Sending …" label={`Test ${name}`}>Test</Action>
			<ProblemText problem={doing.problem} />
		</>
	);
}

function Row({ webhook }: { webhook: run.Webhook }) {
	const { name, channel, url, url_secret, events, enabled } = webhook;
	return (
		<tr data-webhook={name}>
			<td class="name"><Link href={href("settings", "webhooks", name)} data-row>{name}</Link></td>
			<td>{channel}</td>
			<td><code>{url ?? url_secret}</code></td>
			<td>{events.join(", ")}</td>
			<td>{enabled ? "enabled" : "disabled"}</td>
			<td><Link href={href("settings", "deliveries", name)} aria-label={`Deliveries of ${name}`}>Deliveries</Link></td>
			<td><Test name={name} /></td>
		</tr>
	);
}

export function WebhooksTab() {
	const { value, problem } = useLoaded((signal) => get<run.WebhookPage>("/api/webhooks?limit=1000", signal), []);
	useKeys([...listKeys("webhook"), { keys: "n", text: "New webhook", run: () => go(href("settings", "new-webhook")) }]);
	const create = <Link class="action" data-tone="main" href={href("settings", "new-webhook")}>New webhook</Link>;
	return (
		<>
			<ProblemText problem={problem} />
			{value === undefined && problem === undefined && <Loading />}
			{value?.items.length === 0 && (
				<Empty title="No webhook yet."><p>A webhook reports questions and ends of runs: signed requests, Slack, e-mail.</p><p>{create}</p></Empty>
			)}
			{value !== undefined && value.items.length > 0 && (
				<>
					<p>{create}</p>
					<div class="sideways">
						<table aria-label="Webhooks">
							<thead>
								<tr>
									<th scope="col">Name</th><th scope="col">Channel</th><th scope="col">Address</th><th scope="col">Events</th>
									<th scope="col">State</th><th scope="col">Deliveries</th><th scope="col">Test</th>
								</tr>
							</thead>
							<tbody>{value.items.map((webhook) => <Row key={webhook.name} webhook={webhook} />)}</tbody>
						</table>
					</div>
				</>
			)}
		</>
	);
}

export const WebhookPage = ({ name }: { name: string | null }) => <DocumentPage place={PLACE} name={name} />;

function Redeliver({ name, item, done }: { name: string; item: run.Delivery; done: () => void }) {
	const doing = useDoing(async () => {
		await ask(`${own(name)}/deliveries/${item.id}/redeliver`, { method: "POST" });
		done();
	});
	if (item.state === "pending")
		return null;
	return (
		<>
			<Action doing={doing} busy="Sending …" label={`Deliver ${shortId(item.id)} again`}>Deliver again</Action>
			<ProblemText problem={doing.problem} />
		</>
	);
}

/** The deliveries of one webhook, newest first. */
export function DeliveriesTab({ name }: { name: string }) {
	const { value, problem, reload } = useLoaded((signal) => get<run.DeliveryPage>(`${own(name)}/deliveries?limit=200`, signal), [name]);
	useKeys(listKeys("delivery"));
	const again = () => void reload();
	return (
		<>
			<h2>Deliveries of <Link href={href("settings", "webhooks", name)}>{name}</Link></h2>
			<p>
				<button type="button" class="action" onClick={again}>Refresh</button> <Test name={name} done={again} />
			</p>
			<ProblemText problem={problem} />
			{value === undefined && problem === undefined && <Loading />}
			{value?.items.length === 0 && <Empty title="Nothing was delivered yet." />}
			{value !== undefined && value.items.length > 0 && (
				<div class="sideways">
					<table aria-label="Deliveries">
						<thead>
							<tr>
								<th scope="col">Delivery</th><th scope="col">Event</th><th scope="col">Run</th><th scope="col">Recorded</th>
								<th scope="col">State</th><th scope="col">Again</th>
							</tr>
						</thead>
						<tbody>
							{value.items.map((item) => (
								<tr key={item.id} data-delivery={item.id}>
									<td class="name"><Link href={href("runs", item.id)} data-row>{shortId(item.id)}</Link></td>
									<td>{item.event}</td>
									<td>{item.source !== undefined && <Link href={href("runs", item.source)}>{shortId(item.source)}</Link>}</td>
									<td><Time at={item.created_at} /></td>
									<td><span data-delivery-state={item.state}>{item.state}</span>{item.error !== undefined && `: ${item.error}`}</td>
									<td><Redeliver name={name} item={item} done={again} /></td>
								</tr>
							))}
						</tbody>
					</table>
				</div>
			)}
		</>
	);
}
