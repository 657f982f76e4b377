// The key to the server, where it asks for one.  It is kept for this tab only, and goes nowhere but
// into requests to the server that the page came from.
import { Cell } from "./cell";

const STORED_AS = "baton.key";

export interface Access {
	key: string | null;
	/** The server has refused us: it wants a key, or another one. */
	refused: boolean;
}

function stored(): string | null {
	try {
		return sessionStorage.getItem(STORED_AS);
	} catch {
		return null; // storage may be forbidden; then the key lives as long as the page
	}
}

export const access = new Cell<Access>({ key: stored(), refused: false });

export function setKey(key: string | null): void {
	try {
		if (key === null)
			sessionStorage.removeItem(STORED_AS);
		else
			sessionStorage.setItem(STORED_AS, key);
	} catch {
		// for this page only, then
	}
	access.set({ key, refused: false });
}

/** Refused with the key that is in use now; an answer to an older one says nothing. */
export function refused(key: string | null): void {
	if (access.value.key === key && !access.value.refused)
		access.set({ key, refused: true });
}

/** A browser gives a WebSocket no headers, but it offers subprotocols. */
export const socketProtocols = (): string[] =>
	access.value.key === null ? [] : ["baton", `baton.key.${access.value.key}`];
