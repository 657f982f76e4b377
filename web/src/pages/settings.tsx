// Profiles, the server's settings, keys: one frame with three tabs.
import type { ComponentChildren } from "preact";
import { Page } from "../parts/basic";
import { href, Link, usePlace } from "../route";
import { KeysTab } from "./settings_keys";
import { ProfilePage, ProfilesTab } from "./settings_profiles";
import { ServerTab } from "./settings_server";

const TABS = [["profiles", "Profiles"], ["server", "Server"], ["keys", "API keys"]] as const;

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
	if (tab === "new-profile")
		return <ProfilePage name={null} />;
	if (tab === "profiles" && name !== undefined)
		return <ProfilePage key={name} name={name} />;
	return (
		<Frame tab={tab}>
			{tab === "profiles" && <ProfilesTab />}
			{tab === "server" && <ServerTab />}
			{tab === "keys" && <KeysTab />}
			{!TABS.some(([known]) => known === tab) && <p>There is no such page. <Link href={href("settings")}>Profiles</Link></p>}
		</Frame>
	);
}
