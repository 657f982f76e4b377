/* active/live_log.c -- the table of logs of calls under way. */
#include "active/live_log.h"

#include <stdlib.h>

#include "tool/output_log.h"

static struct str key_of(const struct uuid *run, struct str step, struct buf *out)
{
	buf_add(out, uuid_str(run));
	buf_add(out, step);
	return buf_str(out);
}

void live_log_drop(struct executor *executor, struct live_log *log)
{
	struct live_logs *logs = executor_live_logs(executor);
	if (map_get(&logs->by_step, buf_str(&log->key)) == log)
		map_remove(&logs->by_step, buf_str(&log->key));
	slots_remove(&logs->slots, log->id);
	output_log_free(log->text);
	buf_done(&log->key);
	free(log);
}

struct live_log *live_log_open(struct executor *executor, const struct uuid *run, struct str step,
			       int64_t attempt)
{
	struct live_logs *logs = executor_live_logs(executor);
	struct live_log *log = calloc(1, sizeof(*log));
	require(log != NULL);
	struct str key = key_of(run, step, &log->key);
	log->run = *run;
	log->step = str_skip(key, sizeof(run->bytes));
	log->attempt = attempt;
	log->text = output_log_new();
	struct live_log *before = map_get(&logs->by_step, key);
	if (before != NULL)
		live_log_drop(executor, before);
	log->id = slots_add(&logs->slots, log);
	map_put(&logs->by_step, key, log);
	return log;
}

struct live_log *live_log_by_id(struct executor *executor, uint64_t id)
{
	struct live_logs *logs = executor_live_logs(executor);
	return slots_get(&logs->slots, id);
}

const struct live_log *live_log_find(struct executor *executor, const struct uuid *run,
				     struct str step)
{
	const struct live_logs *logs = executor_live_logs(executor);
	AUTO(buf) key = { 0 };
	return map_get(&logs->by_step, key_of(run, step, &key));
}

void live_log_drop_all(struct executor *executor)
{
	struct live_logs *logs = executor_live_logs(executor);
	uint32_t index = 0;
	uint64_t id;
	for (struct live_log *log; (log = slots_next(&logs->slots, &index, &id)) != NULL;)
		live_log_drop(executor, log);
	slots_done(&logs->slots);
	map_done(&logs->by_step);
}
