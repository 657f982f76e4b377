/* keeper/keeper.h -- the parts of the keeper, the first process of every sandbox; private to keeper.
 *
 * The keeper is a small static program that baton carries inside itself (sandbox/keeper_file.h).
 * bubblewrap builds the namespaces and the mounts, then executes the keeper as process 1:
 *
 *	keeper OPTION... -- COMMAND...
 *
 *	lifeline=N        descriptor whose end of file means that the server is dead
 *	status=N          descriptor to which the keeper writes KEEPER_STARTED before the command begins,
 *	                  and what its processes used when it has ended; the command does not get it
 *	self=N            descriptor of the keeper's own file
 *	oom=N             oom_score_adj of the keeper and of everything it starts
 *	core|fsize|data|nproc=N   resource limits; a lower limit of the system stays
 *	landlock=W        off, auto (if the kernel has it) or required
 *	seccomp=W         the same
 *	write=PATH        a place where the command may write; for Landlock, repeatable
 *	proxy=PORT:N      listen on 127.0.0.1:PORT and send each accepted connection, as a descriptor, to
 *	                  the server through the socket N
 *
 * In this order the keeper lowers its limits, restricts itself with Landlock and seccomp, and starts the
 * command, which inherits all of it.  It exits with the command's status (128 + signal when a signal
 * ended it), or with 125 when the lifeline closes; as process 1 it takes every other process along.
 *
 * A layer that cannot be applied although the kernel has it, or that is required and missing, ends the
 * keeper before the command starts: KEEPER_STARTED is not written, and the last line of stderr says why.
 *
 * The keeper shares no code with baton: whatever it calls is in this folder or in the C library.
 */
#ifndef KEEPER_KEEPER_H
#define KEEPER_KEEPER_H

#include <stdbool.h>
#include <stddef.h>

enum keeper_layer { KEEPER_OFF, KEEPER_AUTO, KEEPER_REQUIRED };

enum {
	KEEPER_PLACES = 32,
	KEEPER_EXIT = 125,
};

/* What sandbox_was_built() looks for in the status file. */
#define KEEPER_STARTED "{\"keeper\":\"started\"}\n"

struct keeper {
	int lifeline, status, self; /* -1 = none */
	const char *oom;            /* NULL = unchanged */
	enum keeper_layer landlock, seccomp;
	const char *places[KEEPER_PLACES];
	size_t place_count;
	int proxy_port; /* 0 = none */
	int proxy_line;
	char **command;
};

/* Ends the keeper; the text says what could not be done. */
_Noreturn void keeper_die(const char *what, const char *which, int number);

/* The highest Landlock version of the kernel; 0 = none. */
int keeper_landlock_version(void);
void keeper_landlock(const struct keeper *keeper);
bool keeper_seccomp_available(void);
void keeper_seccomp(const struct keeper *keeper);

/* Listens for connections to the proxy; returns the socket, or -1 when there is no proxy. */
int keeper_proxy_listen(const struct keeper *keeper);
/* Accepts one connection and hands it to the server; one that the server has no room for is closed. */
void keeper_proxy_accept(const struct keeper *keeper, int listener);

#endif
