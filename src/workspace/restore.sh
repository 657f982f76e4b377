# Restores the workspace to the tree $TREE.  Files that the tree's .gitignore excludes stay.  A .gitignore
# that was added later is removed first, so that it does not hide files.  Repositories are removed,
# because there was none when the tree was taken.
set -eu
# Only the holder of this lock runs git here, so lock files of git are left over from a killed process.
exec 8>"$GIT_DIR/busy"
flock 8
rm -f "$GIT_DIR"/*.lock "$GIT_DIR"/refs/baton/*.lock
find . -name .git -prune -exec rm -rf {} +
git read-tree "$TREE"
git ls-files -z --others -- .gitignore '*/.gitignore' | xargs -0 -r rm -f --
git checkout-index -q -a -f
git clean -q -f -f -d
git cat-file -p "$TREE:.baton-empty-folders" | xargs -0 -r mkdir -p --
git update-index --force-remove .baton-empty-folders
rm -f .baton-empty-folders
echo "$TREE"
