/* net/connect_proxy.c -- lines of sandboxed commands, and the connections that arrive on them.
 *
 * A tunnel is one connection of a command.  Its memory lives until its last handle is closed and its
 * lookup has ended; its id is released earlier, by tunnel_close().
 */
#include "net/connect_proxy.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/slots.h"
#include "net/address.h"
#include "net/connect_request.h"

enum { READ_BYTES = 65536, TRIES = 4, MB = 1048576 };

struct connect_proxy {
	struct connect_proxy_settings settings;
	struct arena arena;
	struct connect_rules rules;
	struct address_range *private_ranges;
	size_t private_count;
	int own_port;
	struct slots lines, tunnels;
	char bytes[READ_BYTES]; /* of the read in progress */
};

struct line {
	struct connect_proxy *proxy;
	uint64_t id;
	uv_pipe_t pipe; /* descriptors of connections arrive here */
	struct arena arena;
	struct connect_proxy_user user;
	struct connect_rules rules; /* its own, if user.hosts is not NULL */
	size_t connections;
	char byte[64];
};

/* One end of a tunnel. */
struct end {
	uv_tcp_t tcp;
	bool open, paused, ended; /* paused: the other end is slow; ended: it sends no more */
};

struct tunnel {
	struct connect_proxy *proxy;
	uint64_t id, line, timer; /* id 0 = closed */
	struct end client, server;
	uv_getaddrinfo_t lookup;
	uv_connect_t connect;
	struct buf head, forward;
	struct arena arena;
	struct connect_request request;
	struct sockaddr_storage addresses[TRIES];
	size_t address_count, next_address;
	bool copies, active; /* connected; bytes moved since the timer was set */
	bool answered;       /* by us: it closes when that is written */
	uint64_t bytes;
	unsigned pending; /* handles and requests that still refer to it */
};

static atomic_uint_least64_t counted_connections, counted_refusals, counted_bytes;

struct connect_proxy_counts connect_proxy_counts(void)
{
	return (struct connect_proxy_counts){ atomic_load(&counted_connections),
					      atomic_load(&counted_refusals),
					      atomic_load(&counted_bytes) };
}

/* ---- the end of a tunnel ------------------------------------------------------------------ */

static void tunnel_release(struct tunnel *tunnel)
{
	if (--tunnel->pending > 0)
		return;
	buf_done(&tunnel->head);
	buf_done(&tunnel->forward);
	arena_done(&tunnel->arena);
	free(tunnel);
}

static void handle_closed(uv_handle_t *handle)
{
	tunnel_release(handle->data);
}

static void end_close(struct end *end)
{
	if (!end->open)
		return;
	end->open = false;
	uv_close((uv_handle_t *)&end->tcp, handle_closed);
}

static void tunnel_close(struct tunnel *tunnel)
{
	struct connect_proxy *proxy = tunnel->proxy;
	if (tunnel->id == 0)
		return;
	struct line *line = slots_get(&proxy->lines, tunnel->line);
	if (line != NULL)
		line->connections--;
	slots_remove(&proxy->tunnels, tunnel->id);
	platform_timer_stop(loop_platform(proxy->settings.loop), tunnel->timer);
	tunnel->id = 0;
	tunnel->pending++; /* until this function has done */
	end_close(&tunnel->client);
	end_close(&tunnel->server);
	tunnel_release(tunnel);
}

static void timer_fired(void *context, uint64_t id);

static void timer_set(struct tunnel *tunnel, int64_t ms)
{
	struct platform *platform = loop_platform(tunnel->proxy->settings.loop);
	platform_timer_stop(platform, tunnel->timer);
	tunnel->active = false;
	tunnel->timer =
		platform_timer_start(platform, ms * 1000, timer_fired, tunnel->proxy, tunnel->id);
}

/* ---- answers --------------------------------------------------------------------------------- */

struct message {
	uv_write_t write; /* first member */
	struct tunnel *tunnel;
	bool last; /* the tunnel closes when it is written */
	char bytes[];
};

static void message_written(uv_write_t *request, int status);

static bool send_bytes(struct tunnel *tunnel, struct end *to, struct str bytes, bool last)
{
	struct message *message = malloc(sizeof(*message) + bytes.size);
	require(message != NULL);
	message->tunnel = tunnel;
	message->last = last;
	memcpy(message->bytes, bytes.at, bytes.size);
	uv_buf_t buffer = uv_buf_init(message->bytes, (unsigned int)bytes.size);
	if (uv_write(&message->write, (uv_stream_t *)&to->tcp, &buffer, 1, message_written) != 0) {
		free(message);
		return false;
	}
	tunnel->pending++;
	return true;
}

static void answer(struct tunnel *tunnel, const char *status, const char *why)
{
	AUTO(arena) arena = { 0 };
	struct str text = str_format(&arena, "baton: %s\n", why);
	struct str whole = str_format(&arena,
				      "HTTP/1.1 %s\r\nContent-Type: text/plain\r\n"
				      "Content-Length: %zu\r\nConnection: close\r\n\r\n" STR_FMT,
				      status, text.size, STR_ARG(text));
	uv_read_stop((uv_stream_t *)&tunnel->client.tcp);
	tunnel->answered = true;
	end_close(&tunnel->server);
	if (!send_bytes(tunnel, &tunnel->client, whole, true))
		tunnel_close(tunnel);
}

static void refuse(struct tunnel *tunnel, const char *status, const char *why)
{
	struct connect_proxy *proxy = tunnel->proxy;
	struct line *line = slots_get(&proxy->lines, tunnel->line);
	const struct connect_proxy_user nobody = { 0 };
	const struct connect_proxy_refusal refusal = {
		.user = line != NULL ? &line->user : &nobody,
		.host = tunnel->request.host,
		.port = tunnel->request.port,
		.why = why,
	};
	atomic_fetch_add(&counted_refusals, 1);
	if (proxy->settings.refused != NULL)
		proxy->settings.refused(proxy->settings.context, &refusal);
	answer(tunnel, status, why);
}

static void timer_fired(void *context, uint64_t id)
{
	struct connect_proxy *proxy = context;
	struct tunnel *tunnel = slots_get(&proxy->tunnels, id);
	if (tunnel == NULL)
		return;
	if (tunnel->copies && tunnel->active)
		timer_set(tunnel, LIMIT_PROXY_IDLE_MS);
	else if (tunnel->copies || tunnel->answered || tunnel->request.host.size == 0)
		tunnel_close(tunnel);
	else
		answer(tunnel, "504 Gateway Timeout", "the host did not answer in time");
}

/* ---- copying ------------------------------------------------------------------------------- */

static void copy_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *room);

static void room_give(uv_handle_t *handle, size_t wanted, uv_buf_t *out_room)
{
	struct tunnel *tunnel = handle->data;
	(void)wanted;
	*out_room = uv_buf_init(tunnel->proxy->bytes, READ_BYTES);
}

static struct end *other_end(struct tunnel *tunnel, const struct end *end)
{
	return end == &tunnel->client ? &tunnel->server : &tunnel->client;
}

/* The reader has caught up: its writer may go on. */
static void message_written(uv_write_t *request, int status)
{
	struct message *message = (struct message *)request;
	struct tunnel *tunnel = message->tunnel;
	struct end *to = (struct end *)(void *)request->handle, *from;
	bool last = message->last;
	free(message);
	if (tunnel->id != 0 && (last || status < 0)) {
		tunnel_close(tunnel);
	} else if (tunnel->id != 0 && tunnel->copies) {
		from = other_end(tunnel, to);
		if (from->paused && !from->ended &&
		    to->tcp.write_queue_size <= LIMIT_PROXY_QUEUE_BYTES / 2) {
			from->paused = false;
			uv_read_start((uv_stream_t *)&from->tcp, room_give, copy_read);
		}
	}
	tunnel_release(tunnel);
}

struct farewell {
	uv_shutdown_t shutdown; /* first member */
	struct tunnel *tunnel;
};

static void shut_down(uv_shutdown_t *request, int status)
{
	struct tunnel *tunnel = ((struct farewell *)request)->tunnel;
	(void)status;
	free(request);
	if (tunnel->id != 0 && tunnel->client.ended && tunnel->server.ended)
		tunnel_close(tunnel);
	tunnel_release(tunnel);
}

/* One end sends no more; the other one is told, behind what is on its way. */
static void end_of_bytes(struct tunnel *tunnel, struct end *from)
{
	struct farewell *farewell = calloc(1, sizeof(*farewell));
	require(farewell != NULL);
	farewell->tunnel = tunnel;
	from->ended = true;
	uv_read_stop((uv_stream_t *)&from->tcp);
	if (uv_shutdown(&farewell->shutdown, (uv_stream_t *)&other_end(tunnel, from)->tcp,
			shut_down) != 0) {
		free(farewell);
		tunnel_close(tunnel);
		return;
	}
	tunnel->pending++;
}

static void copy_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *room)
{
	struct tunnel *tunnel = stream->data;
	struct end *from = (struct end *)(void *)stream, *to = other_end(tunnel, from);
	if (tunnel->id == 0 || size == 0)
		return;
	if (size == UV_EOF) {
		end_of_bytes(tunnel, from);
		return;
	}
	if (size < 0) {
		tunnel_close(tunnel);
		return;
	}
	tunnel->active = true;
	tunnel->bytes += (uint64_t)size;
	atomic_fetch_add(&counted_bytes, (uint64_t)size);
	if (tunnel->bytes > (uint64_t)LIMIT_PROXY_MB * MB) {
		limit_hit(REJECTION_PROXY_MB);
		tunnel_close(tunnel);
		return;
	}
	if (!send_bytes(tunnel, to, (struct str){ room->base, (size_t)size }, false)) {
		tunnel_close(tunnel);
		return;
	}
	if (to->tcp.write_queue_size > LIMIT_PROXY_QUEUE_BYTES) {
		from->paused = true;
		uv_read_stop(stream);
	}
}

/* Connected: what the command has sent behind the head is the host's. */
static void copy_begin(struct tunnel *tunnel)
{
	size_t end = connect_head_end(buf_str(&tunnel->head));
	struct str rest = str_skip(buf_str(&tunnel->head), end);
	bool good = true;
	tunnel->copies = true;
	if (tunnel->request.tunnel)
		good = send_bytes(tunnel, &tunnel->client,
				  S("HTTP/1.1 200 Connection established\r\n\r\n"), false);
	else
		good = send_bytes(tunnel, &tunnel->server, buf_str(&tunnel->forward), false);
	if (good && rest.size > 0)
		good = send_bytes(tunnel, &tunnel->server, rest, false);
	if (!good || uv_read_start((uv_stream_t *)&tunnel->client.tcp, room_give, copy_read) != 0 ||
	    uv_read_start((uv_stream_t *)&tunnel->server.tcp, room_give, copy_read) != 0)
		tunnel_close(tunnel);
	else
		timer_set(tunnel, LIMIT_PROXY_IDLE_MS);
}

/* ---- connecting ------------------------------------------------------------------------------ */

static void connect_next(struct tunnel *tunnel);

static void failed_closed(uv_handle_t *handle)
{
	struct tunnel *tunnel = handle->data;
	if (tunnel->id != 0 && !tunnel->answered)
		connect_next(tunnel);
	tunnel_release(tunnel);
}

static void connected(uv_connect_t *request, int status)
{
	struct tunnel *tunnel = request->data;
	if (tunnel->id == 0 || tunnel->answered)
		return;
	if (status == 0) {
		copy_begin(tunnel);
		return;
	}
	tunnel->server.open = false;
	uv_close((uv_handle_t *)&tunnel->server.tcp, failed_closed);
}

static void connect_next(struct tunnel *tunnel)
{
	struct connect_proxy *proxy = tunnel->proxy;
	if (tunnel->next_address == tunnel->address_count) {
		answer(tunnel, "502 Bad Gateway", "the host cannot be reached");
		return;
	}
	struct sockaddr *address = (struct sockaddr *)&tunnel->addresses[tunnel->next_address++];
	require(uv_tcp_init(loop_uv(proxy->settings.loop), &tunnel->server.tcp) == 0);
	tunnel->server.tcp.data = tunnel;
	tunnel->server.open = true;
	tunnel->pending++;
	tunnel->connect.data = tunnel;
	if (uv_tcp_connect(&tunnel->connect, &tunnel->server.tcp, address, connected) != 0) {
		tunnel->server.open = false;
		uv_close((uv_handle_t *)&tunnel->server.tcp, failed_closed);
	}
}

static bool may_reach(const struct connect_proxy *proxy, const struct sockaddr *address)
{
	bool allowed = address_is_public(address);
	for (size_t i = 0; i < proxy->private_count && !allowed; i++)
		allowed = address_in(&proxy->private_ranges[i], address);
	return allowed && !(proxy->own_port != 0 && address_port(address) == proxy->own_port &&
			    address_is_ours(address));
}

static void looked_up(uv_getaddrinfo_t *lookup, int status, struct addrinfo *found)
{
	struct tunnel *tunnel = lookup->data;
	bool any = false;
	for (const struct addrinfo *at = found; at != NULL && tunnel->id != 0; at = at->ai_next) {
		any = true;
		if (tunnel->address_count < TRIES &&
		    at->ai_addrlen <= sizeof(struct sockaddr_storage) &&
		    may_reach(tunnel->proxy, at->ai_addr))
			memcpy(&tunnel->addresses[tunnel->address_count++], at->ai_addr,
			       at->ai_addrlen);
	}
	uv_freeaddrinfo(found);
	if (tunnel->id != 0 && !tunnel->answered) {
		if (status < 0 || !any)
			answer(tunnel, "502 Bad Gateway", "the name of the host is not known");
		else if (tunnel->address_count == 0)
			refuse(tunnel, "403 Forbidden",
			       "the address of the host is private, or Baton's own");
		else
			connect_next(tunnel);
	}
	tunnel_release(tunnel);
}

static void look_up(struct tunnel *tunnel)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG };
	const char *host = str_c(&tunnel->arena, tunnel->request.host);
	const char *port = str_format(&tunnel->arena, "%d", tunnel->request.port).at;
	tunnel->lookup.data = tunnel;
	timer_set(tunnel, LIMIT_PROXY_CONNECT_MS);
	if (uv_getaddrinfo(loop_uv(tunnel->proxy->settings.loop), &tunnel->lookup, looked_up, host,
			   port, &hints) != 0)
		answer(tunnel, "502 Bad Gateway", "the name of the host cannot be looked up");
	else
		tunnel->pending++;
}

/* ---- the head ------------------------------------------------------------------------------- */

static bool host_is_allowed(const struct tunnel *tunnel, const char **out_why)
{
	const struct line *line = slots_get(&tunnel->proxy->lines, tunnel->line);
	bool own = line != NULL && line->user.hosts != NULL;
	const struct connect_rules *rules = own ? line->user.hosts : &tunnel->proxy->rules;
	*out_why = own ? "network_allowed_hosts of the profile or agent does not allow this host "
			 "and port"
		       : "sandbox.network does not allow this host and port";
	return connect_rules_allow(rules, tunnel->request.host, tunnel->request.port);
}

static void head_complete(struct tunnel *tunnel, size_t end)
{
	const char *why;
	struct error error;
	uv_read_stop((uv_stream_t *)&tunnel->client.tcp);
	if (!connect_request_read(str_head(buf_str(&tunnel->head), end), &tunnel->arena,
				  &tunnel->request, &tunnel->forward, &error)) {
		tunnel->request.host = S("");
		refuse(tunnel, "400 Bad Request", error.text);
	} else if (!host_is_allowed(tunnel, &why)) {
		refuse(tunnel, "403 Forbidden", why);
	} else {
		look_up(tunnel);
	}
}

static void head_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *room)
{
	struct tunnel *tunnel = stream->data;
	if (tunnel->id == 0 || size == 0)
		return;
	if (size < 0) {
		tunnel_close(tunnel);
		return;
	}
	buf_add(&tunnel->head, (struct str){ room->base, (size_t)size });
	size_t end = connect_head_end(buf_str(&tunnel->head));
	if (end > 0 && end <= LIMIT_HTTP_HEADER_BYTES)
		head_complete(tunnel, end);
	else if (tunnel->head.size > LIMIT_HTTP_HEADER_BYTES)
		refuse(tunnel, "431 Request Header Fields Too Large",
		       "the head of the request is too large");
}

/* ---- lines ---------------------------------------------------------------------------------- */

static bool has_room(struct line *line)
{
	if (line->connections >= LIMIT_PROXY_LINE_CONNECTIONS) {
		limit_hit(REJECTION_PROXY_LINE_CONNECTIONS);
		return false;
	}
	if (line->proxy->tunnels.live >= LIMIT_PROXY_CONNECTIONS) {
		limit_hit(REJECTION_PROXY_CONNECTIONS);
		return false;
	}
	return true;
}

/* Takes the connection that has arrived on the line. */
static void tunnel_take(struct line *line)
{
	struct connect_proxy *proxy = line->proxy;
	struct tunnel *tunnel = calloc(1, sizeof(*tunnel));
	require(tunnel != NULL);
	tunnel->proxy = proxy;
	tunnel->line = line->id;
	tunnel->client.tcp.data = tunnel;
	require(uv_tcp_init(loop_uv(proxy->settings.loop), &tunnel->client.tcp) == 0);
	tunnel->client.open = true;
	tunnel->pending = 1;
	tunnel->id = slots_add(&proxy->tunnels, tunnel);
	bool room = has_room(line);
	line->connections++;
	atomic_fetch_add(&counted_connections, 1);
	if (uv_accept((uv_stream_t *)&line->pipe, (uv_stream_t *)&tunnel->client.tcp) != 0) {
		tunnel_close(tunnel);
		return;
	}
	timer_set(tunnel, LIMIT_PROXY_HEAD_MS);
	if (!room)
		refuse(tunnel, "503 Service Unavailable", "too many connections");
	else if (uv_read_start((uv_stream_t *)&tunnel->client.tcp, room_give, head_read) != 0)
		tunnel_close(tunnel);
}

static void line_closed(uv_handle_t *handle)
{
	struct line *line = handle->data;
	arena_done(&line->arena);
	free(line);
}

static void line_close(struct line *line)
{
	struct connect_proxy *proxy = line->proxy;
	struct tunnel *tunnel;
	uint32_t index = 0;
	uint64_t id;
	while ((tunnel = slots_next(&proxy->tunnels, &index, &id)) != NULL)
		if (tunnel->line == line->id)
			tunnel_close(tunnel);
	slots_remove(&proxy->lines, line->id);
	uv_close((uv_handle_t *)&line->pipe, line_closed);
}

static void line_room(uv_handle_t *handle, size_t wanted, uv_buf_t *out_room)
{
	struct line *line = handle->data;
	(void)wanted;
	*out_room = uv_buf_init(line->byte, sizeof(line->byte));
}

static void line_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *room)
{
	struct line *line = stream->data;
	(void)room;
	while (uv_pipe_pending_count(&line->pipe) > 0)
		tunnel_take(line);
	if (size < 0)
		line_close(line);
}

bool connect_proxy_open(struct connect_proxy *proxy, const struct connect_proxy_user *user,
			int *out_descriptor, uint64_t *out_line, struct error *error)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return fail(error, ERROR_IO, "cannot open a line to the proxy: %s",
			    strerror(errno));
	struct line *line = calloc(1, sizeof(*line));
	require(line != NULL);
	line->proxy = proxy;
	line->user = (struct connect_proxy_user){ .run = str_copy(&line->arena, user->run),
						  .step = str_copy(&line->arena, user->step),
						  .tool = str_copy(&line->arena, user->tool) };
	if (user->hosts != NULL) {
		line->rules = connect_rules_copy(user->hosts, &line->arena);
		line->user.hosts = &line->rules;
	}
	line->pipe.data = line;
	require(uv_pipe_init(loop_uv(proxy->settings.loop), &line->pipe, 1) == 0);
	require(uv_pipe_open(&line->pipe, ends[0]) == 0);
	require(uv_read_start((uv_stream_t *)&line->pipe, line_room, line_read) == 0);
	line->id = slots_add(&proxy->lines, line);
	*out_line = line->id;
	*out_descriptor = ends[1];
	return true;
}

void connect_proxy_close(struct connect_proxy *proxy, uint64_t line)
{
	struct line *found = slots_get(&proxy->lines, line);
	if (found != NULL)
		line_close(found);
}

/* ---- the proxy ------------------------------------------------------------------------------ */

bool connect_proxy_new(const struct connect_proxy_settings *settings,
		       struct connect_proxy **out_proxy, struct error *error)
{
	struct connect_proxy *proxy = calloc(1, sizeof(*proxy));
	require(proxy != NULL);
	proxy->settings = *settings;
	proxy->private_count = settings->private_addresses.count;
	proxy->private_ranges =
		arena_array(&proxy->arena, struct address_range, proxy->private_count + 1);
	bool good = connect_rules_read(settings->hosts, &proxy->arena, &proxy->rules, error);
	if (!good)
		error_prefix(error, "sandbox.network: ");
	for (size_t i = 0; i < proxy->private_count && good; i++)
		good = address_range_read(settings->private_addresses.at[i],
					  &proxy->private_ranges[i], error);
	if (!good) {
		arena_done(&proxy->arena);
		free(proxy);
		return false;
	}
	*out_proxy = proxy;
	return true;
}

void connect_proxy_set_own_port(struct connect_proxy *proxy, int port)
{
	proxy->own_port = port;
}

void connect_proxy_free(struct connect_proxy *proxy)
{
	struct line *line;
	struct tunnel *tunnel;
	uint32_t index = 0;
	uint64_t id;
	if (proxy == NULL)
		return;
	while ((line = slots_next(&proxy->lines, &index, &id)) != NULL)
		line_close(line);
	for (index = 0; (tunnel = slots_next(&proxy->tunnels, &index, &id)) != NULL;)
		tunnel_close(tunnel);
	slots_done(&proxy->lines);
	slots_done(&proxy->tunnels);
	arena_done(&proxy->arena);
	free(proxy);
}
