# Stores the workspace as a git tree and prints the tree's name, or "none" if it contains a repository.
# Empty folders, which git does not store, are listed in a file that exists only in the tree.
set -eu
if [ -n "$(find . -name .git -prune -print -quit)" ]; then
	echo none
	exit 0
fi
# Only the holder of this lock runs git here, so lock files of git are left over from a killed process.
exec 8>"$GIT_DIR/busy"
flock 8
rm -f "$GIT_DIR"/*.lock "$GIT_DIR"/refs/baton/*.lock
[ -f "$GIT_DIR/ready" ] || git init -q --template=
mkdir -p "$GIT_DIR/info"
echo '* -text -filter -ident -working-tree-encoding' >"$GIT_DIR/info/attributes"
: >"$GIT_DIR/ready"
git add -A .
folders=$(find . -mindepth 1 -type d -empty -print0 | git hash-object -w --stdin)
git update-index --add --cacheinfo "100644,$folders,.baton-empty-folders"
tree=$(git write-tree)
git update-index --force-remove .baton-empty-folders
git update-ref "refs/baton/$tree" "$tree"
echo "$tree"
