# Comes before every other script.  Only the holder of the lock runs git here, so lock files of git are
# left over from a killed process.
set -eu
export LC_ALL=C
# On Linux a file may be called git~1.  Errors have names of files as they are, so that secrets are found in them.
export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=core.protectHFS GIT_CONFIG_VALUE_0=false
export GIT_CONFIG_KEY_1=core.protectNTFS GIT_CONFIG_VALUE_1=false
export GIT_CONFIG_KEY_2=core.quotePath GIT_CONFIG_VALUE_2=false
exec 8>"$GIT_DIR/busy"
flock 8
rm -f "$GIT_DIR"/*.lock "$GIT_DIR"/refs/baton/*.lock
if [ ! -f "$GIT_DIR/ready" ]; then
	git init -q --template=
	mkdir -p "$GIT_DIR/info"
	echo '* -text -filter -ident -working-tree-encoding' >"$GIT_DIR/info/attributes"
	: >"$GIT_DIR/ready"
fi

# Of the paths at the input, the folders that they are in.
folders_above() {
	sed -z -n 's|^\./||; :above; s|/[^/]*$||; T; p; b above' | sort -zu
}

# Gives the user of this script every folder whose mode locks it out; their modes go to $GIT_DIR/locked.
unlock_folders() {
	find . -mindepth 1 -type d ! -perm -700 -printf '%m %P\0' -exec chmod u+rwx {} \; >"$GIT_DIR/locked"
}

# Sets the modes of a list of "MODE PATH", of what is a file or folder now.
set_modes() {
	sed -z 's/ .*//' "$1" | sort -zu | tr '\0' '\n' | while IFS= read -r mode; do
		sed -z -n "s|^$mode |./|p" "$1" |
			xargs -0 -r sh -c 'for path do
				shift
				[ -L "$path" ] || [ ! -e "$path" ] || set -- "$@" "$path"
			done
			[ $# = 0 ] || chmod "$0" "$@"' "$mode"
	done
}

# Restores the folder to a tree.  Files that the tree's .gitignore excludes stay.  A .gitignore that was
# added later is removed first, so that it does not hide files.  Repositories that came later are removed.
# A tree of an older version has no list of modes.
restore_tree() {
	unlock_folders
	find . -name .git -prune -print0 | sort -z >"$GIT_DIR/found"
	git cat-file -p "$1:.baton-repositories" 2>/dev/null | sort -z >"$GIT_DIR/known" || :
	comm -z -23 "$GIT_DIR/found" "$GIT_DIR/known" | xargs -0 -r rm -rf --
	git read-tree "$1"
	git ls-files -z --others -- .gitignore '*/.gitignore' | xargs -0 -r rm -f --
	git cat-file blob "$1:.baton-empty-folders" >"$GIT_DIR/empty"
	knows_modes=
	if git cat-file blob "$1:.baton-modes" >"$GIT_DIR/modes" 2>/dev/null; then
		knows_modes=yes
		umask 022
	fi
	git checkout-index -q -a -f
	git clean -q -f -f -d
	xargs -0 -r mkdir -p -- <"$GIT_DIR/empty"
	git update-index --force-remove .baton-empty-folders .baton-modes .baton-repositories
	rm -f .baton-empty-folders .baton-modes .baton-repositories
	set_modes "$GIT_DIR/locked" 2>/dev/null || :
	if [ -n "$knows_modes" ]; then
		{
			sed -z 's|^\./||; s|^|755 |' "$GIT_DIR/empty"
			{ git ls-files -z; cat "$GIT_DIR/empty"; } | folders_above | sed -z 's|^|755 |'
		} >"$GIT_DIR/plain"
		set_modes "$GIT_DIR/plain"
		set_modes "$GIT_DIR/modes"
	fi
}

# Stores the workspace as the git tree $tree.  Empty folders and most modes, which git does not store, and
# repositories, whose own data is not stored, are listed in files that exist only in the tree.  Nothing is
# hashed before it is known to be small enough: a sparse file of a terabyte is read whole.  A folder that is
# too large ends the script.
take_tree() {
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
	folders=$(find . -mindepth 1 -name .git -prune -o -type d -empty -print0 | tee "$GIT_DIR/empty" | git hash-object -w --stdin)
	repositories=$(git hash-object -w --stdin <"$GIT_DIR/found")
	# Of modes git knows only the executable bit.  The others are listed as "MODE PATH": of files other than
	# 644 and 755, and of folders other than 755.
	modes=$({
		git ls-files -z
		sed -z 's|^\./||' "$GIT_DIR/empty"
		{ git ls-files -z; cat "$GIT_DIR/empty"; } | folders_above
	} | xargs -0 -r stat --printf '%f %a %n\0' -- 2>/dev/null |
		sed -z -E '/^(81a4|81ed|41ed) /d; /^[48]...( )/!d; s/^[0-9a-f]+ //' | sort -zu | git hash-object -w --stdin)
	set -- --cacheinfo "100644,$folders,.baton-empty-folders" --cacheinfo "100644,$modes,.baton-modes"
	if [ -s "$GIT_DIR/found" ]; then
		set -- "$@" --cacheinfo "100644,$repositories,.baton-repositories"
	fi
	git update-index --add "$@"
	tree=$(git write-tree)
	git update-index --force-remove .baton-empty-folders .baton-modes .baton-repositories
}
