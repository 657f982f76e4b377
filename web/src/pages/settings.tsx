// Profiles, agents, schedules, webhooks, triggers, the server's settings, keys: one frame with tabs.
import type { ComponentChildren } from "preact";
import { Page } from "../parts/basic";
import { href, Link, usePlace } from "../route";
import { AgentPage, AgentsTab } from "./settings_agents";
import { KeysTab } from "./settings_keys";
import { ProfilePage, ProfilesTab } from "./settings_profiles";
import { SchedulePage, SchedulesTab } from "./settings_schedules";
import { ServerTab } from "./settings_server";
import { TriggerPage, TriggersTab } from "./settings_triggers";
import { DeliveriesTab, WebhookPage, WebhooksTab } from "./settings_webhooks";

const TABS = [
	["profiles", "Profiles"], ["agents", "Agents"], ["schedules", "Schedules"], ["webhooks", "Webhooks"],
	["triggers", "Triggers"], ["server", "Server"], ["keys", "API keys"],
] as const;

/** Pages of single documents, by tab. */
const PAGES = { profiles: ProfilePage, agents: AgentPage, schedules: SchedulePage, webhooks: WebhookPage, triggers: TriggerPage };
const NEW = {
	"new-profile": ProfilePage, "new-agent": AgentPage, "new-schedule": SchedulePage, "new-webhook": WebhookPage, "new-trigger": TriggerPage,
};

function Frame({ tab, children }: { tab: string; children: ComponentChildren }) {
	return (
		<Page title="Settings">
			<nav class="tabs" aria-label="Settings">
				{TABS.map(([name, text]) => (
					<Link key={name} href={href("settings", name)} aria-current={name === tab ? "page" : undefined}>{text}</Link>
				))}
			</nav>
			{children}
		</Page>
	);
}

export function SettingsPage() {
	const { path } = usePlace();
	const [, tab = "profiles", name] = path;
	const New = NEW[tab as keyof typeof NEW];
	if (New !== undefined)
		return <New name={null} />;
	const One = PAGES[tab as keyof typeof PAGES];
	if (One !== undefined && name !== undefined)
		return <One key={name} name={name} />;
	if (tab === "deliveries" && name !== undefined)
		return <Frame tab="webhooks"><DeliveriesTab key={name} name={name} /></Frame>;
	return (
		<Frame tab={tab}>
			{tab === "profiles" && <ProfilesTab />}
			{tab === "agents" && <AgentsTab />}
			{tab === "schedules" && <SchedulesTab />}
			{tab === "webhooks" && <WebhooksTab />}
			{tab === "triggers" && <TriggersTab />}
			{tab === "server" && <ServerTab />}
			{tab === "keys" && <KeysTab />}
			{!TABS.some(([known]) => known === tab) && <p>Page not found. <Link href={href("settings")}>Profiles</Link></p>}
		</Frame>
	);
}
