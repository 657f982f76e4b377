/* escape/escape.h -- the escape kit: a program that tries to get out of the sandbox it runs in; private to escape.
 *
 * `baton doctor sandbox` runs it as a sandboxed command:
 *
 *	escape NAME=VALUE...       what the doctor has prepared outside (struct escape)
 *
 * Each probe is a row of probes.def and a function.  It runs in a process of its own and is ended after
 * ESCAPE_SECONDS.  The kit prints one line for each, separated by tabs: name, held|escaped|absent, text.
 * A probe that a signal ended was held.  A probe does no harm even if it gets out: it opens, and does
 * not write, what belongs to the machine, and writes only where the doctor has prepared a place.
 */
#ifndef ESCAPE_ESCAPE_H
#define ESCAPE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

enum escape_result {
	ESCAPE_HELD,
	ESCAPE_ESCAPED,
	ESCAPE_ABSENT, /* this machine has no such thing, so it proves nothing */
};

enum { ESCAPE_SECONDS = 20, ESCAPE_TEXT = 200 };

struct escape {
	const char *secret;   /* a file outside */
	const char *outside;  /* a folder outside that everybody may write to */
	const char *data;     /* the data folder */
	const char *abstract; /* name of a Unix socket outside, without the leading NUL */
	const char *canary;   /* text that the environment of the doctor contains */
	long server;          /* a process outside */
	int port;             /* where a server outside listens on 127.0.0.1 */
	int self;             /* descriptor of the kit's own file */
	long long processes, memory, file, room; /* the limits; 0 = not enforced by the kernel */
	char *text;                              /* what the probe has to say, ESCAPE_TEXT bytes */
};

/* Sets the text and returns the result. */
enum escape_result escape_say(const struct escape *escape, enum escape_result result,
			      const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A system call that must fail: held if it fails, with errno as the text. */
enum escape_result escape_refused(const struct escape *escape, long returned);
/* ABSENT if the call failed because it does not exist, otherwise as escape_refused(). */
enum escape_result escape_refused_or_absent(const struct escape *escape, long returned);
/* Opening must fail. */
enum escape_result escape_open(const struct escape *escape, const char *path, int flags);

#define PROBE(name, text) enum escape_result escape_##name(const struct escape *escape);
#include "escape/probes.def"
#undef PROBE

#endif
