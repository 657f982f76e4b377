/* tool/tool_host.h -- the environment of a tool's start(), stop() and probe().
 *
 * Apart from tool.h, so that whoever only hands it on does not depend on the tools' vocabulary. */
#ifndef TOOL_TOOL_HOST_H
#define TOOL_TOOL_HOST_H

#include "base/str.h"

struct connect_proxy;
struct connect_rules;
struct loop;
struct sandbox;
struct sandbox_layers;
struct sandbox_limits;
struct tool_context;

struct tool_host {
	struct loop *loop;
	const struct sandbox *sandbox;
	const struct sandbox_limits *limits; /* of sandboxed commands; NULL = none */
	const struct sandbox_layers
		*layers;             /* of sandboxed commands; NULL = all that the kernel has */
	struct connect_proxy *proxy; /* of sandboxed commands; NULL = they have no network */
	const struct connect_rules *hosts; /* that they reach; NULL = those of the proxy */
	/* Tells sandboxes apart: calls with different texts never share a process; "" = the server's. */
	struct str sandbox_key;
	struct tool_context *tool_context; /* tool_context.h */
};

#endif
