# Prints the name of the workspace's tree, or "none" when it holds a repository of its own.
# The empty folders, which git cannot hold, are listed in a file that exists only in the tree.
set -eu
if [ -n "$(find . -name .git -prune -print -quit)" ]; then
	echo none
	exit 0
fi
[ -f "$GIT_DIR/HEAD" ] || git init -q
mkdir -p "$GIT_DIR/info"
echo '* -text -filter -ident -working-tree-encoding' >"$GIT_DIR/info/attributes"
git add -A .
folders=$(find . -mindepth 1 -type d -empty -print0 | git hash-object -w --stdin)
git update-index --add --cacheinfo "100644,$folders,.baton-empty-folders"
tree=$(git write-tree)
git update-index --force-remove .baton-empty-folders
git update-ref "refs/baton/$tree" "$tree"
echo "$tree"
