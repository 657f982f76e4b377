/* config/config_edit.h -- one setting changed in the text of config.yaml.
 *
 * Comments, order, indentation and everything else stay as they are; only the setting's own bytes
 * change.  A new setting goes to the end of its section, a new section to the end of the file; the
 * last setting of a section takes the section's line with it.
 *
 * The result is read again and must differ from the old text in this setting only.  Where it does
 * not (anchors, tags, unusual forms) the edit is refused with the place to be edited by hand.
 */
#ifndef CONFIG_EDIT_H
#define CONFIG_EDIT_H

#include "config/config.h"

/* The text with the setting at this value, given in the environment's spelling. */
MUST_CHECK bool config_edit_set(struct str text, const struct config_row *row, const char *value,
				struct arena *arena, struct str *out_text, struct error *error);
/* ERROR_NOT_FOUND when the text does not set it. */
MUST_CHECK bool config_edit_unset(struct str text, const struct config_row *row,
				  struct arena *arena, struct str *out_text, struct error *error);

#endif
