/* cli/exit_status.h -- exit statuses of commands beyond the table of errors: rows of their `exits`. */
#ifndef CLI_EXIT_STATUS_H
#define CLI_EXIT_STATUS_H

/* Of commands that follow a run. */
enum { CLI_EXIT_ISSUES = 3 };
#define CLI_EXIT_WITH_ISSUES                                                          \
	{                                                                             \
		CLI_EXIT_ISSUES, "all steps succeeded, but the run ended with issues" \
	}
#define CLI_EXIT_INTERRUPTED                                                             \
	{                                                                                \
		130, "interrupted with Ctrl-C; the message says where the run continues" \
	}

#endif
