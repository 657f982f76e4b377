// Prometheus' text format, as far as /metrics uses it.

export interface Sample {
	/** When it was taken, in performance.now() terms. */
	at: number;
	/** By name, with its labels as they are written: baton_runs{state="running"}. */
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

/** How fast a counter grows; null until there are two samples, or after a restart. */
export function perSecond(before: Sample | null, now: Sample, name: string): number | null {
	const from = before?.values.get(name);
	const to = now.values.get(name);
	if (before === null || from === undefined || to === undefined || to < from || now.at <= before.at)
		return null;
	return ((to - from) * 1000) / (now.at - before.at);
}

/** The figures of one name that have labels: the labels' text, and the value. */
export function family(sample: Sample, name: string): [labels: string, value: number][] {
	const found: [string, number][] = [];
	for (const [key, value] of sample.values)
		if (key.startsWith(`${name}{`))
			found.push([key.slice(name.length + 1, -1), value]);
	return found;
}
