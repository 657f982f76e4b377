/* base/log.h -- log lines on stderr.
 *
 * Only runtime, api, cli and main log; library code returns errors.  Lines are plain text, or JSON
 * objects when log_settings.json is set.  Control characters are escaped, so every entry is exactly
 * one line.  log_setup() is called once, before other threads start; any thread may log.
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
/* A line about a run: the run's id precedes the text, or is the member `run_id` in JSON. */
void log_run(enum log_level level, struct str run_id, const char *format, ...) PRINTF_LIKE(3, 4);

/* A line with fields: in parentheses behind the text, or members of the object in JSON.  Fields
 * with an empty value are omitted; long values are truncated. */
struct log_field {
	const char *name;
	struct str value;
};
void log_with(enum log_level level, const struct log_field *fields, size_t count,
	      const char *format, ...) PRINTF_LIKE(4, 5);

#endif
