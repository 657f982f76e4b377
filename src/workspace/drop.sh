# Empties the folder of a branch.
unlock_folders
find . -mindepth 1 -delete
echo dropped
