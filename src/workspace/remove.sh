# Empties the workspace and its git directory, for good.
unlock_folders
find . -mindepth 1 -delete
find "$GIT_DIR" -mindepth 1 -delete
echo removed
