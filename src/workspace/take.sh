# Stores the workspace as a git tree and prints the tree's name.  Empty folders, which git does not store,
# and repositories, whose own data is not stored, are listed in files that exist only in the tree.
# Nothing is hashed before it is known to be small enough: a sparse file of a terabyte is read whole.
over=$(git ls-files -z --cached --others --exclude-standard --deduplicate | xargs -0 -r stat -c %s -- 2>/dev/null |
	awk -v files="$FILES" -v bytes="$BYTES" '{ n++; s += $1 } END { if (n > files || s > bytes) printf "over %d %.0f", n, s }')
if [ -n "$over" ]; then
	echo "$over"
	exit 0
fi
find . -name .git -prune -print0 >"$GIT_DIR/found"
if [ -n "$(find . -mindepth 2 -name .git -prune -print -quit)" ]; then
	# git would store a repository below as one name.  Its files are listed with an index of their own.
	printf '.\0' >"$GIT_DIR/paths"
	find . -mindepth 2 -name .git -prune -printf ':(exclude,literal,top)%h\0' | sed -z 's|)\./|)|' >>"$GIT_DIR/paths"
	git add -A --pathspec-from-file="$GIT_DIR/paths" --pathspec-file-nul
	find . -mindepth 2 -name .git -prune -printf '%h\n' | while IFS= read -r inner; do
		prefix=$(printf '%s/' "${inner#./}" | sed 's/[&|\\]/\\&/g')
		{
			git ls-files -z --cached -- "$inner"
			(cd "$inner" && GIT_WORK_TREE=. GIT_INDEX_FILE="$GIT_DIR/index.none" git ls-files -z --others --exclude-standard) |
				sed -z "/\/\$/d; s|^|$prefix|"
		} | git update-index -z --add --remove --stdin
	done
else
	git add -A .
fi
folders=$(find . -mindepth 1 -name .git -prune -o -type d -empty -print0 | git hash-object -w --stdin)
repositories=$(git hash-object -w --stdin <"$GIT_DIR/found")
git update-index --add --cacheinfo "100644,$folders,.baton-empty-folders"
if [ -s "$GIT_DIR/found" ]; then
	git update-index --add --cacheinfo "100644,$repositories,.baton-repositories"
fi
tree=$(git write-tree)
git update-index --force-remove .baton-empty-folders
git update-index --force-remove .baton-repositories
git update-ref "refs/baton/$tree" "$tree"
echo "$tree"
