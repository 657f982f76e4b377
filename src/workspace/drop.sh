# Empties the folder of a branch.
find . -mindepth 1 -delete
echo dropped
