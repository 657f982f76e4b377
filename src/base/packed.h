/* base/packed.h -- files embedded in the program by tools/pack. */
#ifndef BASE_PACKED_H
#define BASE_PACKED_H

#include <stddef.h>

struct packed_file {
	const char *name; /* NULL ends the table */
	const unsigned char *bytes;
	size_t size;
};

extern const struct packed_file packed_scripts[];       /* workspace/ */
extern const struct packed_file packed_keeper[];        /* keeper/ */
extern const struct packed_file packed_escape[];        /* escape/ */
extern const struct packed_file packed_runners[];       /* tool/ */
extern const struct packed_file packed_web[];           /* web/ */
extern const struct packed_file packed_examples[];      /* examples/, definitions/ */
extern const struct packed_file packed_demo[];          /* definitions/demo/ */
extern const struct packed_file packed_prompts[];       /* examples/prompts/ */
extern const struct packed_file packed_agent_prompts[]; /* definitions/prompts/ */

#endif
