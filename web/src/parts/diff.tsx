// A unified diff; color is never the only sign, every line keeps its + or -.
const KINDS: Record<string, string> = { "+": "added", "-": "removed", "@": "place" };

export function Diff({ text }: { text: string }) {
	if (text === "")
		return <p class="muted">No difference.</p>;
	const lines = text.replace(/\n$/, "").split("\n").slice(2); // without the names of the two texts
	return (
		<pre class="diff" tabIndex={0} role="group" aria-label="Changes">
			{lines.map((line, number) => <span key={number} data-kind={KINDS[line[0] ?? ""]}>{line || " "}</span>)}
		</pre>
	);
}
