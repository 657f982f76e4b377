// Parser for the subset of the Prometheus text format that /metrics uses.

export interface Sample {
	/** Time of the sample, as performance.now(). */
	at: number;
	/** By name including labels: baton_runs{state="running"}. */
	values: Map<string, number>;
}

const LINE = /^([A-Za-z_:][\w:]*(?:\{[^}]*\})?)\s+(\S+)/;

export function readMetrics(text: string, at: number): Sample {
	const values = new Map<string, number>();
	for (const line of text.split("\n")) {
		const [, name, value] = LINE.exec(line) ?? [];
		if (name !== undefined && value !== undefined)
			values.set(name, Number(value));
	}
	return { at, values };
}

/** Rate of a counter; null with fewer than two samples, or after a restart. */
export function perSecond(before: Sample | null, now: Sample, name: string): number | null {
	const from = before?.values.get(name);
	const to = now.values.get(name);
	if (before === null || from === undefined || to === undefined || to < from || now.at <= before.at)
		return null;
	return ((to - from) * 1000) / (now.at - before.at);
}

/** All samples of a labelled metric: the text of the labels, and the value. */
export function family(sample: Sample, name: string): [labels: string, value: number][] {
	const found: [string, number][] = [];
	for (const [key, value] of sample.values)
		if (key.startsWith(`${name}{`))
			found.push([key.slice(name.length + 1, -1), value]);
	return found;
}
