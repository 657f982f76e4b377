// Keyboard shortcuts outside of text fields: single letters and sequences such as "g r".
import { useEffect, useRef } from "preact/hooks";
import { Cell } from "./cell";

export interface Key {
	/** "j", "?", or a sequence of two keys: "g r". */
	keys: string;
	text: string;
	run: () => void;
}

const CHORD_WITHIN_MS = 1500;
const STORED_AS = "baton.keys";

const shown = new Set<{ list: Key[] }>();
let chord = "";
let chordAt = 0;

function stored(): boolean {
	try {
		return localStorage.getItem(STORED_AS) !== "off";
	} catch {
		return true; // storage may be disabled; then shortcuts are on
	}
}

/** Single-letter shortcuts interfere with speech input, so they can be switched off. */
export const keysOn = new Cell<boolean>(stored());

export function keysSwitch(on: boolean): void {
	keysOn.set(on);
	try {
		localStorage.setItem(STORED_AS, on ? "on" : "off");
	} catch {
		// storage is disabled: the setting lives as long as the page
	}
}

/** All active shortcuts, for the help dialog. */
export const keysNow = (): Key[] => [...shown].flatMap((group) => group.list);

/** Registers shortcuts while the component is mounted. */
export function useKeys(list: Key[]): void {
	const group = useRef({ list });
	group.current.list = list;
	useEffect(() => {
		shown.add(group.current);
		return () => void shown.delete(group.current);
	}, []);
}

function isTyping(target: EventTarget | null): boolean {
	return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/** The innermost element: in the editor's shadow root, the event's own target is the host. */
const typedInto = (event: KeyboardEvent): EventTarget | null => event.composedPath()[0] ?? event.target;

function pressed(event: KeyboardEvent): void {
	if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(typedInto(event)))
		return;
	if (!keysOn.value && event.key.length === 1 && event.key !== "?")
		return;
	if (document.querySelector("dialog[open]"))
		return;
	const before = event.timeStamp - chordAt < CHORD_WITHIN_MS ? chord : "";
	const all = keysNow().reverse(); // the page's shortcuts take precedence over the frame's
	const found = all.find((key) => key.keys === (before ? `${before} ${event.key}` : event.key));
	chord = "";
	if (found) {
		event.preventDefault();
		found.run();
	} else if (all.some((key) => key.keys.startsWith(`${event.key} `))) {
		chord = event.key;
		chordAt = event.timeStamp;
	}
}

export const begin = (): void => addEventListener("keydown", pressed);

/** Moves the focus between the rows of the page (elements with data-row). */
export function moveFocus(by: number): void {
	const rows = [...document.querySelectorAll<HTMLElement>("main [data-row]")];
	const at = rows.findIndex((row) => row === document.activeElement);
	const next = at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by));
	rows[next]?.focus();
}

export const listKeys = (what: string): Key[] => [
	{ keys: "j", text: `Next ${what}`, run: () => moveFocus(1) },
	{ keys: "k", text: `Previous ${what}`, run: () => moveFocus(-1) },
];
