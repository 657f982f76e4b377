/* document/prompt_registry.c -- the named prompts of agents, read when they are needed.
 *
 * The first line of a default is a comment of the template language, {#- ... -#}: what the prompt is for.
 */
#include "document/prompt_registry.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/packed.h"
#include "contract/closest.h"
#include "contract/run_prompt_types.h"
#include "document/stored_document.h"

/* ---- defaults ------------------------------------------------------------------------ */

static const struct packed_file *find_packed(const struct packed_file *defaults, struct str id)
{
	for (const struct packed_file *file = defaults; file != NULL && file->name != NULL; file++)
		if (str_equal(str_from_c(file->name), id))
			return file;
	return NULL;
}

static struct str packed_text(const struct packed_file *file)
{
	return (struct str){ (const char *)file->bytes, file->size };
}

static struct str description_of(struct str text)
{
	const struct str lead = S("{#-");
	size_t end;
	if (!str_starts(text, lead) || !str_find(text, S("-#}"), &end))
		return S("");
	return str_trim(str_head(str_skip(text, lead.size), end - lead.size));
}

static bool fill_default(const struct packed_file *defaults, struct str id,
			 struct prompt_found *out_found)
{
	const struct packed_file *file = find_packed(defaults, id);
	*out_found = (struct prompt_found){ .content = S(""), .description = S("") };
	if (file == NULL)
		return false;
	out_found->content = packed_text(file);
	out_found->has_default = true;
	out_found->description = description_of(out_found->content);
	return true;
}

static bool fail_unknown(const struct packed_file *defaults, struct store_reader *reader,
			 struct str id, struct arena *arena, struct error *error)
{
	struct str_list ids;
	if (!prompt_registry_ids(defaults, reader, arena, &ids, error))
		return false;
	struct str close = closest_word(ids, id);
	id = str_head(id, LIMIT_NAME_BYTES);
	if (close.size > 0)
		return fail(error, ERROR_NOT_FOUND,
			    "there is no prompt called " STR_FMT "; did you mean " STR_FMT "?",
			    STR_ARG(id), STR_ARG(close));
	return fail(error, ERROR_NOT_FOUND,
		    "there is no prompt called " STR_FMT "; baton prompt list shows them",
		    STR_ARG(id));
}

bool prompt_registry_default(const struct packed_file *defaults, struct str id, struct arena *arena,
			     struct prompt_found *out_found, struct error *error)
{
	(void)arena;
	return fill_default(defaults, id, out_found) ||
	       fail(error, ERROR_NOT_FOUND, "prompt " STR_FMT " has no default",
		    STR_ARG(str_head(id, LIMIT_NAME_BYTES)));
}

/* ---- current versions ------------------------------------------------------------------ */

bool prompt_registry_version(struct store_reader *reader, struct str id, int64_t version,
			     struct arena *arena, const struct run_prompt_version **out_version,
			     struct error *error)
{
	const void *value;
	if (!stored_document_read(reader, DOCUMENT_PROMPT_VERSION,
				  document_version_name(id, version, arena), arena, &value, NULL,
				  error))
		return false;
	*out_version = value;
	return true;
}

bool prompt_registry_find(const struct packed_file *defaults, struct store_reader *reader,
			  struct str id, struct arena *arena, struct prompt_found *out_found,
			  struct error *error)
{
	const void *value;
	const struct run_prompt_version *version;
	struct prompt_found found;
	bool packed = fill_default(defaults, id, &found);
	if (!stored_document_read(reader, DOCUMENT_PROMPT, id, arena, &value, NULL, error))
		return false;
	const struct run_stored_prompt *stored = value;
	if (stored == NULL) {
		*out_found = found;
		return packed || fail_unknown(defaults, reader, id, arena, error);
	}
	if (!prompt_registry_version(reader, id, stored->version, arena, &version, error))
		return false;
	if (version == NULL)
		return fail(error, ERROR_STORAGE,
			    "version %lld of prompt " STR_FMT " is missing from the store",
			    (long long)stored->version, STR_ARG(id));
	found.content = version->content;
	found.version = version->version;
	found.details = version;
	*out_found = found;
	return true;
}

static int compare_ids(const void *one, const void *other)
{
	return str_compare(*(const struct str *)one, *(const struct str *)other);
}

static size_t count_packed(const struct packed_file *defaults)
{
	size_t count = 0;
	while (defaults != NULL && defaults[count].name != NULL)
		count++;
	return count;
}

bool prompt_registry_ids(const struct packed_file *defaults, struct store_reader *reader,
			 struct arena *arena, struct str_list *out_ids, struct error *error)
{
	struct str *ids = arena_array(arena, struct str, count_packed(defaults) + LIMIT_DOCUMENTS);
	size_t count = 0, kept = 0, stored = 0;
	for (; defaults != NULL && defaults[count].name != NULL; count++)
		ids[count] = str_from_c(defaults[count].name);
	struct store_document_page page = { 0 };
	struct str after = S("");
	do {
		if (!reader->ops->list_documents(reader, document_kind_name(DOCUMENT_PROMPT), after,
						 LIMIT_PAGE_ITEMS, arena, &page, error))
			return false;
		for (size_t i = 0; i < page.count && stored < LIMIT_DOCUMENTS; i++, stored++)
			ids[count++] = after = page.at[i].name;
	} while (page.count == LIMIT_PAGE_ITEMS && stored < LIMIT_DOCUMENTS);
	qsort(ids, count, sizeof(*ids), compare_ids);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || !str_equal(ids[kept - 1], ids[i]))
			ids[kept++] = ids[i];
	*out_ids = (struct str_list){ ids, kept };
	return true;
}

bool prompt_registry_versions(struct store_reader *reader, struct str id, int64_t before,
			      size_t limit, struct arena *arena,
			      struct prompt_versions *out_versions, struct error *error)
{
	struct store_document_page page;
	struct str prefix = str_format(arena, STR_FMT "@", STR_ARG(id));
	struct str after = before == 0 ? prefix : document_version_name(id, before, arena);
	if (!reader->ops->list_documents(reader, document_kind_name(DOCUMENT_PROMPT_VERSION), after,
					 limit + 1, arena, &page, error))
		return false;
	const struct run_prompt_version **all =
		arena_array(arena, const struct run_prompt_version *, page.count);
	size_t count = 0;
	while (count < page.count && str_starts(page.at[count].name, prefix)) {
		all[count] = document_read_stored(DOCUMENT_PROMPT_VERSION, page.at[count].body,
						  arena, error);
		if (all[count] == NULL)
			return false;
		count++;
	}
	*out_versions =
		(struct prompt_versions){ all, count < limit ? count : limit, count > limit };
	return true;
}
