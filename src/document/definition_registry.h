/* document/definition_registry.h -- workflow definitions by name, from every source.
 *
 * The sources, in the order of precedence: stored through the API (documents, with versions), files
 * in the data folder (definitions/NAME.yaml), trusted projects (.baton/workflows/NAME.yaml), and the
 * examples that are packed into the program.  The first source that has the name is used; the others
 * are shadowed.
 *
 *	struct definition_registry *registry = definition_registry_new(data_folder, packed_examples);
 *	definition_registry_watch(registry, documents);
 *
 * A project is inert until an admin has trusted it: a document holds the hash of each approved text,
 * and a file with another text is not used.
 *
 * Functions with a reader run on a reader thread; results live in the arena.
 */
#ifndef DOCUMENT_DEFINITION_REGISTRY_H
#define DOCUMENT_DEFINITION_REGISTRY_H

#include "base/sha256.h"
#include "os/confined_path.h"
#include "store/store.h"

struct definition_registry;
struct documents;
struct packed_file;
struct run_definition_version;

enum definition_source {
	DEFINITION_STORED,
	DEFINITION_FILE,
	DEFINITION_PROJECT,
	DEFINITION_PACKED,
	DEFINITION_SOURCES,
};

struct str definition_source_name(enum definition_source source); /* "stored" */

struct definition_found {
	struct str yaml;
	enum definition_source source;
	struct hash hash; /* of the text */
	struct str path;  /* FILE: relative to the data folder; PROJECT: whole; else "" */
	int64_t version;  /* STORED; else 0 */
	int64_t saved_at; /* STORED */
	struct str saved_by;
	bool shadows[DEFINITION_SOURCES]; /* further sources that have the name */
};

struct definition_registry *definition_registry_new(const char *data_folder,
						    const struct packed_file *examples);
void definition_registry_free(struct definition_registry *registry);
/* Keeps track of which definitions are stored; once, on the loop's thread. */
void definition_registry_watch(struct definition_registry *registry, struct documents *documents);

/* NOT_FOUND when no source has the name; FORBIDDEN when a project is the first to have it and its
 * file is not the trusted one. */
MUST_CHECK bool definition_registry_find(struct definition_registry *registry,
					 struct store_reader *reader, struct str name,
					 struct arena *arena, struct definition_found *out_found,
					 struct error *error);
/* The names of all sources, sorted, at most `limit`. */
struct str_list definition_registry_names(struct definition_registry *registry,
					  struct store_reader *reader, size_t limit,
					  struct arena *arena);
/* Identifies the text of the definition without reading it: while the signature stays the same, so
 * does the text.  False: unknown.  On any thread. */
bool definition_registry_signature(struct definition_registry *registry, struct str name,
				   struct file_signature *out_signature);

/* One version of a stored definition.  *out_version is NULL when it does not exist. */
MUST_CHECK bool definition_registry_version(struct store_reader *reader, struct str name,
					    int64_t version, struct arena *arena,
					    const struct run_definition_version **out_version,
					    struct error *error);

struct definition_versions {
	const struct run_definition_version **at; /* newest first */
	size_t count;
	bool more;
};
/* The versions before `before`, of which 0 is the end; at most `limit`. */
MUST_CHECK bool definition_registry_versions(struct store_reader *reader, struct str name,
					     int64_t before, size_t limit, struct arena *arena,
					     struct definition_versions *out_versions,
					     struct error *error);

/* The workflows in the folder of a project with the hashes of their texts, trusted or not; sorted.
 * Fails when the folder has none, too many, or one that cannot be read. */
struct project_workflow {
	struct str name;
	struct hash hash;
};
MUST_CHECK bool definition_registry_project(const char *path, struct arena *arena,
					    struct project_workflow **out_workflows,
					    size_t *out_count, struct error *error);

#endif
