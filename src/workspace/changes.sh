# Prints how the workspace differs from the tree $TREE: the number of changed files, the size of each of the
# first $MOST of them, and git's raw list of these, in which every name and every path ends with a zero byte.
take_tree
git diff-tree -r -z --no-renames "$TREE" "$tree" -- . ':(exclude,top).baton-empty-folders' \
	':(exclude,top).baton-modes' ':(exclude,top).baton-repositories' >"$GIT_DIR/changes"
count=$(tr -cd '\0' <"$GIT_DIR/changes" | wc -c)
echo "changed $((count / 2))"
head -z -n "$((MOST * 2))" "$GIT_DIR/changes" >"$GIT_DIR/first"
sed -z -n '1~2p' "$GIT_DIR/first" | tr '\0' '\n' | cut -d ' ' -f 4 | git cat-file --batch-check='%(objectsize)' | sed 's/.* missing$/-/'
cat "$GIT_DIR/first"
