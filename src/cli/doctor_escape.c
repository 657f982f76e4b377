/* cli/doctor_escape.c -- baton doctor sandbox: tries to get out of the sandbox that tools run in.
 *
 * The escape kit (escape/escape.h) runs as a sandboxed command with the walls and mounts of the settings and with
 * limits that are small, so that reaching them costs little.  Outside, this process prepares what the
 * kit tries to reach: a file, a folder, a server on loopback, an abstract socket, a variable.  It looks
 * at them afterwards, so a probe that got out is found even if the kit says that it was held.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/packed.h"
#include "base/terminal_text.h"
#include "cli/doctor.h"
#include "cli/output.h"
#include "os/file.h"
#include "os/machine.h"
#include "os/process.h"
#include "sandbox/keeper_file.h"
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_layers.h"
#include "sandbox/sandbox_limits.h"
#include "sandbox/toolchains.h"

enum { PROCESSES = 64, MEMORY_MB = 256, ROOM_MB = 16, FILE_MB = 24, MB = 1048576, ARGUMENTS = 16 };

#define SECRET_TEXT "a probe of baton doctor sandbox may not read this\n"

static const struct {
	const char *name, *text;
} probes[] = {
#define PROBE(name, text) { #name, text },
#include "escape/probes.def"
#undef PROBE
};

struct finding {
	struct str result, text; /* held, escaped, absent; empty = the kit has said nothing */
};

/* What is prepared outside. */
struct bait {
	struct cli *cli;
	char folder[64]; /* named after this process */
	const char *workspace, *outside, *secret, *abstract, *canary;
	int server, local, port;
	struct sandbox_limits limits;
	struct sandbox_layers layers;
	struct toolchains toolchains;
	struct finding findings[COUNT(probes)];
};

/* ---- the bait ------------------------------------------------------------------------------ */

static bool listen_on_loopback(struct bait *bait)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	bait->server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (bait->server < 0 || bind(bait->server, (const struct sockaddr *)&address, size) != 0 ||
	    listen(bait->server, 8) != 0 ||
	    getsockname(bait->server, (struct sockaddr *)&address, &size) != 0)
		return false;
	bait->port = ntohs(address.sin_port);
	return true;
}

static bool listen_abstractly(struct bait *bait)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t size = strlen(bait->abstract);
	memcpy(address.sun_path + 1, bait->abstract, size);
	bait->local = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return bait->local >= 0 &&
	       bind(bait->local, (const struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + size)) == 0 &&
	       listen(bait->local, 8) == 0;
}

static bool bait_lay(struct bait *bait, struct error *error)
{
	struct arena *arena = &bait->cli->arena;
	struct str name = str_format(arena, "/tmp/baton-escape-%lld-XXXXXX", (long long)getpid());
	require(name.size < sizeof(bait->folder));
	memcpy(bait->folder, name.at, name.size + 1);
	bait->server = bait->local = -1;
	if (mkdtemp(bait->folder) == NULL)
		return fail(error, ERROR_IO, "cannot create a folder in /tmp: %s", strerror(errno));
	bait->workspace = str_format(arena, "%s/workspace", bait->folder).at;
	bait->outside = str_format(arena, "%s/outside", bait->folder).at;
	bait->secret = str_format(arena, "%s/secret", bait->folder).at;
	bait->abstract = str_format(arena, "baton-escape-%lld", (long long)getpid()).at;
	bait->canary = str_format(arena, "canary-%lld", (long long)getpid()).at;
	if (!folder_make(bait->workspace, error) || !folder_make(bait->outside, error) ||
	    !file_replace(bait->secret, S(SECRET_TEXT), error))
		return false;
	/* Nothing but the sandbox protects them. */
	if (chmod(bait->folder, 0755) != 0 || chmod(bait->outside, 0777) != 0 ||
	    chmod(bait->secret, 0644) != 0 || setenv("BATON_ESCAPE_CANARY", bait->canary, 1) != 0 ||
	    !listen_on_loopback(bait) || !listen_abstractly(bait))
		return fail(error, ERROR_IO, "cannot prepare the probes: %s", strerror(errno));
	return true;
}

static void folder_clear(struct bait *bait, const char *folder)
{
	struct str_list names = machine_names(folder, LIMIT_PAGE_ITEMS, &bait->cli->arena);
	for (size_t i = 0; i < names.count; i++)
		remove(str_format(&bait->cli->arena, "%s/" STR_FMT, folder, STR_ARG(names.at[i]))
			       .at);
	remove(folder);
}

static void bait_take_up(struct bait *bait)
{
	if (bait->server >= 0)
		close(bait->server);
	if (bait->local >= 0)
		close(bait->local);
	folder_clear(bait, bait->workspace);
	folder_clear(bait, bait->outside);
	remove(bait->secret);
	remove(bait->folder);
}

static struct finding *finding_of(struct bait *bait, struct str name)
{
	for (size_t i = 0; i < COUNT(probes); i++)
		if (str_equal(str_from_c(probes[i].name), name))
			return &bait->findings[i];
	return NULL;
}

static void bait_report(struct bait *bait, const char *probe, const char *text)
{
	struct finding *finding = finding_of(bait, str_from_c(probe));
	if (finding != NULL)
		*finding = (struct finding){ S("escaped"), str_from_c(text) };
}

/* What the kit may not have noticed itself. */
static void bait_look(struct bait *bait)
{
	struct arena *arena = &bait->cli->arena;
	struct str text;
	struct error error;
	if (machine_names(bait->outside, 1, arena).count > 0)
		bait_report(bait, "host_folder", "the folder outside has a file");
	if (!file_read(bait->secret, sizeof(SECRET_TEXT), arena, &text, &error) ||
	    !str_equal(text, S(SECRET_TEXT)))
		bait_report(bait, "host_file", "the file outside has changed");
	if (accept4(bait->server, NULL, NULL, SOCK_CLOEXEC) >= 0)
		bait_report(bait, "host_loopback", "the server outside has a connection");
	if (accept4(bait->local, NULL, NULL, SOCK_CLOEXEC) >= 0)
		bait_report(bait, "abstract_socket", "the socket outside has a connection");
}

/* ---- the kit -------------------------------------------------------------------------------- */

static bool settings_take(struct bait *bait, struct error *error)
{
	const struct config *config = &bait->cli->config;
	if (!toolchains_open(&bait->toolchains, config_list(config, CONFIG_SANDBOX_MOUNTS),
			     config->user_home, bait->cli->data_folder, &bait->cli->arena, error))
		return false;
	bait->limits = (struct sandbox_limits){
		.processes = PROCESSES,
		.memory_bytes = (int64_t)MEMORY_MB * MB,
		.tmp_bytes = (int64_t)ROOM_MB * MB,
		.file_bytes = (int64_t)FILE_MB * MB,
		.workspace_bytes = (int64_t)MEMORY_MB * MB,
		.uid = config_number(config, CONFIG_SANDBOX_UID),
	};
	sandbox_limits_open(&bait->limits, config_text(config, CONFIG_SANDBOX_LIMITS),
			    &bait->cli->arena);
	bait->layers = (struct sandbox_layers){
		.seccomp = config_text(config, CONFIG_SANDBOX_SECCOMP),
		.landlock = config_text(config, CONFIG_SANDBOX_LANDLOCK),
		.toolchains = &bait->toolchains,
	};
	sandbox_layers_choose(&bait->layers, &bait->cli->arena);
	return true;
}

/* RLIMIT_NPROC does not bind root, and does not exist per sandbox on old kernels. */
static bool processes_are_limited(const struct bait *bait)
{
	if (bait->limits.enforcement == SANDBOX_CGROUP)
		return true;
	return sandbox_limits_rlimits(&bait->limits).processes > 0 &&
	       (bait->limits.enforcement == SANDBOX_UID || geteuid() != 0);
}

static const char *const *kit_command(struct bait *bait, int self)
{
	struct arena *arena = &bait->cli->arena;
	const char **words = arena_array(arena, const char *, ARGUMENTS);
	size_t count = 0;
	words[count++] = str_format(arena, "/proc/self/fd/%d", self).at;
	words[count++] = str_format(arena, "self=%d", self).at;
	words[count++] = str_format(arena, "secret=%s", bait->secret).at;
	words[count++] = str_format(arena, "outside=%s", bait->outside).at;
	words[count++] = str_format(arena, "data=%s", bait->cli->data_folder).at;
	words[count++] = str_format(arena, "abstract=%s", bait->abstract).at;
	words[count++] = str_format(arena, "canary=%s", bait->canary).at;
	words[count++] = str_format(arena, "server=%lld", (long long)getpid()).at;
	words[count++] = str_format(arena, "port=%d", bait->port).at;
	words[count++] =
		str_format(arena, "processes=%d", processes_are_limited(bait) ? PROCESSES : 0).at;
	words[count++] = str_format(arena, "memory=%lld", (long long)bait->limits.memory_bytes).at;
	words[count++] = str_format(arena, "file=%lld", (long long)bait->limits.file_bytes).at;
	words[count++] = str_format(arena, "room=%lld", (long long)bait->limits.tmp_bytes).at;
	return words;
}

/* NAME\tRESULT\tTEXT */
static void kit_read(struct bait *bait, struct str output)
{
	struct str line, name, result;
	while (str_cut(&output, '\n', &line)) {
		if (!str_cut(&line, '\t', &name) || !str_cut(&line, '\t', &result))
			continue;
		struct finding *finding = finding_of(bait, name);
		if (finding != NULL)
			*finding = (struct finding){ result, line };
	}
}

static bool kit_run(struct bait *bait, int kit, const struct cgroup *group, struct error *error)
{
	enum { STATUS = 3, LIFELINE, KEEPER, STARTED, KIT };
	struct sandbox_lifeline line;
	if (!sandbox_lifeline_open(&line, error))
		return false;
	const struct sandbox_spec box = { .workspace = bait->workspace,
					  .limits = &bait->limits,
					  .layers = &bait->layers,
					  .group = group,
					  .status_descriptor = STATUS,
					  .lifeline_descriptor = LIFELINE,
					  .keeper_descriptor = KEEPER,
					  .started_descriptor = STARTED,
					  .command = kit_command(bait, KIT) };
	const int keep[] = { line.status, line.lifeline, line.keeper, line.status, kit };
	const struct process_spec spec = {
		.argv = sandbox_find(S("native"))->command(&box, &bait->cli->arena),
		.keep = keep,
		.keep_count = COUNT(keep),
	};
	struct child_command child = child_command_run(&spec, &bait->cli->arena);
	bool built = sandbox_was_built(&line);
	sandbox_lifeline_close(&line);
	if (!built)
		return fail(error, ERROR_ISOLATION, "the sandbox cannot be built: " STR_FMT,
			    STR_ARG(child.errors));
	kit_read(bait, child.output);
	return true;
}

static bool probe_all(struct bait *bait, struct error *error)
{
	struct cgroup group;
	int kit;
	bool grouped = bait->limits.enforcement == SANDBOX_CGROUP;
	if (!keeper_file_new(&packed_escape[0], &kit, error))
		return false;
	bool good = !grouped || sandbox_limits_group(&bait->limits, &group, error);
	if (good) {
		good = kit_run(bait, kit, grouped ? &group : NULL, error);
		if (grouped)
			cgroup_free(&group);
	}
	close(kit);
	return good;
}

/* ---- output --------------------------------------------------------------------------------- */

static void add_json(const struct bait *bait, size_t at, struct json_writer *writer)
{
	const struct finding *finding = &bait->findings[at];
	json_open(writer, '{');
	json_key(writer, S("probe"));
	json_put_str(writer, str_from_c(probes[at].name));
	json_key(writer, S("tries"));
	json_put_str(writer, str_from_c(probes[at].text));
	json_key(writer, S("result"));
	json_put_str(writer, finding->result);
	json_key(writer, S("text"));
	json_put_str(writer, finding->text);
	json_close(writer, '}');
}

static void add_line(const struct bait *bait, size_t at, struct buf *out)
{
	const struct finding *finding = &bait->findings[at];
	bool color = bait->cli->color;
	const char *tint = str_equal(finding->result, S("held"))      ? "\033[32m"
			   : str_equal(finding->result, S("escaped")) ? "\033[31m"
								      : "\033[33m";
	buf_add_format(out, "%s%-8s%s %-20s %-56s ", color ? tint : "", finding->result.at,
		       color ? TERMINAL_TEXT_RESET : "", probes[at].name, probes[at].text);
	terminal_text_add(finding->text, 0, out);
	buf_add_char(out, '\n');
}

static void print_json(const struct bait *bait, const size_t counts[3], struct buf *out)
{
	struct json_writer writer = { .out = out };
	json_open(&writer, '{');
	json_key(&writer, S("sound"));
	json_put_bool(&writer, counts[1] == 0);
	json_key(&writer, S("walls"));
	json_put_str(&writer, str_from_c(bait->layers.text));
	json_key(&writer, S("limits"));
	json_put_str(&writer, str_from_c(bait->limits.text));
	json_key(&writer, S("probes"));
	json_open(&writer, '[');
	for (size_t i = 0; i < COUNT(probes); i++)
		add_json(bait, i, &writer);
	json_close(&writer, ']');
	json_close(&writer, '}');
}

static int report(struct bait *bait)
{
	static const char *const results[] = { "held", "escaped", "absent" };
	size_t counts[3] = { 0 };
	struct cli *cli = bait->cli;
	AUTO(buf) out = { 0 };
	for (size_t i = 0; i < COUNT(probes); i++) {
		struct finding *finding = &bait->findings[i];
		/* The kit ended early: nobody knows what happened. */
		if (finding->result.size == 0)
			*finding = (struct finding){ S("escaped"), S("the probe did not report") };
		for (size_t j = 0; j < COUNT(results); j++)
			if (str_equal(finding->result, str_from_c(results[j]))) {
				finding->result = str_from_c(results[j]);
				counts[j]++;
			}
	}
	if (cli->json) {
		print_json(bait, counts, &out);
		int status = cli_print(cli, buf_str(&out));
		return status != 0 ? status : counts[1] > 0;
	}
	for (size_t i = 0; i < COUNT(probes); i++)
		add_line(bait, i, &out);
	buf_add_format(&out, "walls: %s\nlimits: %s\n", bait->layers.text, bait->limits.text);
	buf_add_format(&out, "%zu probes: %zu held, %zu escaped, %zu not available\n",
		       COUNT(probes), counts[0], counts[1], counts[2]);
	int status = cli_print_styled(cli, buf_str(&out));
	return status != 0 ? status : counts[1] > 0;
}

int doctor_escape(struct cli *cli)
{
	struct bait bait = { .cli = cli };
	struct error error = { 0 };
	if (strcmp(config_text(&cli->config, CONFIG_TOOLS_ISOLATION), "off") == 0) {
		fail(&error, ERROR_ISOLATION,
		     "tools.isolation is off, so there is no sandbox to probe; "
		     "baton config set tools.isolation native");
		return cli_fail(cli, &error);
	}
	bool good = settings_take(&bait, &error) && bait_lay(&bait, &error);
	if (good)
		good = probe_all(&bait, &error);
	if (good)
		bait_look(&bait);
	if (bait.workspace != NULL)
		bait_take_up(&bait);
	return good ? report(&bait) : cli_fail(cli, &error);
}
