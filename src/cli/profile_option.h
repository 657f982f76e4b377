/* cli/profile_option.h -- the option --profile of commands that start runs; private to cli. */
#ifndef CLI_PROFILE_OPTION_H
#define CLI_PROFILE_OPTION_H

#define CLI_RUN_PROFILE                                                                         \
	{                                                                                       \
		.name = "--profile", .value = "NAME", .value_kind = CLI_PROFILE,                \
		.text = "Profile that the run belongs to (default: the active profile, if any)" \
	}

#endif
