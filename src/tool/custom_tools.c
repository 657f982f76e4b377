/* tool/custom_tools.c -- reads custom tools and verifies that they are trusted. */
#include "tool/custom_tools.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/map.h"
#include "base/yaml.h"
#include "os/confined_path.h"
#include "os/file.h"
#include "os/machine.h"
#include "schema/schema.h"
#include "tool/tool.h"

/* The trusted hashes of one tool. */
struct trust_record {
	struct arena arena;
	struct str name;
	struct hash definition, program;
};

/* The hash of a program, valid while the file's signature (size, times, inode) stays the same. */
struct hash_cache_entry {
	struct file_signature signature;
	struct hash hash;
};

/* A definition as it was read, valid while the file's signature stays the same.  It never changes and
 * is kept until the end, because calls refer to it. */
struct definition_cache_entry {
	struct arena arena;
	struct file_signature signature;
	struct str name;
	struct hash hash;
	const struct run_custom_tool *definition;
};

struct custom_tools {
	struct arena arena;
	const char *folder, *tools, *copies;
	pthread_mutex_t lock; /* protects the members below */
	struct map trusted;
	struct hash_cache_entry hash_cache[LIMIT_TOOL_HASHES];
	size_t next_cache_entry;
	struct definition_cache_entry *definitions[LIMIT_TOOL_DEFINITIONS];
	size_t definition_count;
};

struct custom_tools *custom_tools_new(const char *data_folder)
{
	struct custom_tools *customs = calloc(1, sizeof(*customs));
	require(customs != NULL);
	customs->folder = str_c(&customs->arena, str_from_c(data_folder));
	customs->tools = str_format(&customs->arena, "%s/tools", data_folder).at;
	customs->copies = str_format(&customs->arena, "%s/trusted", data_folder).at;
	pthread_mutex_init(&customs->lock, NULL);
	return customs;
}

static void trust_record_free(struct trust_record *trusted)
{
	if (trusted == NULL)
		return;
	arena_done(&trusted->arena);
	free(trusted);
}

void custom_tools_free(struct custom_tools *customs)
{
	size_t index = 0;
	struct str name;
	for (struct trust_record *at; (at = map_next(&customs->trusted, &index, &name)) != NULL;)
		trust_record_free(at);
	map_done(&customs->trusted);
	for (size_t i = 0; i < customs->definition_count; i++) {
		arena_done(&customs->definitions[i]->arena);
		free(customs->definitions[i]);
	}
	pthread_mutex_destroy(&customs->lock);
	arena_done(&customs->arena);
	free(customs);
}

const char *custom_tools_folder(const struct custom_tools *customs)
{
	return customs->folder;
}

void custom_tools_trust(struct custom_tools *customs, struct str name,
			const struct run_trust *trust)
{
	pthread_mutex_lock(&customs->lock);
	trust_record_free(map_remove(&customs->trusted, name));
	if (trust != NULL) {
		struct trust_record *trusted = calloc(1, sizeof(*trusted));
		require(trusted != NULL);
		trusted->name = str_copy(&trusted->arena, name);
		trusted->definition = trust->definition;
		trusted->program = trust->program;
		map_put(&customs->trusted, trusted->name, trusted);
	}
	pthread_mutex_unlock(&customs->lock);
}

/* ---- trust --------------------------------------------------------------------------- */

static void check_trust(struct custom_tools *customs, struct custom_tool *tool)
{
	pthread_mutex_lock(&customs->lock);
	const struct trust_record *trusted = map_get(&customs->trusted, tool->name);
	bool known = trusted != NULL;
	bool same_definition = known && hash_equal(&trusted->definition, &tool->definition_hash);
	bool same_program = known && hash_equal(&trusted->program, &tool->program_hash);
	pthread_mutex_unlock(&customs->lock);
	if (same_definition && same_program)
		return;
	tool->untrusted = true;
	fail(&tool->why, ERROR_FORBIDDEN,
	     "tool " STR_FMT " %s: review tools/" STR_FMT ".yaml and run baton trust " STR_FMT,
	     STR_ARG(tool->name),
	     !known            ? "is not trusted"
	     : same_definition ? "is no longer trusted because its program has changed"
			       : "is no longer trusted because its definition has changed",
	     STR_ARG(tool->name), STR_ARG(tool->name));
}

/* ---- reading ------------------------------------------------------------------------- */

static bool is_name(struct str name)
{
	for (size_t i = 0; i < name.size; i++) {
		char c = name.at[i];
		bool letter = c >= 'a' && c <= 'z';
		bool other = (c >= '0' && c <= '9') || c == '_' || c == '-';
		if (!letter && (i == 0 || !other))
			return false;
	}
	return name.size > 0 && name.size <= LIMIT_NAME_BYTES;
}

static bool read_definition(struct custom_tool *tool, struct str text, struct arena *arena)
{
	struct problems problems = { .arena = arena };
	const struct json *json;
	struct schema *schema;
	if (!yaml_read(text, arena, &json, &tool->why))
		return false;
	struct contract_source source = { .json = json, .text = text };
	const struct run_custom_tool *definition = run_custom_tool_parse(&source, arena, &problems);
	if (definition == NULL)
		return problems_fail(&problems, &tool->why);
	if (!str_equal(definition->name, tool->name))
		return fail(&tool->why, ERROR_INVALID,
			    "name is " STR_FMT ", but must be the file's name",
			    STR_ARG(definition->name));
	if (tool_find(&tool_table, tool->name) != tool_table.other)
		return fail(&tool->why, ERROR_CONFLICT, "a built-in tool has this name");
	if (!schema_compile(definition->inputs, NULL, arena, &schema, &problems)) {
		problems_fail(&problems, &tool->why);
		error_prefix(&tool->why, "inputs is not a valid JSON Schema: ");
		return false;
	}
	schema_done(schema);
	tool->definition = definition;
	return true;
}

/* Every call needs the definition.  The newest entry of a name is the last one. */
static const struct definition_cache_entry *
definition_cache_get(struct custom_tools *customs, struct str name,
		     const struct file_signature *signature)
{
	const struct definition_cache_entry *found = NULL;
	pthread_mutex_lock(&customs->lock);
	for (size_t i = customs->definition_count; i > 0 && found == NULL; i--)
		if (str_equal(customs->definitions[i - 1]->name, name) &&
		    file_signature_equal(&customs->definitions[i - 1]->signature, signature))
			found = customs->definitions[i - 1];
	pthread_mutex_unlock(&customs->lock);
	return found;
}

/* Reads the text once more into the entry, which needs its own copy.  When the cache is full, which
 * takes hundreds of edits, definitions are read for each call. */
static void definition_cache_put(struct custom_tools *customs, const struct custom_tool *tool,
				 struct str text, const struct file_signature *signature)
{
	struct definition_cache_entry *entry = calloc(1, sizeof(*entry));
	require(entry != NULL);
	struct custom_tool copy = { .name = str_copy(&entry->arena, tool->name) };
	entry->signature = *signature;
	entry->name = copy.name;
	entry->hash = tool->definition_hash;
	bool good = read_definition(&copy, str_copy(&entry->arena, text), &entry->arena);
	entry->definition = copy.definition;
	pthread_mutex_lock(&customs->lock);
	good = good && customs->definition_count < COUNT(customs->definitions);
	if (good)
		customs->definitions[customs->definition_count++] = entry;
	pthread_mutex_unlock(&customs->lock);
	if (!good) {
		arena_done(&entry->arena);
		free(entry);
	}
}

/* Location of a program: a path under `root`, or an absolute path of the system (root NULL). */
struct program {
	const char *root, *path;
};

static bool program_of(struct custom_tools *customs, struct custom_tool *tool, struct arena *arena,
		       struct program *out_program)
{
	const struct run_custom_tool *definition = tool->definition;
	struct str file = has(definition, path) ? definition->path : definition->command.at[0];
	size_t at;
	if (file.size == 0 || str_find(file, S("\0"), &at))
		return fail(&tool->why, ERROR_INVALID,
			    "the program's name is empty or contains a NUL byte");
	const char *path = str_c(arena, file);
	tool->ours = path[0] != '/';
	bool in_folder = tool->ours || has(definition, path);
	*out_program = (struct program){ in_folder ? customs->tools : NULL, path };
	return true;
}

static bool program_read(const struct program *program, struct arena *arena, struct str *out_bytes,
			 struct error *error)
{
	uint64_t size;
	if (program->root == NULL)
		return file_read(program->path, LIMIT_TOOL_PROGRAM_BYTES, arena, out_bytes, error);
	if (!confined_read(program->root, program->path, 0, LIMIT_TOOL_PROGRAM_BYTES + 1, arena,
			   out_bytes, &size, error))
		return false;
	return out_bytes->size <= LIMIT_TOOL_PROGRAM_BYTES ||
	       fail(error, ERROR_TOO_LARGE, "%s is larger than %d bytes", program->path,
		    LIMIT_TOOL_PROGRAM_BYTES);
}

/* Every call needs the hash, and programs can be large, so hashes are cached by the file's
 * signature. */
static bool hash_cache_get(struct custom_tools *customs, const struct file_signature *signature,
			   struct hash *out_hash)
{
	bool known = false;
	pthread_mutex_lock(&customs->lock);
	for (size_t i = 0; i < COUNT(customs->hash_cache) && !known; i++) {
		known = file_signature_equal(&customs->hash_cache[i].signature, signature);
		if (known)
			*out_hash = customs->hash_cache[i].hash;
	}
	pthread_mutex_unlock(&customs->lock);
	return known;
}

static void hash_cache_put(struct custom_tools *customs, const struct file_signature *signature,
			   const struct hash *hash)
{
	pthread_mutex_lock(&customs->lock);
	customs->hash_cache[customs->next_cache_entry] =
		(struct hash_cache_entry){ *signature, *hash };
	customs->next_cache_entry = (customs->next_cache_entry + 1) % COUNT(customs->hash_cache);
	pthread_mutex_unlock(&customs->lock);
}

/* Computes the hash of the program; *out_bytes is set only when the file was read. */
static bool program_hash(struct custom_tools *customs, const struct program *program,
			 struct arena *arena, struct hash *out_hash, struct str *out_bytes,
			 struct error *error)
{
	struct file_signature before, after;
	bool signed_before = confined_signature(program->root, program->path, &before);
	*out_bytes = (struct str){ 0 };
	if (signed_before && hash_cache_get(customs, &before, out_hash))
		return true;
	if (!program_read(program, arena, out_bytes, error))
		return false;
	*out_hash = hash_of(*out_bytes);
	if (signed_before && confined_signature(program->root, program->path, &after) &&
	    file_signature_equal(&before, &after))
		hash_cache_put(customs, &before, out_hash);
	return true;
}

/* Copies the program under its hash.  Only trusted programs are copied, so that untrusted files
 * cannot fill the disk. */
static bool program_copy(struct custom_tools *customs, const struct custom_tool *tool,
			 const struct program *program, struct str bytes, struct arena *arena,
			 struct error *error)
{
	/* Any user may run it, because the sandbox may have another user; the folder is private. */
	const struct confined_write how = { .mode = 0555 };
	struct machine_file copy;
	char hash[HASH_TEXT_SIZE];
	const char *name = str_c(arena, hash_text(&tool->program_hash, hash));
	if (machine_file(str_format(arena, "%s/%s", customs->copies, name).at, &copy) &&
	    copy.mode == how.mode)
		return true;
	if (bytes.at == NULL && !program_read(program, arena, &bytes, error))
		return false;
	struct hash now = hash_of(bytes);
	if (!hash_equal(&now, &tool->program_hash))
		return fail(error, ERROR_CONFLICT,
			    "%s changed while it was being copied; try again", program->path);
	return folder_make(customs->copies, error) &&
	       confined_replace(customs->copies, name, bytes, how, error);
}

/* Hashes the program, verifies the trust, and copies a program of the folder. */
static bool read_program(struct custom_tools *customs, struct custom_tool *tool)
{
	AUTO(arena) arena = { 0 };
	struct program program;
	struct str bytes;
	if (!program_of(customs, tool, &arena, &program) ||
	    !program_hash(customs, &program, &arena, &tool->program_hash, &bytes, &tool->why))
		return false;
	check_trust(customs, tool);
	if (tool->why.code != ERROR_NONE || !tool->ours)
		return tool->why.code == ERROR_NONE;
	return program_copy(customs, tool, &program, bytes, &arena, &tool->why);
}

/* Sets the definition of the tool, or `why` when it has errors; fails when the file cannot be read. */
static bool find_definition(struct custom_tools *customs, struct custom_tool *tool,
			    const char *file, struct arena *arena, struct error *error)
{
	struct file_signature before, after;
	struct str text;
	uint64_t size;
	bool is_signed = confined_signature(customs->tools, file, &before);
	const struct definition_cache_entry *known =
		is_signed ? definition_cache_get(customs, tool->name, &before) : NULL;
	if (known != NULL) {
		tool->definition_hash = known->hash;
		tool->definition = known->definition;
		return true;
	}
	if (!confined_read(customs->tools, file, 0, LIMIT_YAML_BYTES, arena, &text, &size, error)) {
		if (error->code == ERROR_NOT_FOUND)
			fail(error, ERROR_NOT_FOUND,
			     "tool " STR_FMT
			     " does not exist; custom tools are tools/NAME.yaml in the data folder",
			     STR_ARG(tool->name));
		return false;
	}
	tool->definition_hash = hash_of(text);
	if (read_definition(tool, text, arena) && is_signed &&
	    confined_signature(customs->tools, file, &after) &&
	    file_signature_equal(&before, &after))
		definition_cache_put(customs, tool, text, &before);
	return true;
}

static bool read_tool(struct custom_tools *customs, struct str name, bool verify,
		      struct arena *arena, struct custom_tool *out_tool, struct error *error)
{
	struct custom_tool tool = { .name = str_copy(arena, name) };
	const char *file = str_format(arena, STR_FMT ".yaml", STR_ARG(name)).at;
	if (!is_name(name))
		return fail(error, ERROR_NOT_FOUND, "tool " STR_FMT " does not exist",
			    STR_ARG(str_head(name, LIMIT_QUOTE_BYTES)));
	if (!find_definition(customs, &tool, file, arena, error))
		return false;
	if (tool.definition == NULL)
		error_prefix(&tool.why, "tools/%s: ", file);
	else if (verify && read_program(customs, &tool)) {
		char hash[HASH_TEXT_SIZE];
		tool.program = tool.ours ? str_format(arena, "%s/" STR_FMT, customs->copies,
						      STR_ARG(hash_text(&tool.program_hash, hash)))
						   .at
					 : str_c(arena, tool.definition->command.at[0]);
	} else if (verify && !tool.untrusted) {
		error_prefix(&tool.why, "tools/%s: ", file);
	}
	*out_tool = tool;
	return true;
}

bool custom_tools_read(struct custom_tools *customs, struct str name, struct arena *arena,
		       struct custom_tool *out_tool, struct error *error)
{
	return read_tool(customs, name, true, arena, out_tool, error);
}

static int compare_names(const void *one, const void *other)
{
	return str_compare(*(const struct str *)one, *(const struct str *)other);
}

size_t custom_tools_list(struct custom_tools *customs, struct arena *arena,
			 struct custom_tool **out_tools)
{
	struct str_list files = machine_names(customs->tools, LIMIT_CUSTOM_TOOLS * 4, arena);
	struct str *names = arena_array(arena, struct str, files.count);
	size_t count = 0, named = 0;
	struct error error;
	for (size_t i = 0; i < files.count; i++)
		if (str_ends(files.at[i], S(".yaml")))
			names[named++] = str_head(files.at[i], files.at[i].size - 5);
	if (named > 1)
		qsort(names, named, sizeof(*names), compare_names);
	*out_tools = arena_array(arena, struct custom_tool, named);
	for (size_t i = 0; i < named && count < LIMIT_CUSTOM_TOOLS; i++)
		if (read_tool(customs, names[i], false, arena, &(*out_tools)[count], &error))
			count++;
	return count;
}
