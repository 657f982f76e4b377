# Comes before every other script.  Only the holder of the lock runs git here, so lock files of git are
# left over from a killed process.
set -eu
# On Linux a file may be called git~1.
export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=core.protectHFS GIT_CONFIG_VALUE_0=false
export GIT_CONFIG_KEY_1=core.protectNTFS GIT_CONFIG_VALUE_1=false
exec 8>"$GIT_DIR/busy"
flock 8
rm -f "$GIT_DIR"/*.lock "$GIT_DIR"/refs/baton/*.lock
if [ ! -f "$GIT_DIR/ready" ]; then
	git init -q --template=
	mkdir -p "$GIT_DIR/info"
	echo '* -text -filter -ident -working-tree-encoding' >"$GIT_DIR/info/attributes"
	: >"$GIT_DIR/ready"
fi

# Restores the folder to a tree.  Files that the tree's .gitignore excludes stay.  A .gitignore that was
# added later is removed first, so that it does not hide files.  Repositories that came later are removed.
restore_tree() {
	find . -name .git -prune -print0 | sort -z >"$GIT_DIR/found"
	git cat-file -p "$1:.baton-repositories" 2>/dev/null | sort -z >"$GIT_DIR/known" || :
	comm -z -23 "$GIT_DIR/found" "$GIT_DIR/known" | xargs -0 -r rm -rf --
	git read-tree "$1"
	git ls-files -z --others -- .gitignore '*/.gitignore' | xargs -0 -r rm -f --
	git checkout-index -q -a -f
	git clean -q -f -f -d
	git cat-file -p "$1:.baton-empty-folders" | xargs -0 -r mkdir -p --
	git update-index --force-remove .baton-empty-folders
	git update-index --force-remove .baton-repositories
	rm -f .baton-empty-folders .baton-repositories
}
