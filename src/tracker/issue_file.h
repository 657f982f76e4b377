/* tracker/issue_file.h -- an issue as a Markdown file.
 *
 * Pure.
 *
 *	---
 *	title: add() subtracts        optional: else the first heading, else the file's name
 *	status: open                  optional
 *	labels: [bug, urgent]         optional, a list or a text with commas
 *	---
 *	# add() subtracts
 *
 *	The description.
 *
 *	<!-- baton comment 5b0c… -->  comments follow
 */
#ifndef TRACKER_ISSUE_FILE_H
#define TRACKER_ISSUE_FILE_H

#include "base/error.h"

struct issue_file {
	struct str title, status, description;
	struct str_list labels;
};

/* `name` is that of the file, for the title and for errors: SYNTAX or INVALID, with the line. */
MUST_CHECK bool issue_file_read(struct str text, struct str name, struct arena *arena,
				struct issue_file *out_issue, struct error *error);
/* The number at the beginning of the file's name; false if it is no issue (NNN-title.md). */
bool issue_file_number(struct str name, int64_t *out_number);
/* The comment as it is appended to a file. */
struct str issue_file_comment(struct arena *arena, struct str text, struct str marker);
bool issue_file_has_comment(struct str text, struct str marker);

#endif
