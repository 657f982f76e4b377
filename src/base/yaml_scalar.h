/* base/yaml_scalar.h -- resolves scalars by the YAML 1.2 core schema; private to yaml.c. */
#ifndef BASE_YAML_SCALAR_H
#define BASE_YAML_SCALAR_H

#include "base/json.h"

/* The core tags of scalars.  YAML_PLAIN means no tag: the text determines the type. */
enum yaml_type { YAML_PLAIN, YAML_STR, YAML_INT, YAML_FLOAT, YAML_BOOL, YAML_NULL };

/* Sets the kind and value of *out; a string borrows `text`.  Returns NULL, or an error message when
 * the text does not match the type or is a number that JSON cannot represent. */
const char *yaml_scalar(enum yaml_type type, struct str text, struct json *out);

#endif
