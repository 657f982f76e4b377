/* base/yaml_scalar.h -- what a scalar's text means in the YAML 1.2 core schema; for yaml.c only. */
#ifndef BASE_YAML_SCALAR_H
#define BASE_YAML_SCALAR_H

#include "base/json.h"

/* The core tags of scalars; PLAIN is no tag: the text decides. */
enum yaml_type { YAML_PLAIN, YAML_STR, YAML_INT, YAML_FLOAT, YAML_BOOL, YAML_NULL };

/* Sets kind and value of *out, whose strings borrow `text`.  NULL when all is well, else the
 * reason in words: the text does not fit the type or is a number JSON has not. */
const char *yaml_scalar(enum yaml_type type, struct str text, struct json *out);

#endif
