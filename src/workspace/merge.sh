# Merges the trees of $BRANCHES (lines: tree, name) that began at $TREE, in this order, and restores the
# workspace to the result.  Prints the merged tree, or "conflict" and what was changed by whom.  Everything
# is computed in the object store before the folder is touched.
rm -f "$GIT_DIR/conflicts"
cat >"$GIT_DIR/merge-one" <<'ONE'
#!/bin/sh
# One path that two branches changed: blobs of base, ours, theirs; the path; their modes.
set -eu
cd "$GIT_DIR"
case "$4" in
.baton-empty-folders | .baton-repositories)
	merged=$({ [ -z "$2" ] || git cat-file blob "$2"; [ -z "$3" ] || git cat-file blob "$3"; } | sort -zu | git hash-object -w --stdin)
	git update-index --add --cacheinfo "100644,$merged,$4"
	exit 0
	;;
.baton-modes)
	git update-index --force-remove -- "$4"
	exit 0
	;;
esac
# git leaves these open when a file became a folder, or a folder a file: only one of the two has changed this path.
take() {
	if [ -z "$1" ]; then
		git update-index --force-remove -- "$3"
	else
		git update-index --add --replace --cacheinfo "$2,$1,$3"
	fi
	exit 0
}
[ "$1 $5" != "$3 $7" ] || take "$2" "$6" "$4"
[ "$1 $5" != "$2 $6" ] || take "$3" "$7" "$4"
if [ -n "$1" ] && [ -n "$2" ] && [ -n "$3" ] && [ "$5" = "$6" ] && [ "$6" = "$7" ] && [ "$6" != 120000 ]; then
	git cat-file blob "$1" >base
	git cat-file blob "$2" >ours
	git cat-file blob "$3" >theirs
	if git merge-file -q ours base theirs 2>/dev/null; then
		merged=$(git hash-object -w --no-filters ours)
		git update-index --add --cacheinfo "$6,$merged,$4"
		exit 0
	fi
fi
printf '%s\n' "$4" >>"$GIT_DIR/conflicts"
git update-index --force-remove -- "$4"
ONE
chmod +x "$GIT_DIR/merge-one"

# The modes of a tree, "MODE PATH" each: those that git stores with "=", and the listed ones.
modes_of() {
	git ls-tree -r -t -z "$1" | sed -z -n -E 's/^(100|040)(...) [^\t]*\t/=\2 /p'
	git cat-file blob "$1:.baton-modes" 2>/dev/null || :
}

paths_of() {
	sed -z 's/^[^ ]* //' "$@" | sort -zu
}

# Merges the modes of $1 and $2, which began at $TREE, into the index.  A conflict is a path whose mode
# both have changed, or one has changed and the other has removed.
merge_modes() {
	lists=$(for one in "$TREE" "$1" "$2"; do git rev-parse -q --verify "$one:.baton-modes" || :; done | sort -u | wc -l)
	[ "$lists" -gt 1 ] || return 0
	cd "$GIT_DIR"
	modes_of "$TREE" | sort -z >modes.base
	modes_of "$1" | sort -z >modes.ours
	modes_of "$2" | sort -z >modes.theirs
	comm -z -13 modes.base modes.ours >modes.set-by-ours
	comm -z -13 modes.base modes.theirs >modes.set-by-theirs
	{
		comm -z -3 modes.set-by-ours modes.set-by-theirs | sed -z 's/^\t//' | paths_of >modes.differ
		paths_of modes.set-by-ours >modes.changed
		paths_of modes.set-by-theirs | comm -z -12 - modes.changed | comm -z -12 - modes.differ
		for pair in ours.theirs theirs.ours; do
			paths_of "modes.set-by-${pair%.*}" >modes.changed
			paths_of modes.base | comm -z -12 - modes.changed >modes.changed-old
			paths_of "modes.${pair#*.}" | comm -z -13 - modes.changed-old
		done
	} | tr '\0' '\n' >>conflicts
	comm -z -23 modes.base modes.theirs >modes.gone
	merged_modes=$({
		comm -z -23 modes.ours modes.gone
		cat modes.set-by-theirs
	} | sed -z '/^=/d' | sort -zu | git hash-object -w --stdin)
	git update-index --add --cacheinfo "100644,$merged_modes,.baton-modes"
	cd /workspace
}

# What a tree has at a path: git's mode and name of it, and its listed mode.
state_of() {
	git rev-parse -q --verify "$1:$2" || :
	modes_of "$1" | path=$2 xargs -0 -r sh -c 'for line do [ "${line#* }" != "$path" ] || echo "${line%% *}"; done' sh
}

merged=$TREE
folder_index=$GIT_INDEX_FILE
GIT_INDEX_FILE=$GIT_DIR/index.merge
while read -r tree name; do
	rm -f "$GIT_INDEX_FILE"
	git read-tree -i -m --aggressive "$TREE" "$merged" "$tree"
	git merge-index -o -q "$GIT_DIR/merge-one" -a
	merge_modes "$merged" "$tree"
	merged=$(git write-tree)
done <<END
$BRANCHES
END
if [ -s "$GIT_DIR/conflicts" ]; then
	sort -u "$GIT_DIR/conflicts" | head -n 20 | while IFS= read -r path; do
		was=$(state_of "$TREE" "$path")
		by=
		while read -r tree name; do
			is=$(state_of "$tree" "$path")
			[ "$is" = "$was" ] || by="$by${by:+, }$name"
		done <<END
$BRANCHES
END
		printf 'conflict %s (%s)\n' "$path" "$by"
	done
	exit 0
fi
GIT_INDEX_FILE=$folder_index
git update-ref "refs/baton/$merged" "$merged"
restore_tree "$merged"
echo "$merged"
