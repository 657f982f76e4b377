/* document/documents_state.h -- struct documents, for this room alone. */
#ifndef DOCUMENT_DOCUMENTS_STATE_H
#define DOCUMENT_DOCUMENTS_STATE_H

#include "active/executor_services.h"
#include "document/documents.h"
#include "document/server_settings.h"

struct document_job;
struct document_watch;
struct schedules;
struct schedule_job;

struct documents {
	struct executor *executor;
	struct document_job *first, *last; /* waiting changes and loads; the first is under way */
	size_t waiting;
	struct document_watch *watches; /* in the order in which they began */
	struct server_settings_stored server;
	platform_callback *server_loaded; /* of server_settings_open() */
	void *server_context;
	struct schedules *schedules; /* NULL until schedules_open() */
	struct schedule_job *schedule_jobs;
};

#endif
