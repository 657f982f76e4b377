/* workspace/file_changes.c -- reads what changes.sh prints.
 *
 * Paths are bytes of the outside world: what is not UTF-8 becomes a replacement character, so that a path
 * can be stored and shown. */
#include "workspace/file_changes.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "contract/run_log_types.h"

/* Takes what is before the separator; false when there is none. */
static bool take(struct str *text, char separator, struct str *out)
{
	for (size_t i = 0; i < text->size; i++) {
		if (text->at[i] != separator)
			continue;
		*out = str_head(*text, i);
		*text = str_skip(*text, i + 1);
		return true;
	}
	return false;
}

static struct str path_text(struct str path, struct arena *arena)
{
	AUTO(buf) text = { 0 };
	size_t bad;
	if (utf8_valid(path, &bad))
		return str_copy(arena, path);
	while (path.size > 0) {
		uint32_t character;
		size_t size = utf8_decode(path, &character);
		buf_add(&text, size > 0 ? str_head(path, size) : S("\xEF\xBF\xBD"));
		path = str_skip(path, size > 0 ? size : 1);
	}
	return str_copy(arena, buf_str(&text));
}

/* ":MODE MODE OBJECT OBJECT STATUS": the new object and the status. */
static bool read_head(struct str head, struct str *out_object, char *out_status)
{
	struct str word;
	if (!str_starts(head, S(":")) || !take(&head, ' ', &word) || !take(&head, ' ', &word) ||
	    !take(&head, ' ', &word) || !take(&head, ' ', out_object) || head.size == 0)
		return false;
	*out_status = head.at[0];
	return out_object->size > 0;
}

static struct run_file_change change_of(struct str path, char status, struct str object,
					int64_t size, struct arena *arena)
{
	struct run_file_change *change = run_file_change_new(arena);
	SET(change, path, path_text(path, arena));
	SET(change, change,
	    status == 'A'   ? RUN_FILE_CREATED
	    : status == 'D' ? RUN_FILE_DELETED
			    : RUN_FILE_MODIFIED);
	if (status == 'D')
		return *change;
	SET(change, object, str_copy(arena, object));
	if (size >= 0)
		SET(change, size, size);
	return *change;
}

const struct run_file_changes *file_changes_read(struct str text, struct arena *arena)
{
	struct str line, head, path, object;
	int64_t total, bytes = 0;
	char status;
	if (!str_starts(text, S("changed ")))
		return NULL;
	if (!take(&text, '\n', &line)) {
		line = text;
		text = S("");
	}
	if (!str_to_int(str_skip(line, 8), &total) || total <= 0)
		return NULL;
	size_t most = total < LIMIT_RECORDED_FILES ? (size_t)total : LIMIT_RECORDED_FILES;
	size_t count = 0, sized = 0;
	int64_t *sizes = arena_array(arena, int64_t, most);
	for (; sized < most && take(&text, '\n', &line); sized++)
		if (!str_to_int(line, &sizes[sized]) || sizes[sized] < 0)
			sizes[sized] = -1;
	struct run_file_change *at = arena_array(arena, struct run_file_change, most);
	while (count < sized && take(&text, '\0', &head) && take(&text, '\0', &path) &&
	       read_head(head, &object, &status) && path.size > 0 &&
	       (bytes += (int64_t)path.size) <= LIMIT_RECORDED_FILES_BYTES) {
		at[count] = change_of(path, status, object, sizes[count], arena);
		count++;
	}
	struct run_file_changes *changes = run_file_changes_new(arena);
	SET(changes, files, ((struct run_file_change_list){ at, count }));
	if (total > (int64_t)count)
		SET(changes, left_out, total - (int64_t)count);
	return changes;
}
