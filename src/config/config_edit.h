/* config/config_edit.h -- changes one setting in the text of config.yaml.
 *
 * Only the bytes of the setting change; comments, order and indentation stay.  A new setting is
 * added at the end of its section, a new section at the end of the file.  Removing the last setting
 * of a section removes the section.
 *
 * The result is parsed again and must differ from the old text in this setting only.  If it does
 * not (anchors, tags, unusual syntax), the edit fails with the position that must be edited by
 * hand.
 */
#ifndef CONFIG_EDIT_H
#define CONFIG_EDIT_H

#include "config/config.h"

/* Sets the setting to a value that is written as in an environment variable. */
MUST_CHECK bool config_edit_set(struct str text, const struct config_row *row, const char *value,
				struct arena *arena, struct str *out_text, struct error *error);
/* Removes the setting; fails with NOT_FOUND when the text does not set it. */
MUST_CHECK bool config_edit_unset(struct str text, const struct config_row *row,
				  struct arena *arena, struct str *out_text, struct error *error);

#endif
