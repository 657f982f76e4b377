/* api/api_metrics.c -- the rows of metrics.def as Prometheus reads them. */
#include "api/inside.h"

void api_metrics(struct api_call *call)
{
	AUTO(buf) text = { 0 };
	const struct http_server *http = call->api->server;
	const struct runtime_counts counts = runtime_counts(call->api->settings.runtime);
#define METRIC(name, kind, from, words)                                                            \
	buf_add_format(&text, "# HELP " #name " %s\n# TYPE " #name " " #kind "\n" #name " %llu\n", \
		       words, (unsigned long long)(from));
#include "contracts/metrics.def"
#undef METRIC
	const struct http_header headers[] = {
		{ S("Content-Type"), S("text/plain; version=0.0.4; charset=utf-8") },
		{ S("Cache-Control"), S("no-store") },
	};
	api_reply(call->api, call->exchange, 200, headers, COUNT(headers), buf_str(&text));
}
