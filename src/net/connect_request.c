/* net/connect_request.c -- strict reading of requests to the proxy, and of its rules. */
#include "net/connect_request.h"

#include <string.h>

#include "base/limits.h"

/* ---- hosts ------------------------------------------------------------------------------ */

/* A name or an address: letters, digits, dots, hyphens, underscores; colons only in brackets. */
static bool host_is_plain(struct str host, bool in_brackets)
{
	for (size_t i = 0; i < host.size; i++) {
		char c = host.at[i];
		bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
		if (!alnum && !(c == '.' || c == '-' || c == '_' || (in_brackets && c == ':')))
			return false;
		/* An empty label, at the beginning or between two dots. */
		if (c == '.' && (i == 0 || host.at[i - 1] == '.'))
			return false;
	}
	return host.size > 0 && host.size <= LIMIT_PROXY_HOST_BYTES;
}

static struct str lowered(struct str text, struct arena *arena)
{
	char *copy = arena_array(arena, char, text.size + 1);
	for (size_t i = 0; i < text.size; i++)
		copy[i] = text.at[i] >= 'A' && text.at[i] <= 'Z' ? (char)(text.at[i] | 32)
								 : text.at[i];
	return (struct str){ copy, text.size };
}

/* HOST, HOST:PORT, [ADDRESS], [ADDRESS]:PORT.  *out_port stays as it is when there is none. */
static bool authority_read(struct str text, struct arena *arena, struct str *out_host,
			   int *out_port)
{
	struct str host, rest = text;
	int64_t port;
	bool brackets = str_starts(text, S("["));
	if (brackets) {
		rest = str_skip(text, 1);
		size_t at;
		if (!str_find(rest, S("]"), &at))
			return false;
		host = str_head(rest, at);
		rest = str_skip(rest, at + 1);
	} else {
		size_t at;
		host = str_find(text, S(":"), &at) ? str_head(text, at) : text;
		rest = str_skip(text, host.size);
	}
	if (rest.size > 0) {
		if (rest.at[0] != ':' || rest.size > 6 || !str_to_int(str_skip(rest, 1), &port) ||
		    rest.at[1] < '0' || rest.at[1] > '9' || port < 1 || port > 65535)
			return false;
		*out_port = (int)port;
	}
	host = lowered(host, arena);
	if (!brackets && str_ends(host, S(".")))
		host = str_head(host, host.size - 1);
	*out_host = host;
	return host_is_plain(host, brackets);
}

/* ---- rules ------------------------------------------------------------------------------ */

bool connect_rules_read(struct str_list texts, struct arena *arena, struct connect_rules *out_rules,
			struct error *error)
{
	struct connect_rule *rules = arena_array(arena, struct connect_rule, texts.count + 1);
	if (texts.count > LIMIT_PROXY_RULES)
		return fail(error, ERROR_INVALID, "there are more than %d hosts",
			    LIMIT_PROXY_RULES);
	for (size_t i = 0; i < texts.count; i++) {
		struct str text = texts.at[i];
		rules[i].below = str_starts(text, S("*."));
		if (!authority_read(rules[i].below ? str_skip(text, 2) : text, arena,
				    &rules[i].host, &rules[i].port))
			return fail(error, ERROR_INVALID,
				    "\"" STR_FMT
				    "\" is no host; write example.com, *.example.com or "
				    "example.com:8443",
				    STR_ARG(str_head(text, LIMIT_QUOTE_BYTES)));
	}
	*out_rules = (struct connect_rules){ rules, texts.count };
	return true;
}

static bool rule_matches(const struct connect_rule *rule, struct str host)
{
	if (!rule->below)
		return str_equal(rule->host, host);
	/* At least one label and its dot stand before it. */
	return host.size > rule->host.size + 1 && str_ends(host, rule->host) &&
	       host.at[host.size - rule->host.size - 1] == '.';
}

struct connect_rules connect_rules_copy(const struct connect_rules *rules, struct arena *arena)
{
	struct connect_rule *copy = arena_array(arena, struct connect_rule, rules->count + 1);
	for (size_t i = 0; i < rules->count; i++) {
		copy[i] = rules->at[i];
		copy[i].host = str_copy(arena, rules->at[i].host);
	}
	return (struct connect_rules){ copy, rules->count };
}

bool connect_rules_allow(const struct connect_rules *rules, struct str host, int port)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct connect_rule *rule = &rules->at[i];
		bool port_fits = rule->port == 0 ? port == 80 || port == 443 : port == rule->port;
		if (port_fits && rule_matches(rule, host))
			return true;
	}
	return false;
}

/* ---- requests ---------------------------------------------------------------------------- */

size_t connect_head_end(struct str bytes)
{
	size_t at;
	return str_find(bytes, S("\r\n\r\n"), &at) ? at + 4 : 0;
}

static bool text_is_clean(struct str text)
{
	for (size_t i = 0; i < text.size; i++)
		if ((unsigned char)text.at[i] < 32 && text.at[i] != '\t')
			return false;
		else if (text.at[i] == 127)
			return false;
	return true;
}

static bool is_token(struct str text)
{
	static const char symbols[] = "!#$%&'*+-.^_`|~";
	for (size_t i = 0; i < text.size; i++) {
		char c = text.at[i];
		bool alnum = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
		if (!alnum && (c == '\0' || strchr(symbols, c) == NULL))
			return false;
	}
	return text.size > 0;
}

/* Headers between the command and the proxy, and those that we write ourselves. */
static bool is_ours(struct str name)
{
	static const char *const names[] = { "Host",
					     "Connection",
					     "Proxy-Connection",
					     "Proxy-Authorization",
					     "Proxy-Authenticate",
					     "Keep-Alive",
					     "Upgrade",
					     "TE" };
	for (size_t i = 0; i < COUNT(names); i++)
		if (str_equal_folded(name, str_from_c(names[i])))
			return true;
	return false;
}

static bool malformed(struct error *error)
{
	return fail(error, ERROR_INVALID,
		    "the request is malformed; the proxy takes CONNECT HOST:PORT and METHOD "
		    "http://HOST/PATH");
}

/* "name: value" lines; CR is before the LF of each. */
static bool headers_forward(struct str rest, struct buf *out, struct error *error)
{
	struct str line, name;
	while (str_cut(&rest, '\n', &line)) {
		if (!str_ends(line, S("\r")))
			return malformed(error);
		line = str_head(line, line.size - 1);
		if (line.size == 0)
			break;
		struct str value = line;
		if (!text_is_clean(line) || !str_cut(&value, ':', &name) ||
		    name.size == line.size || !is_token(name))
			return malformed(error);
		if (!is_ours(name))
			buf_add_format(out, STR_FMT "\r\n", STR_ARG(line));
	}
	return true;
}

static bool forward_read(struct str method, struct str target, struct str headers,
			 struct arena *arena, struct connect_request *request, struct buf *out,
			 struct error *error)
{
	struct str scheme = str_head(target, 7), authority, path;
	size_t end = 7;
	if (!str_equal_folded(scheme, S("http://")))
		return malformed(error);
	while (end < target.size && target.at[end] != '/' && target.at[end] != '?' &&
	       target.at[end] != '#')
		end++;
	authority = str_skip(str_head(target, end), 7);
	path = str_skip(target, end);
	request->port = 80;
	if (!authority_read(authority, arena, &request->host, &request->port))
		return malformed(error);
	buf_add_format(out, STR_FMT " %s" STR_FMT " HTTP/1.1\r\nHost: " STR_FMT "\r\n",
		       STR_ARG(method), path.size > 0 && path.at[0] == '/' ? "" : "/",
		       STR_ARG(path), STR_ARG(authority));
	if (!headers_forward(headers, out, error))
		return false;
	buf_add(out, S("Connection: close\r\n\r\n"));
	return true;
}

bool connect_request_read(struct str head, struct arena *arena, struct connect_request *out_request,
			  struct buf *out_forward, struct error *error)
{
	struct str rest = head, line, method, target;
	AUTO(buf) ignored = { 0 };
	*out_request = (struct connect_request){ 0 };
	if (!str_cut(&rest, '\n', &line) || !str_ends(line, S("\r")))
		return malformed(error);
	line = str_head(line, line.size - 1);
	if (!text_is_clean(line) || !str_cut(&line, ' ', &method) ||
	    !str_cut(&line, ' ', &target) || !is_token(method) ||
	    !(str_equal(line, S("HTTP/1.1")) || str_equal(line, S("HTTP/1.0"))))
		return malformed(error);
	out_request->tunnel = str_equal(method, S("CONNECT"));
	if (!out_request->tunnel)
		return forward_read(method, target, rest, arena, out_request, out_forward, error);
	return (authority_read(target, arena, &out_request->host, &out_request->port) &&
		out_request->port > 0 && headers_forward(rest, &ignored, error)) ||
	       malformed(error);
}
