/* document/definition_registry.c -- workflow definitions by name, from every source.
 *
 * A start that uses a cached graph asks for the signature on the loop's thread, where nothing may be
 * read from the store.  So the registry follows the stored definitions in memory: name and version.
 * Until that is loaded no signature is known, and a start reads the text.
 */
#include "document/definition_registry.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/map.h"
#include "base/packed.h"
#include "base/utf8.h"
#include "contract/run_workflow_types.h"
#include "document/documents.h"
#include "document/stored_document.h"
#include "os/file.h"
#include "os/machine.h"

#define PROJECT_FOLDER ".baton/workflows"

/* A name that was stored at some time; version 0 = it is deleted. */
struct stored_name {
	int64_t version;
};

struct definition_registry {
	const char *data_folder;
	const struct packed_file *examples;
	pthread_mutex_t lock; /* of everything below */
	struct arena arena;
	struct map stored; /* name -> struct stored_name */
	bool loaded;
};

struct str definition_source_name(enum definition_source source)
{
	static const struct str names[DEFINITION_SOURCES] = {
		[DEFINITION_STORED] = { "stored", 6 },
		[DEFINITION_FILE] = { "file", 4 },
		[DEFINITION_PROJECT] = { "project", 7 },
		[DEFINITION_PACKED] = { "packed", 6 },
	};
	return names[source];
}

/* ---- which definitions are stored ---------------------------------------------------- */

static void stored_changed(void *context, const struct watched_document *document)
{
	struct definition_registry *registry = context;
	AUTO(arena) scratch = { 0 };
	struct error error;
	const struct run_stored_definition *definition = NULL;
	if (document->body.size > 0)
		definition =
			document_read_stored(DOCUMENT_DEFINITION, document->body, &scratch, &error);
	pthread_mutex_lock(&registry->lock);
	struct stored_name *stored = map_get(&registry->stored, document->name);
	if (stored == NULL) {
		stored = arena_new(&registry->arena, struct stored_name);
		map_put(&registry->stored, str_copy(&registry->arena, document->name), stored);
	}
	stored->version = definition == NULL ? 0 : definition->version;
	pthread_mutex_unlock(&registry->lock);
}

static void stored_loaded(void *context, uint64_t count)
{
	struct definition_registry *registry = context;
	(void)count;
	pthread_mutex_lock(&registry->lock);
	registry->loaded = true;
	pthread_mutex_unlock(&registry->lock);
}

void definition_registry_watch(struct definition_registry *registry, struct documents *documents)
{
	documents_watch(documents, document_kind_name(DOCUMENT_DEFINITION), stored_changed,
			stored_loaded, registry);
}

struct definition_registry *definition_registry_new(const char *data_folder,
						    const struct packed_file *examples)
{
	struct definition_registry *registry = calloc(1, sizeof(*registry));
	require(registry != NULL);
	registry->data_folder = data_folder;
	registry->examples = examples;
	pthread_mutex_init(&registry->lock, NULL);
	return registry;
}

void definition_registry_free(struct definition_registry *registry)
{
	if (registry == NULL)
		return;
	map_done(&registry->stored);
	arena_done(&registry->arena);
	pthread_mutex_destroy(&registry->lock);
	free(registry);
}

/* A name that is one path segment. */
static bool is_plain(struct str name)
{
	size_t at;
	return name.size > 0 && name.size <= LIMIT_NAME_BYTES && !str_find(name, S("/"), &at) &&
	       !str_find(name, S("\0"), &at);
}

bool definition_registry_signature(struct definition_registry *registry, struct str name,
				   struct file_signature *out_signature)
{
	AUTO(arena) scratch = { 0 };
	pthread_mutex_lock(&registry->lock);
	bool loaded = registry->loaded;
	const struct stored_name *stored = map_get(&registry->stored, name);
	int64_t version = stored == NULL ? 0 : stored->version;
	pthread_mutex_unlock(&registry->lock);
	if (!loaded || !is_plain(name))
		return false;
	if (version > 0) { /* a version is never changed, and no file has device and inode 0 */
		*out_signature =
			(struct file_signature){ .size = (uint64_t)version, .settled = true };
		return true;
	}
	return confined_signature(NULL,
				  str_format(&scratch, "%s/definitions/" STR_FMT ".yaml",
					     registry->data_folder, STR_ARG(name))
					  .at,
				  out_signature);
}

/* ---- the sources --------------------------------------------------------------------- */

/* A function that looks into one source; *out_has is false when it does not have the name. */
typedef bool source_find(const struct definition_registry *registry, struct store_reader *reader,
			 struct str name, struct arena *arena, struct definition_found *out_found,
			 bool *out_has, struct error *error);

bool definition_registry_version(struct store_reader *reader, struct str name, int64_t version,
				 struct arena *arena,
				 const struct run_definition_version **out_version,
				 struct error *error)
{
	const void *value;
	if (!stored_document_read(reader, DOCUMENT_DEFINITION_VERSION,
				  document_version_name(name, version, arena), arena, &value, NULL,
				  error))
		return false;
	*out_version = value;
	return true;
}

static bool find_stored(const struct definition_registry *registry, struct store_reader *reader,
			struct str name, struct arena *arena, struct definition_found *out_found,
			bool *out_has, struct error *error)
{
	const void *value;
	const struct run_definition_version *version;
	(void)registry;
	if (!stored_document_read(reader, DOCUMENT_DEFINITION, name, arena, &value, NULL, error))
		return false;
	const struct run_stored_definition *definition = value;
	*out_has = definition != NULL;
	if (definition == NULL)
		return true;
	if (!definition_registry_version(reader, name, definition->version, arena, &version, error))
		return false;
	if (version == NULL)
		return fail(error, ERROR_STORAGE,
			    "version %lld of workflow " STR_FMT " is missing from the store",
			    (long long)definition->version, STR_ARG(name));
	*out_found = (struct definition_found){ .yaml = version->yaml_content,
						.path = S(""),
						.version = version->version,
						.saved_at = version->saved_at,
						.saved_by = version->saved_by };
	return true;
}

static bool find_file(const struct definition_registry *registry, struct store_reader *reader,
		      struct str name, struct arena *arena, struct definition_found *out_found,
		      bool *out_has, struct error *error)
{
	const char *folder = str_format(arena, "%s/definitions", registry->data_folder).at;
	const char *file = str_format(arena, STR_FMT ".yaml", STR_ARG(name)).at;
	struct error unread;
	struct str yaml;
	(void)reader;
	*out_has = file_read_confined(folder, file, LIMIT_YAML_BYTES, arena, &yaml, &unread);
	if (*out_has)
		*out_found = (struct definition_found){
			.yaml = yaml, .path = str_format(arena, "definitions/%s", file)
		};
	if (*out_has || unread.code == ERROR_NOT_FOUND)
		return true;
	*error = unread;
	return false;
}

/* The hash that was approved for the name; NULL = none. */
static const struct hash *approved(const struct run_project *project, struct str name)
{
	for (size_t i = 0; i < project->workflows.count; i++)
		if (str_equal(project->workflows.at[i].key, name))
			return &project->workflows.at[i].value;
	return NULL;
}

static bool read_project(const struct run_project *project, struct str name, struct arena *arena,
			 struct definition_found *out_found, struct error *error)
{
	const struct hash *hash = approved(project, name);
	const char *root = str_c(arena, project->path);
	const char *file = str_format(arena, PROJECT_FOLDER "/" STR_FMT ".yaml", STR_ARG(name)).at;
	struct str yaml;
	if (!file_read_confined(root, file, LIMIT_YAML_BYTES, arena, &yaml, error))
		return false;
	struct hash now = hash_of(yaml);
	if (!hash_equal(&now, hash))
		return fail(error, ERROR_FORBIDDEN,
			    "workflow " STR_FMT " of the project " STR_FMT
			    " has changed since it was trusted; review it and run baton trust "
			    "--project " STR_FMT,
			    STR_ARG(name), STR_ARG(project->path), STR_ARG(project->path));
	*out_found = (struct definition_found){
		.yaml = yaml, .path = str_format(arena, STR_FMT "/%s", STR_ARG(project->path), file)
	};
	return true;
}

static bool list_projects(struct store_reader *reader, struct arena *arena,
			  struct store_document_page *out_page, struct error *error)
{
	return reader->ops->list_documents(reader, document_kind_name(DOCUMENT_PROJECT), S(""),
					   LIMIT_PROJECTS, arena, out_page, error);
}

static bool find_project(const struct definition_registry *registry, struct store_reader *reader,
			 struct str name, struct arena *arena, struct definition_found *out_found,
			 bool *out_has, struct error *error)
{
	struct store_document_page page;
	struct error why = { 0 };
	(void)registry;
	*out_has = false;
	if (!list_projects(reader, arena, &page, error))
		return false;
	for (size_t i = 0; i < page.count && !*out_has; i++) {
		const struct run_project *project =
			document_read_stored(DOCUMENT_PROJECT, page.at[i].body, arena, error);
		if (project == NULL)
			return false;
		*out_has = approved(project, name) != NULL &&
			   read_project(project, name, arena, out_found, &why);
	}
	if (*out_has || why.code == ERROR_NONE || why.code == ERROR_NOT_FOUND)
		return true;
	*error = why;
	return false;
}

static bool find_packed(const struct definition_registry *registry, struct store_reader *reader,
			struct str name, struct arena *arena, struct definition_found *out_found,
			bool *out_has, struct error *error)
{
	const struct packed_file *example = registry->examples;
	(void)reader;
	(void)arena;
	(void)error;
	while (example->name != NULL && !str_equal(str_from_c(example->name), name))
		example++;
	*out_has = example->name != NULL;
	if (*out_has)
		*out_found = (struct definition_found){
			.yaml = { (const char *)example->bytes, example->size }, .path = S("")
		};
	return true;
}

static source_find *const sources[DEFINITION_SOURCES] = {
	[DEFINITION_STORED] = find_stored,
	[DEFINITION_FILE] = find_file,
	[DEFINITION_PROJECT] = find_project,
	[DEFINITION_PACKED] = find_packed,
};

bool definition_registry_find(struct definition_registry *registry, struct store_reader *reader,
			      struct str name, struct arena *arena,
			      struct definition_found *out_found, struct error *error)
{
	struct definition_found first = { 0 }, other;
	bool found = false, has = false;
	struct error ignored;
	for (int source = 0; is_plain(name) && source < DEFINITION_SOURCES; source++) {
		if (found) { /* an error of a shadowed source changes nothing */
			first.shadows[source] = sources[source](registry, reader, name, arena,
								&other, &has, &ignored) &&
						has;
			continue;
		}
		if (!sources[source](registry, reader, name, arena, &first, &has, error))
			return false;
		found = has;
		first.source = (enum definition_source)source;
	}
	if (!found)
		return fail(error, ERROR_NOT_FOUND,
			    "there is no workflow called " STR_FMT
			    "; create it with baton workflow new, or in the data folder as "
			    "definitions/NAME.yaml",
			    STR_ARG(str_head(name, LIMIT_NAME_BYTES)));
	first.hash = hash_of(first.yaml);
	*out_found = first;
	return true;
}

/* ---- names --------------------------------------------------------------------------- */

struct name_list {
	struct arena *arena;
	struct str *at;
	size_t count, room;
};

static void add_name(struct name_list *list, struct str name)
{
	if (list->count < list->room)
		list->at[list->count++] = name;
}

static void add_files(struct name_list *list, const char *folder, size_t limit)
{
	struct str_list files = machine_names(folder, limit, list->arena);
	size_t at;
	for (size_t i = 0; i < files.count; i++)
		if (str_ends(files.at[i], S(".yaml")) && utf8_valid(files.at[i], &at))
			add_name(list, str_head(files.at[i], files.at[i].size - 5));
}

static void add_stored(struct name_list *list, struct store_reader *reader)
{
	struct store_document_page page = { .count = LIMIT_PAGE_ITEMS };
	struct str after = S("");
	struct error error;
	while (page.count == LIMIT_PAGE_ITEMS &&
	       reader->ops->list_documents(reader, document_kind_name(DOCUMENT_DEFINITION), after,
					   LIMIT_PAGE_ITEMS, list->arena, &page, &error))
		for (size_t i = 0; i < page.count; i++) {
			after = page.at[i].name;
			add_name(list, page.at[i].name);
		}
}

static void add_projects(struct name_list *list, struct store_reader *reader)
{
	struct store_document_page page;
	struct error error;
	if (!list_projects(reader, list->arena, &page, &error))
		return;
	for (size_t i = 0; i < page.count; i++) {
		const struct run_project *project = document_read_stored(
			DOCUMENT_PROJECT, page.at[i].body, list->arena, &error);
		for (size_t k = 0; project != NULL && k < project->workflows.count; k++)
			add_name(list, project->workflows.at[k].key);
	}
}

static int compare_names(const void *one, const void *other)
{
	return str_compare(*(const struct str *)one, *(const struct str *)other);
}

struct str_list definition_registry_names(struct definition_registry *registry,
					  struct store_reader *reader, size_t limit,
					  struct arena *arena)
{
	struct name_list list = { .arena = arena,
				  .room = limit + LIMIT_DOCUMENTS +
					  LIMIT_PROJECTS * LIMIT_PROJECT_WORKFLOWS };
	size_t kept = 0;
	list.at = arena_array(arena, struct str, list.room);
	add_files(&list, str_format(arena, "%s/definitions", registry->data_folder).at, limit);
	for (const struct packed_file *example = registry->examples; example->name != NULL;
	     example++)
		add_name(&list, str_from_c(example->name));
	add_stored(&list, reader);
	add_projects(&list, reader);
	qsort(list.at, list.count, sizeof(*list.at), compare_names);
	for (size_t i = 0; i < list.count; i++)
		if (kept == 0 || !str_equal(list.at[kept - 1], list.at[i]))
			list.at[kept++] = list.at[i];
	return (struct str_list){ list.at, kept < limit ? kept : limit };
}

/* ---- versions ------------------------------------------------------------------------ */

bool definition_registry_versions(struct store_reader *reader, struct str name, int64_t before,
				  size_t limit, struct arena *arena,
				  struct definition_versions *out_versions, struct error *error)
{
	struct store_document_page page;
	struct str prefix = str_format(arena, STR_FMT "@", STR_ARG(name));
	struct str after = before == 0 ? prefix : document_version_name(name, before, arena);
	if (!reader->ops->list_documents(reader, document_kind_name(DOCUMENT_DEFINITION_VERSION),
					 after, limit + 1, arena, &page, error))
		return false;
	const struct run_definition_version **all =
		arena_array(arena, const struct run_definition_version *, page.count);
	size_t count = 0;
	while (count < page.count && str_starts(page.at[count].name, prefix)) {
		all[count] = document_read_stored(DOCUMENT_DEFINITION_VERSION, page.at[count].body,
						  arena, error);
		if (all[count] == NULL)
			return false;
		count++;
	}
	*out_versions =
		(struct definition_versions){ all, count < limit ? count : limit, count > limit };
	return true;
}

/* ---- projects ------------------------------------------------------------------------ */

bool definition_registry_project(const char *path, struct arena *arena,
				 struct project_workflow **out_workflows, size_t *out_count,
				 struct error *error)
{
	const char *folder = str_format(arena, "%s/" PROJECT_FOLDER, path).at;
	struct name_list list = { .arena = arena, .room = LIMIT_PROJECT_WORKFLOWS + 1 };
	list.at = arena_array(arena, struct str, list.room);
	add_files(&list, folder, LIMIT_WORKFLOWS_LISTED);
	qsort(list.at, list.count, sizeof(*list.at), compare_names);
	if (list.count == 0)
		return fail(error, ERROR_NOT_FOUND,
			    "the project has no workflows: there is no file NAME.yaml in %s",
			    folder);
	if (list.count > LIMIT_PROJECT_WORKFLOWS)
		return fail(error, ERROR_TOO_LARGE, "%s has more than %d workflows", folder,
			    LIMIT_PROJECT_WORKFLOWS);
	struct project_workflow *workflows =
		arena_array(arena, struct project_workflow, list.count);
	for (size_t i = 0; i < list.count; i++) {
		struct str yaml;
		if (!file_read_confined(path,
					str_format(arena, PROJECT_FOLDER "/" STR_FMT ".yaml",
						   STR_ARG(list.at[i]))
						.at,
					LIMIT_YAML_BYTES, arena, &yaml, error))
			return false;
		workflows[i] = (struct project_workflow){ list.at[i], hash_of(yaml) };
	}
	*out_workflows = workflows;
	*out_count = list.count;
	return true;
}
