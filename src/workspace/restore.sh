# Puts the workspace back to the tree $TREE.  Files ignored by the tree's own rules stay; rules
# that came later are taken away first, so that they hide nothing.  A repository made since then
# goes, because none was there when the tree was taken.
set -eu
# A git of ours that was killed leaves its lock files behind; holding the lock we are the only one.
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
