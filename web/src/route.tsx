// Routing: the URL holds the page, its filters and the selection.
import type { ComponentChildren, JSX } from "preact";
import { Cell, useCell } from "./cell";

export const BASE = "/ui";

export interface Place {
	/** Path segments after /ui/, decoded. */
	path: string[];
	query: URLSearchParams;
	/** Number of navigations by link or key; 0 = the page as loaded. */
	moves: number;
}

function decoded(segment: string): string {
	try {
		return decodeURIComponent(segment);
	} catch {
		return segment; // not a valid escape: keep the text
	}
}

function read(moves: number): Place {
	const path = location.pathname.slice(BASE.length).split("/").filter(Boolean).map(decoded);
	return { path, query: new URLSearchParams(location.search), moves };
}

const place = new Cell<Place>(read(0));
addEventListener("popstate", () => place.set(read(place.value.moves + 1)));

export const usePlace = (): Place => useCell(place);

/** The URL of a page: href("runs", id) or href("runs", { status: "failed" }). */
export function href(...parts: (string | Record<string, string | null>)[]): string {
	let path = BASE;
	const query = new URLSearchParams();
	for (const part of parts) {
		if (typeof part === "string")
			path += `/${encodeURIComponent(part)}`;
		else
			for (const [name, value] of Object.entries(part))
				if (value !== null && value !== "")
					query.set(name, value);
	}
	const text = query.toString();
	return (path === BASE ? `${BASE}/` : path) + (text && `?${text}`);
}

export function go(url: string, how: "push" | "replace" = "push"): void {
	if (url === location.pathname + location.search)
		return;
	if (how === "push")
		history.pushState(null, "", url);
	else
		history.replaceState(null, "", url);
	place.set(read(place.value.moves + 1));
}

/** The current address with other query parameters; null or "" removes a parameter. */
export function withQuery(changes: Record<string, string | null>): string {
	const query = new URLSearchParams(location.search);
	for (const [name, value] of Object.entries(changes)) {
		if (value === null || value === "")
			query.delete(name);
		else
			query.set(name, value);
	}
	const text = query.toString();
	return location.pathname + (text && `?${text}`);
}

export const goQuery = (changes: Record<string, string | null>, how: "push" | "replace" = "replace"): void => go(withQuery(changes), how);

type LinkProps = JSX.HTMLAttributes<HTMLAnchorElement> & { href: string; children?: ComponentChildren };

/** A link within the dashboard; with a modifier key the browser handles it. */
export function Link({ href: to, ...rest }: LinkProps) {
	const click = (event: MouseEvent) => {
		if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
			return;
		event.preventDefault();
		go(to);
	};
	return <a href={to} onClick={click} {...rest} />;
}
