// An observable value.
import { useEffect, useState } from "preact/hooks";

export class Cell<T> {
	private readonly watchers = new Set<(value: T) => void>();

	constructor(private held: T) {}

	get value(): T {
		return this.held;
	}

	set(value: T): void {
		if (value === this.held)
			return;
		this.held = value;
		for (const watcher of [...this.watchers])
			watcher(value);
	}

	watch(watcher: (value: T) => void): () => void {
		this.watchers.add(watcher);
		return () => void this.watchers.delete(watcher);
	}
}

export function useCell<T>(cell: Cell<T>): T {
	const [, again] = useState({});
	// The effect checks the value once, in case it changed between this render and the effect.
	const shown = cell.value;
	useEffect(() => {
		if (cell.value !== shown)
			again({});
		return cell.watch(() => again({}));
	}, [cell]);
	return shown;
}
