// A list of problems with their places.
import type { run } from "contract";

export const textPlaces = (text: string): run.ProblemPlace[] => [{ pointer: "", text }];

export function Places({ places, id }: { places: run.ProblemPlace[]; id?: string }) {
	if (places.length === 0)
		return null;
	return (
		<div id={id} role="alert">
			<ul class="places">
				{places.map((place, at) => (
					<li key={at}>
						{place.line !== undefined && <span class="line">line {place.line}:{place.column}</span>}
						{place.pointer !== "" && <code>{place.pointer}</code>} {place.text}
					</li>
				))}
			</ul>
		</div>
	);
}
