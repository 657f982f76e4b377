# Begins the folder of a branch at the tree $TREE, with the files of the folder at /parent that the tree
# does not have: ignored ones, and its repositories.
unlock_folders
find . -mindepth 1 -delete
rm -f "$GIT_INDEX_FILE"
restore_tree "$TREE"
(
	cd /parent
	export GIT_WORK_TREE=/parent GIT_INDEX_FILE="$GIT_DIR/index.parent"
	git read-tree "$TREE"
	{
		git ls-files -z --others --ignored --exclude-standard
		git cat-file -p "$TREE:.baton-repositories" 2>/dev/null || :
	} >"$GIT_DIR/ignored"
	size=$(xargs -0 -r du -cb -- <"$GIT_DIR/ignored" 2>/dev/null | awk '$2 == "total" { s += $1 } END { printf "%.0f", s }')
	if [ "${size:-0}" -gt "$BYTES" ]; then
		echo "over 0 $size"
		exit 1
	fi
	xargs -0 -r cp -a --reflink=auto --parents -t /workspace -- <"$GIT_DIR/ignored"
) || exit 0
echo "$TREE"
