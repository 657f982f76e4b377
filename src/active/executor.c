/* active/executor.c -- making and freeing an executor; its services for the rooms above. */
#include "active/executor.h"

#include <stdlib.h>

#include "active/active_run_shell.h"
#include "active/alarm.h"
#include "active/executor_state.h"
#include "active/notices.h"
#include "active/value_fetch.h"
#include "base/limits.h"
#include "contract/run_open_types.h"
#include "definition/definition_compile.h"
#include "contract/run_graph_types.h"
#include "llm/llm.h"
#include "llm/price.h"
#include "tool/tool_schema.h"

int64_t executor_now(struct executor *executor)
{
	return platform_wall_us(executor->settings.platform);
}

void executor_fail(struct executor *executor, const struct error *error)
{
	if (executor->failed)
		return;
	executor->failed = true;
	executor->settings.fatal(executor->settings.context, error);
}

bool executor_has_failed(const struct executor *executor)
{
	return executor->failed;
}

bool executor_has_recovered(const struct executor *executor)
{
	return executor->recovered;
}

const struct executor_settings *executor_config(const struct executor *executor)
{
	return &executor->settings;
}

struct graph_cache *executor_graphs(struct executor *executor)
{
	return &executor->graphs;
}

void executor_append(struct executor *executor, struct writer_ticket *ticket)
{
	writer_append(executor->writer, ticket);
}

void executor_watch_appends(struct executor *executor, struct append_watch *watch)
{
	executor->append_watch = watch;
}

void executor_set_limits(struct executor *executor, const struct executor_limits *limits)
{
	executor->limits = *limits;
	admission_try_next(executor);
}

void executor_set_profiled(struct executor *executor, bool profiled)
{
	executor->profiled = profiled;
}

static void writer_stopped(void *context, const struct error *error)
{
	executor_fail(context, error);
}

static const struct type *type_of(const struct type *(*type)(void))
{
	return type == NULL ? NULL : type();
}

/* The tools that definitions may name, with the effect class they have under this isolation. */
static void make_catalogue(struct executor *executor)
{
	const struct tool_table *tools = executor->settings.tools;
	executor->catalogue = calloc(tools->count, sizeof(*executor->catalogue));
	require(executor->catalogue != NULL);
	for (size_t i = 0; i < tools->count; i++) {
		enum run_effect_class class = tools->at[i]->class;
		bool reaches = executor->settings.networked && tools->at[i]->child;
		if (class == RUN_CLASS_CONTAINED && (!executor->settings.contained || reaches))
			class = RUN_CLASS_ONCE;
		executor->catalogue[i] = (struct definition_tool){
			.name = str_from_c(tools->at[i]->name),
			.text = str_from_c(tools->at[i]->text),
			.class = class,
			.risk = tools->at[i]->risk,
			.child = tools->at[i]->child,
			.timeout_seconds = tool_timeout_seconds(tools->at[i]),
			.parameters = tool_parameters(tools->at[i], &executor->catalogue_arena),
			.inputs = type_of(tools->at[i]->inputs),
			.outputs = type_of(tools->at[i]->outputs),
			.secrets = tools->at[i]->secrets
		};
	}
}

static bool open_readers(struct executor *executor, struct error *error)
{
	unsigned count = platform_reader_threads(executor->settings.platform);
	struct store *store = executor->settings.store;
	executor->readers = calloc(count, sizeof(struct store_reader *));
	require(executor->readers != NULL);
	for (unsigned i = 0; i < count; i++)
		if (!store->backend->open_reader(store, &executor->readers[i], error))
			return false;
	return true;
}

static bool find_price(const void *context, const struct run_graph_agent *agent,
		       struct engine_price *out_price)
{
	const struct llm_host *models = context;
	const struct price *price =
		models == NULL
			? NULL
			: price_find(models->prices,
				     price_provider(has(agent, options) ? agent->options : NULL,
						    agent->driver),
				     agent->model);
	if (price == NULL)
		return false;
	int64_t input = price->input;
	input = price->cache_read > input ? price->cache_read : input;
	input = price->cache_write > input ? price->cache_write : input;
	*out_price = (struct engine_price){ input, price->output, price->context_window };
	return true;
}

bool executor_new(const struct executor_settings *settings, struct executor **out_executor,
		  struct error *error)
{
	struct executor *executor = calloc(1, sizeof(*executor));
	require(executor != NULL);
	executor->settings = *settings;
	graph_cache_init(&executor->graphs);
	make_catalogue(executor);
	executor->prices = (struct engine_prices){ find_price, settings->models };
	executor->writer =
		writer_new(settings->platform, settings->store, writer_stopped, executor);
	if (!open_readers(executor, error)) {
		executor_free(executor);
		return false;
	}
	*out_executor = executor;
	return true;
}

struct live_logs *executor_live_logs(struct executor *executor)
{
	return &executor->live_logs;
}

struct live_replies *executor_live_replies(struct executor *executor)
{
	return &executor->live_replies;
}

/* Everything that is still in memory when the process ends. */
static void discard_what_waits(struct executor *executor)
{
	uint32_t index = 0;
	uint64_t id;
	for (struct active_run *active;
	     (active = slots_next(&executor->active_runs, &index, &id)) != NULL;)
		active_run_stop(active);
	index = 0;
	for (struct arena *computation;
	     (computation = slots_next(&executor->computations, &index, &id)) != NULL;) {
		arena_done(computation);
		free(computation);
	}
	index = 0;
	for (struct value_fetch_state *f;
	     (f = slots_next(&executor->fetches, &index, &id)) != NULL;)
		value_fetch_discard(f);
	notice_bus_done(executor);
}

void executor_free(struct executor *executor)
{
	executor->closing = true;
	discard_what_waits(executor);
	unsigned count = platform_reader_threads(executor->settings.platform);
	for (unsigned i = 0; i < count; i++)
		if (executor->readers[i] != NULL)
			executor->settings.store->backend->close_reader(executor->readers[i]);
	free(executor->readers);
	writer_free(executor->writer);
	graph_cache_done(&executor->graphs);
	free(executor->catalogue);
	arena_done(&executor->catalogue_arena);
	slots_done(&executor->active_runs);
	slots_done(&executor->computations);
	slots_done(&executor->fetches);
	slots_done(&executor->tree_takings);
	map_done(&executor->by_run);
	map_done(&executor->claims);
	alarm_discard_all(executor);
	admission_discard(executor);
	ledger_discard(executor);
	live_log_drop_all(executor);
	live_reply_drop_all(executor);
	free(executor);
}
