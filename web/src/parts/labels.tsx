// Labels of a run; each leads to all runs that have it.
import { href, Link } from "../route";

export function Labels({ labels }: { labels: { [name: string]: string } | undefined }) {
	const all = Object.entries(labels ?? {});
	if (all.length === 0)
		return null;
	return (
		<span class="labels">
			{all.map(([name, value]) => <Link key={name} class="chip" data-label={name} href={href("runs", { label: `${name}=${value}` })}>{name}={value}</Link>)}
		</span>
	);
}
