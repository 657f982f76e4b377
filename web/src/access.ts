// The API key, if the server requires one.  It is stored for this tab only and is sent only to the
// server that delivered the page.
import { Cell } from "./cell";

const STORED_AS = "baton.key";

export interface Access {
	key: string | null;
	/** The server rejected the request: it requires a key, or another key. */
	refused: boolean;
}

function stored(): string | null {
	try {
		return sessionStorage.getItem(STORED_AS);
	} catch {
		return null; // storage may be disabled; then the key lives as long as the page
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
		// storage is disabled: the key lives as long as the page
	}
	access.set({ key, refused: false });
}

/** Records a rejection of the current key; a late response to an older key is ignored. */
export function refused(key: string | null): void {
	if (access.value.key === key && !access.value.refused)
		access.set({ key, refused: true });
}

/** A browser cannot set headers of a WebSocket, so the key is sent as a subprotocol. */
export const socketProtocols = (): string[] =>
	access.value.key === null ? [] : ["baton", `baton.key.${access.value.key}`];
