/* cli/doctor_settings.c -- checks of the data folder, the database, the settings and the secrets.
 *
 * Only the owner of the data folder may open the database, so the checks run another `baton` on the
 * same folder, which connects to the owner or becomes it.  If there is no database yet, they do
 * not: that would create one.
 */
#include <string.h>

#include "base/limits.h"
#include "base/yaml.h"
#include "cli/doctor.h"
#include "config/secret.h"
#include "contract/modules.h"
#include "net/local_client.h"
#include "os/file.h"
#include "os/machine.h"

static const char *in_folder(struct doctor *doctor, const char *name)
{
	return str_format(&doctor->cli->arena, "%s/%s", doctor->cli->data_folder, name).at;
}

/* ---- the data folder ------------------------------------------------------------------- */

void doctor_folder(struct doctor *doctor)
{
	const char *folder = doctor->cli->data_folder;
	const char *fix = str_format(&doctor->cli->arena, "chmod 700 '%s'", folder).at;
	struct machine_file info;
	if (!machine_file(folder, &info)) {
		doctor_add_finding(doctor, DOCTOR_OK, NULL,
				   "%s does not exist yet; the first start creates it", folder);
		return;
	}
	doctor->has_folder = info.folder;
	/* A folder that has lost its database still has the rest of it. */
	doctor->has_store = info.folder && (file_exists(in_folder(doctor, "baton.db")) ||
					    file_exists(in_folder(doctor, "baton.db-wal")) ||
					    file_exists(in_folder(doctor, "baton.db-mark")));
	if (!info.folder)
		doctor_add_finding(doctor, DOCTOR_FAIL,
				   "choose another path with --home or BATON_HOME",
				   "%s is not a folder", folder);
	else if (!info.ours)
		doctor_add_finding(doctor, DOCTOR_FAIL,
				   "run baton as that user, or choose another folder",
				   "%s belongs to another user", folder);
	else if ((info.mode & 0700) != 0700)
		doctor_add_finding(doctor, DOCTOR_FAIL, fix,
				   "%s has mode %03o: its owner cannot use it", folder, info.mode);
	else if ((info.mode & 077) != 0)
		doctor_add_finding(doctor, DOCTOR_WARN, fix,
				   "%s has mode %03o: other users can read it", folder, info.mode);
	else
		doctor_add_finding(doctor, DOCTOR_OK, NULL, "%s, mode %03o", folder, info.mode);
}

/* 2024-01-01, before the first version of this program: an earlier clock is wrong. */
static const int64_t least_time_us = INT64_C(1704067200) * 1000000;

void doctor_clock(struct doctor *doctor)
{
	struct machine_file info;
	int64_t now = doctor->cli->now, minute = INT64_C(60) * 1000000;
	if (now < least_time_us)
		doctor_add_finding(doctor, DOCTOR_FAIL, "set the clock, or use a time service",
				   "the clock is set to a date in the past");
	else if (doctor->has_store && machine_file(in_folder(doctor, "baton.db"), &info) &&
		 info.changed_at > now + minute)
		doctor_add_finding(
			doctor, DOCTOR_WARN, "compare the clock with a time service",
			"the database has a modification time in the future: the clock was set back");
	else
		doctor_add_finding(doctor, DOCTOR_OK, NULL, "plausible");
}

void doctor_disk(struct doctor *doctor)
{
	struct machine_disk disk;
	struct error error;
	const char *folder = doctor->has_folder ? doctor->cli->data_folder : "/";
	if (!machine_disk(folder, &disk, &error)) {
		doctor_add_finding(doctor, DOCTOR_FAIL, NULL, "%s", error.text);
		return;
	}
	long long free_mib = disk.free_bytes / (1 << 20), total_mib = disk.total_bytes / (1 << 20);
	if (disk.network)
		doctor_add_finding(
			doctor, DOCTOR_FAIL, "put the data folder on a local disk",
			"%s is on a network file system, where locks and shared memory are unreliable",
			folder);
	else if (disk.free_bytes < LIMIT_DOCTOR_DISK_FAIL_BYTES)
		doctor_add_finding(doctor, DOCTOR_FAIL, "free some space, or move the data folder",
				   "%lld MiB of %lld free: commands will fail with storage_full",
				   free_mib, total_mib);
	else if (disk.free_bytes < LIMIT_DOCTOR_DISK_WARN_BYTES)
		doctor_add_finding(doctor, DOCTOR_WARN, "free some space", "%lld MiB of %lld free",
				   free_mib, total_mib);
	else
		doctor_add_finding(doctor, DOCTOR_OK, NULL, "%lld MiB of %lld free", free_mib,
				   total_mib);
}

/* ---- settings -------------------------------------------------------------------------- */

void doctor_settings(struct doctor *doctor)
{
	const struct cli *cli = doctor->cli;
	const struct problems *problems = &cli->config_problems;
	for (size_t i = 0; i < problems->count; i++)
		doctor_add_finding(doctor, DOCTOR_FAIL, NULL, "%s:%u:%u: " STR_FMT,
				   cli->config_file, problems->at[i].line, problems->at[i].column,
				   STR_ARG(problems->at[i].text));
	for (size_t i = 0; i < cli->unknown_variables.count; i++)
		doctor_add_finding(doctor, DOCTOR_WARN, "unset it, or see baton config list",
				   "the environment variable " STR_FMT " does not name a setting",
				   STR_ARG(cli->unknown_variables.at[i]));
	if (problems->count == 0)
		doctor_add_finding(
			doctor, DOCTOR_OK, NULL, "%s%s", cli->config_file,
			file_exists(cli->config_file) ? "" : " does not exist: using defaults");
}

/* ---- the owner ------------------------------------------------------------------------- */

void doctor_owner(struct doctor *doctor)
{
	struct cli *cli = doctor->cli;
	struct local_answer answer;
	struct error error;
	if (!doctor->has_folder) {
		doctor_add_finding(doctor, DOCTOR_OK, NULL, "none");
		return;
	}
	if (file_read(in_folder(doctor, "lock"), LIMIT_NAME_BYTES * 4, &cli->arena, &doctor->owner,
		      &error))
		doctor->owner = str_trim(doctor->owner);
	doctor->answers = local_request(in_folder(doctor, "baton.sock"), S("GET"), S("/api/health"),
					S(""), S(""), &cli->arena, NULL, NULL, &answer, &error);
	if (doctor->answers)
		doctor_add_finding(doctor, DOCTOR_OK, NULL, "baton, " STR_FMT ", answers",
				   STR_ARG(doctor->owner));
	else if (error.code == ERROR_UNAVAILABLE)
		doctor_add_finding(doctor, DOCTOR_OK, NULL,
				   "none; the next command owns the data folder while it runs");
	else
		doctor_add_finding(doctor, DOCTOR_FAIL, "end that process; no data is lost",
				   STR_FMT " does not answer: %s", STR_ARG(doctor->owner),
				   error.text);
}

static const struct json *child_json(struct doctor *doctor, const struct child_command *child)
{
	const struct json *json;
	struct error error;
	return child->status == 0 && json_read(child->output, &doctor->cli->arena, &json, &error)
		       ? json
		       : NULL;
}

/* The detail of the run.Problem that the child printed last, else its last line. */
static struct str reason_of(struct doctor *doctor, const struct child_command *child)
{
	const struct json *json;
	struct error error;
	struct str rest = child->errors, line, last = S("");
	while (str_cut(&rest, '\n', &line))
		last = line;
	if (!json_read(last, &doctor->cli->arena, &json, &error))
		return last;
	struct str detail = json_text(json_member(json, S("detail")));
	return detail.size > 0 ? detail : last;
}

void doctor_store(struct doctor *doctor)
{
	static const char *const arguments[] = { "db", "stats", NULL };
	if (!doctor->has_store) {
		doctor_add_finding(doctor, DOCTOR_OK, NULL,
				   "does not exist yet; the first start creates it");
		return;
	}
	if (doctor->cli->config_problems.count > 0) {
		doctor_add_finding(
			doctor, DOCTOR_WARN, "fix the settings first",
			"not checked: the server does not start while config.yaml has errors");
		return;
	}
	struct child_command child = doctor_baton(doctor, arguments);
	const struct json *stats = child_json(doctor, &child);
	const struct json *runs = json_member(stats, S("runs")),
			  *events = json_member(stats, S("events"));
	if (stats == NULL)
		doctor_add_finding(doctor, DOCTOR_FAIL,
				   "run baton db check for details; restore a backup as baton.db",
				   "cannot be opened: " STR_FMT,
				   STR_ARG(reason_of(doctor, &child)));
	else if (file_exists(in_folder(doctor, "baton.db-wal.damaged")))
		doctor_add_finding(
			doctor, DOCTOR_WARN,
			"restore the data folder from a backup, or remove baton.db-wal.damaged to"
			" continue without the lost commits",
			"the write-ahead log was damaged at an earlier start; acknowledged commits "
			"are lost");
	else
		doctor_add_finding(doctor, DOCTOR_OK, NULL,
				   "%lld runs, %lld events; run baton db check for a full check",
				   runs != NULL ? (long long)runs->as.integer : 0,
				   events != NULL ? (long long)events->as.integer : 0);
}

/* ---- network --------------------------------------------------------------------------- */

static struct str serve_address(struct doctor *doctor)
{
	const struct config *config = &doctor->cli->config;
	const char *host = config_text(config, CONFIG_SERVE_HOST);
	bool brackets = strchr(host, ':') != NULL;
	return str_format(&doctor->cli->arena, "http://%s%s%s:%lld", brackets ? "[" : "", host,
			  brackets ? "]" : "", (long long)config_number(config, CONFIG_SERVE_PORT));
}

void doctor_port(struct doctor *doctor)
{
	struct str address = serve_address(doctor);
	struct local_answer answer;
	struct error error;
	size_t at;
	if (config_number(&doctor->cli->config, CONFIG_SERVE_PORT) == 0) {
		doctor_add_finding(doctor, DOCTOR_OK, NULL,
				   "serve.port is 0: the system chooses a free port");
		return;
	}
	bool taken = local_request(address.at, S("GET"), S("/health/live"), S(""), S(""),
				   &doctor->cli->arena, NULL, NULL, &answer, &error) ||
		     error.code != ERROR_UNAVAILABLE;
	if (!taken)
		doctor_add_finding(doctor, DOCTOR_OK, NULL, STR_FMT " is free", STR_ARG(address));
	else if (doctor->answers && str_find(doctor->owner, address, &at))
		doctor_add_finding(doctor, DOCTOR_OK, NULL, STR_FMT " is this data folder's server",
				   STR_ARG(address));
	else
		doctor_add_finding(
			doctor, DOCTOR_WARN,
			"end the other program, or choose another port: baton config set serve.port",
			STR_FMT " is in use by another program", STR_ARG(address));
}

void doctor_keys(struct doctor *doctor)
{
	static const char *const arguments[] = { "key", "list", NULL };
	struct str host = str_from_c(config_text(&doctor->cli->config, CONFIG_SERVE_HOST));
	bool inside = str_starts(host, S("127.")) || str_equal(host, S("localhost")) ||
		      str_equal(host, S("::1"));
	size_t count = 0;
	if (doctor->has_store && doctor->cli->config_problems.count == 0) {
		struct child_command child = doctor_baton(doctor, arguments);
		const struct json *page = child_json(doctor, &child);
		if (page == NULL) {
			doctor_add_finding(doctor, DOCTOR_WARN, NULL,
					   "cannot list the keys: " STR_FMT,
					   STR_ARG(reason_of(doctor, &child)));
			return;
		}
		while (json_item(json_member(page, S("items")), count) != NULL)
			count++;
	}
	if (inside)
		doctor_add_finding(doctor, DOCTOR_OK, NULL,
				   "%zu; serve.host is loopback: reachable from this machine only",
				   count);
	else if (count > 0)
		doctor_add_finding(
			doctor, DOCTOR_WARN,
			"put a TLS proxy in front of the server: keys are sent unencrypted",
			"%zu; serve.host is " STR_FMT ": reachable from other machines", count,
			STR_ARG(host));
	else
		doctor_add_finding(doctor, DOCTOR_FAIL, "baton key create NAME --role admin",
				   "none, but serve.host is " STR_FMT
				   ": without a key the server refuses to listen there",
				   STR_ARG(host));
}

/* ---- secrets --------------------------------------------------------------------------- */

static void check_reference(struct doctor *doctor, struct str reference, const char *where)
{
	struct cli *cli = doctor->cli;
	const struct secret_places places = {
		.data_folder = cli->data_folder,
		.environment = cli->environment,
		.allowed = config_list(&cli->config, CONFIG_SECRETS_ALLOW),
	};
	struct str value;
	struct error error;
	if (secret_resolve(&places, (struct secret){ reference }, &cli->arena, &value, &error))
		doctor_add_finding(doctor, DOCTOR_OK, NULL, STR_FMT " of %s is available",
				   STR_ARG(reference), where);
	else
		doctor_add_finding(doctor, DOCTOR_WARN, NULL, STR_FMT " of %s: %s",
				   STR_ARG(reference), where, error.text);
}

/* Does any document type have a secret in a member of this name? */
static bool names_secret(struct str name)
{
	const struct contract_module *module;
	const struct type *type;
	for (size_t i = 0; (module = contract_module_at(i)) != NULL; i++)
		for (size_t j = 0; (type = contract_type_at(module, j)) != NULL; j++)
			if (type->kind == KIND_ENTITY)
				for (const struct field *field = type_fields(type);
				     field->shape != SHAPE_END; field++) {
					const struct type *of = field_type(field);
					if (of != NULL && of->kind == KIND_SECRET &&
					    str_equal(field->name, name))
						return true;
				}
	return false;
}

/* Checks every secret reference in the document; the parser bounds its depth.  A template is none:
 * the outputs of a workflow have a member `from` too. */
static void check_references(struct doctor *doctor, const struct json *json, const char *where)
{
	for (size_t i = 0; json->kind == JSON_LIST && i < json->as.list.count; i++)
		check_references(doctor, &json->as.list.at[i], where);
	for (size_t i = 0; json->kind == JSON_OBJECT && i < json->as.object.count; i++) {
		const struct json_member *member = &json->as.object.at[i];
		if (member->value.kind == JSON_STRING && names_secret(member->key) &&
		    !str_starts(member->value.as.string, S("${")))
			check_reference(doctor, member->value.as.string, where);
		check_references(doctor, &member->value, where);
	}
}

static void check_definitions(struct doctor *doctor)
{
	struct arena *arena = &doctor->cli->arena;
	const char *folder = in_folder(doctor, "definitions");
	struct str_list names = machine_names(folder, LIMIT_PAGE_ITEMS, arena);
	for (size_t i = 0; i < names.count; i++) {
		const char *path =
			str_format(arena, "%s/" STR_FMT, folder, STR_ARG(names.at[i])).at;
		struct str text;
		const struct json *tree;
		struct error error;
		if (str_ends(names.at[i], S(".yaml")) &&
		    file_read(path, LIMIT_YAML_BYTES, arena, &text, &error) &&
		    yaml_read(text, arena, &tree, &error))
			check_references(
				doctor, tree,
				str_format(arena, "definitions/" STR_FMT, STR_ARG(names.at[i])).at);
	}
}

static bool is_set(const struct cli *cli, struct str name)
{
	for (const char *const *one = cli->environment; *one != NULL; one++) {
		struct str rest = str_from_c(*one), found;
		if (str_cut(&rest, '=', &found) && str_equal(found, name) && rest.size > 0)
			return true;
	}
	return false;
}

/* The keys of models that this environment has; the server's own may differ. */
static void check_model_keys(struct doctor *doctor)
{
	struct str_list names = config_list(&doctor->cli->config, CONFIG_SECRETS_ALLOW);
	AUTO(buf) found = { 0 };
	for (size_t i = 0; i < names.count; i++)
		if (is_set(doctor->cli, names.at[i]))
			buf_add_format(&found, "%s" STR_FMT, found.size == 0 ? "" : ", ",
				       STR_ARG(names.at[i]));
	if (found.size > 0)
		doctor_add_finding(doctor, DOCTOR_OK, NULL,
				   "keys of models in this environment: " STR_FMT,
				   STR_ARG(buf_str(&found)));
	else
		doctor_add_finding(doctor, DOCTOR_OK, NULL,
				   "no key of a model is in this environment; the drivers script, "
				   "replay and api:ollama need none");
}

void doctor_secrets(struct doctor *doctor)
{
	static const char *const arguments[] = { "profile", "list", NULL };
	const struct config_row *row;
	size_t before = doctor->count;
	for (size_t i = 0; (row = config_at(i)) != NULL; i++) {
		struct str text = str_from_c(config_text(&doctor->cli->config, (enum config_key)i));
		if (row->type == CONFIG_SECRET &&
		    (str_starts(text, S("env:")) || str_starts(text, S("file:"))))
			check_reference(doctor, text, row->name.at);
	}
	check_definitions(doctor);
	if (doctor->has_store && doctor->cli->config_problems.count == 0) {
		struct child_command child = doctor_baton(doctor, arguments);
		const struct json *page = child_json(doctor, &child);
		if (page != NULL)
			check_references(doctor, page, "a profile");
	}
	struct machine_file info;
	if (machine_file(in_folder(doctor, "secrets"), &info) && (info.mode & 077) != 0)
		doctor_add_finding(doctor, DOCTOR_WARN, "run chmod 700 on it",
				   "%s has mode %03o: other users can read it",
				   in_folder(doctor, "secrets"), info.mode);
	if (doctor->count == before)
		doctor_add_finding(doctor, DOCTOR_OK, NULL, "no secrets are referenced");
	check_model_keys(doctor);
}
