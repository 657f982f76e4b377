/* net/connect_proxy.h -- the only way from a sandbox to the network: a proxy with a list of hosts.
 *
 * A sandboxed command has a network of its own with nothing but loopback.  Its keeper listens there and
 * sends every connection, as a descriptor, through a line to this process (keeper/keeper_proxy.c).  The
 * proxy reads one request from it (connect_request.h), checks the host against the rules and every address
 * that the name resolves to against net/address.h, connects, and copies bytes in both directions.  A line has
 * the rules of the settings or rules of its own, which replace them.
 *
 * Only public addresses are reached, and the private ones of the settings; never our own port on an
 * address of this machine.  A refusal is answered with 403 and told to `refused`.
 *
 * Bounds: PROXY_CONNECTIONS in all and PROXY_LINE_CONNECTIONS of one command at once, PROXY_HEAD_MS,
 * PROXY_CONNECT_MS, PROXY_IDLE_MS, PROXY_MB of bytes of one connection, PROXY_QUEUE_BYTES waiting in memory
 * for a slow reader.
 *
 * Threads: the loop's.
 */
#ifndef NET_CONNECT_PROXY_H
#define NET_CONNECT_PROXY_H

#include "base/error.h"
#include "os/loop.h"

struct connect_proxy;
struct connect_rules;

/* Whose line it is; the texts and the rules are copied. */
struct connect_proxy_user {
	struct str run, step; /* empty = of no run: a process that serves many */
	struct str tool;
	const struct connect_rules *hosts; /* that it may reach; NULL = those of the settings */
};

struct connect_proxy_refusal {
	const struct connect_proxy_user *user;
	struct str host; /* empty = the request was not understood */
	int port;
	const char *why;
};

struct connect_proxy_settings {
	struct loop *loop;
	struct str_list hosts;             /* the rules */
	struct str_list private_addresses; /* that may be reached in addition to public ones */
	void (*refused)(void *context, const struct connect_proxy_refusal *refusal);
	void *context;
};

/* Fails with INVALID when a rule or an address cannot be read. */
MUST_CHECK bool connect_proxy_new(const struct connect_proxy_settings *settings,
				  struct connect_proxy **out_proxy, struct error *error);
/* Sets the port of our own server. */
void connect_proxy_set_own_port(struct connect_proxy *proxy, int port);
/* Call before loop_free(). */
void connect_proxy_free(struct connect_proxy *proxy);

/* Opens a line for one command.  The child inherits *out_descriptor; the caller closes it after the child
 * has started.  The line ends when the last process that has it is dead, or by connect_proxy_close(). */
MUST_CHECK bool connect_proxy_open(struct connect_proxy *proxy,
				   const struct connect_proxy_user *user, int *out_descriptor,
				   uint64_t *out_line, struct error *error);
/* Closes a line and its connections; does nothing when it has ended. */
void connect_proxy_close(struct connect_proxy *proxy, uint64_t line);

/* Of this process, since it started. */
struct connect_proxy_counts {
	uint64_t connections, refusals, bytes;
};
struct connect_proxy_counts connect_proxy_counts(void);

#endif
