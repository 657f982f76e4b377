// Chooses the profile of a run; nothing is shown on a server without profiles.
import type { run } from "contract";
import { get } from "../api";
import { useLoaded } from "../data";
import { Places } from "./places";

interface Props {
	/** "" = the active profile. */
	name: string;
	change: (name: string) => void;
	/** Problems of the chosen profile. */
	places?: run.ProblemPlace[];
}

export function ProfilePicker({ name, change, places = [] }: Props) {
	const { value } = useLoaded((signal) => get<run.ProfilePage>("/api/profiles?limit=1000", signal), []);
	const names = value?.items.map((profile) => profile.name) ?? [];
	if (names.length === 0 && name === "")
		return null;
	return (
		<div class="field">
			<label class="label" for="profile">Profile</label>
			<select id="profile" name="profile" value={name} aria-describedby="profile-places" aria-invalid={places.length > 0} onChange={(event) => change(event.currentTarget.value)}>
				<option value="">{value?.active_profile ? `the active one (${value.active_profile})` : "none"}</option>
				{name !== "" && !names.includes(name) && <option value={name}>{name}</option>}
				{names.map((one) => <option key={one} value={one}>{one}</option>)}
			</select>
			<Places id="profile-places" places={places} />
		</div>
	);
}
