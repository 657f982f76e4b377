/* tracker/tracker.h -- the interface of trackers: one file tracker_<name>.c and one row in trackers.def each.
 *
 * A tracker is a function from a request and the answers so far to the next HTTP request or the result:
 *
 *	locate    reads the id and finds the place: base URL, token, headers, the object's name for errors
 *	next_move the next move.  `stage` is the tracker's own, 0 at first; `reply` is the answer to the
 *	          request that it made before, NULL at first
 *
 * Both run on a reader thread and may read the disk.  next_move() sees no failed answers except the
 * status that the move accepts; tracker_fault.c turns the others into errors.
 */
#ifndef TRACKER_TRACKER_H
#define TRACKER_TRACKER_H

#include "contract/run_tracker_types.h"
#include "net/http_server.h"
#include "tracker/trackers.h"

enum { TRACKER_HEADERS = 4 };

/* A request to a tracker under way, as its own file sees it. */
struct tracker_exchange {
	struct arena *arena;
	const struct tracker_request *request;
	const struct tracker_settings *settings;
	/* Where, set by locate(). */
	struct str url;     /* without a slash at the end; "" = no HTTP */
	struct str project; /* owner/repo */
	struct str key;     /* of the issue, within the project */
	struct str subject; /* "issue acme/site#7", for errors */
	struct http_header headers[TRACKER_HEADERS];
	size_t header_count;
	/* The token, "" = none.  Set before locate(). */
	struct str token;
	const char *variable; /* that has the token, for errors */
	/* Progress. */
	int stage;
	int status;               /* of the answer */
	const struct json *reply; /* NULL = there was none */
	bool has_next;            /* the answer says that there is a next page */
	int64_t page;             /* of the newest request, from 1 on */
	void *state;              /* the tracker's own */
};

struct tracker_move {
	const char *method;        /* NULL = it has ended, with `output` */
	struct str path;           /* behind the base URL, with its query */
	const struct json *body;   /* NULL = none */
	int accept;                /* a failed status that the tracker reads itself; 0 = none */
	const struct json *output; /* NULL = nothing was found */
};

struct tracker {
	const char *name;
	const char *variable; /* with the token; NULL = it needs none */
	bool (*locate)(struct tracker_exchange *exchange, struct error *error);
	bool (*next_move)(struct tracker_exchange *exchange, struct tracker_move *out_move,
			  struct error *error);
};

const struct tracker *tracker_of(enum pipeline_profile_tracker tracker);

/* ---- for trackers ------------------------------------------------------------------------ */

/* Percent-encodes all but letters, digits and -._~ */
struct str tracker_escape(struct arena *arena, struct str text);
/* GET of the path; the stage becomes `stage`. */
bool tracker_get(struct tracker_exchange *exchange, int stage, struct str path,
		 struct tracker_move *out_move);
/* GET of a page of a list: adds per_page and page to the path, which has a query. */
bool tracker_get_page(struct tracker_exchange *exchange, int stage, int64_t page, struct str path,
		      struct tracker_move *out_move);
bool tracker_send(struct tracker_exchange *exchange, int stage, const char *method, struct str path,
		  const struct json *body, struct tracker_move *out_move);
bool tracker_end(const struct json *output, struct tracker_move *out_move);
/* The answer has not the form that it should have. */
bool tracker_fail_form(const struct tracker_exchange *exchange, const char *what,
		       struct error *error);
/* Changes need a token: CONFIGURATION, naming the variable, without one. */
MUST_CHECK bool tracker_need_token(const struct tracker_exchange *exchange, struct error *error);
/* The comment's text with the hidden marker behind it, as an HTML comment of Markdown. */
struct str tracker_marked(struct arena *arena, struct str text, struct str marker);
bool tracker_has_marker(struct str text, struct str marker);
/* The text up to `most` bytes, whole characters. */
struct str tracker_shorten(struct str text, size_t most, bool *out_truncated);
struct str tracker_id_text(struct arena *arena, const struct json *id); /* a number or a text */
/* Without slashes at its end. */
struct str tracker_base_url(struct str url);
/* INVALID unless it is a project; `most` is the number of names that it can have, 0 = any. */
MUST_CHECK bool tracker_is_project(struct str project, size_t most, struct error *error);
/* An object for a request: these members, and the flag if it is set. */
struct tracker_member {
	struct str name, value;
};
struct tracker_flag {
	struct str name;
	bool set;
};
const struct json *tracker_object(struct arena *arena, const struct tracker_member *members,
				  size_t count, const struct tracker_flag *flag);
/* The issues of a list so far; `state` of the exchange holds them. */
struct tracker_issues {
	struct run_issue *items;
	size_t count;
};
struct tracker_issues *tracker_issues(struct tracker_exchange *exchange, size_t most);
bool tracker_end_issues(const struct tracker_exchange *exchange, struct tracker_move *out_move);
/* The comment of a list whose body has the marker; NULL = none. */
const struct json *tracker_find_marked(const struct json *list, struct str marker);
bool tracker_fail_pages(struct error *error);
/* What a refused request says, as a text of C. */
char *tracker_refusal(const struct tracker_exchange *exchange);
/* The texts of a list, or of this member of its objects. */
struct str_list tracker_names(struct arena *arena, const struct json *list, struct str member);
/* owner/repo of the remote origin of its repository. */
MUST_CHECK bool tracker_project(const struct tracker_exchange *exchange, struct str *out_project,
				struct error *error);

/* ---- failed answers (tracker_fault.c) -------------------------------------------------------- */

struct tracker_fault {
	const struct tracker *tracker;
	struct str host, subject;
	bool has_token;
	int status;
	struct str body; /* the beginning of it */
	const struct http_header *headers;
	size_t header_count;
	int64_t now_us; /* wall clock */
};
/* What the tracker says in a failed answer, on one line; "" = nothing readable. */
struct str tracker_fault_message(struct str body, struct arena *arena);
/* The error of an answer with a status of 400 or more; returns how long to wait before a retry. */
int64_t tracker_fault_error(const struct tracker_fault *fault, struct error *error);

#endif
