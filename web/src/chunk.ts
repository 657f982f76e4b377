// Parts of the dashboard that are loaded when they are shown for the first time.
import { useEffect, useState } from "preact/hooks";
import { listen } from "./live";

export class Chunk<T> {
	loaded: T | undefined;

	constructor(readonly load: () => Promise<T>) {}
}

export const pipelinePages = new Chunk(() => import("./pipeline/pages"));
export const editorPage = new Chunk(() => import("./pages/editor"));

/** The chunk, once it is there; a server that was away is asked again when it is back. */
export function useChunk<T>(chunk: Chunk<T>, wanted: boolean): T | undefined {
	const [, again] = useState({});
	const missing = wanted && chunk.loaded === undefined;
	useEffect(() => {
		if (!missing)
			return undefined;
		const load = () => void chunk.load().then((found) => {
			chunk.loaded = found;
			again({});
		}, () => {});
		load();
		return listen({ resync: load });
	}, [missing]);
	return chunk.loaded;
}
