/* base/log.h -- narration on stderr, one line an entry.
 *
 * Only the edges log (api, cli, runtime, main); library rooms return errors.  Human form for a
 * terminal, JSON lines when asked.  Values are escaped so that a line stays a line.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/str.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR, LOG_SILENT };

struct log_settings {
	enum log_level least;
	bool json;
};

void log_setup(struct log_settings settings);
void log_line(enum log_level level, const char *format, ...) PRINTF_LIKE(2, 3);
/* The same about a run: its id (plain text) stands in front, and in JSON as `run_id`, so that the
 * lines of one run can be found among all others. */
void log_run(enum log_level level, struct str run_id, const char *format, ...) PRINTF_LIKE(3, 4);

/* The same with fields beside the text: members of the object in JSON, in brackets behind the text
 * for a person.  An empty value is left out, a long one cut. */
struct log_field {
	const char *name;
	struct str value;
};
void log_with(enum log_level level, const struct log_field *fields, size_t count,
	      const char *format, ...) PRINTF_LIKE(4, 5);

#endif
