# The git tools that work in a repository of the workspace: git_prelude.sh, then this; sh -c SCRIPT sh OPERATION REPOSITORY ...
operation=$1 repository=$2
shift 2
top=$(pwd -P)
cd -P -- "./$repository" 2>/dev/null || refuse 66 "there is no folder $repository in the workspace"
case $(pwd -P)/ in
"$top"/*) ;;
*) refuse 64 "$repository is not in the workspace" ;;
esac
real=$(pwd -P)/.git
if [ -f "$real" ]; then
	refuse 64 "$repository is a linked worktree or a submodule, which git tools do not support; use git in a shell command"
elif [ -L "$real" ] || [ ! -d "$real" ] || [ ! -d "$real/objects" ] || [ ! -d "$real/refs" ]; then
	refuse 66 "$repository has no git repository; create one with git init in a shell command"
elif [ -L "$real/HEAD" ] || [ ! -f "$real/HEAD" ]; then
	refuse 64 "the HEAD of the repository in $repository is not a file"
fi

private=$temporary/git
[ -d "$real/logs" ] || [ "$operation" != commit ] || mkdir "$real/logs"
private_git "$private" "$real" "$real" "$repository"
GIT_WORK_TREE=$(pwd -P)
export GIT_WORK_TREE GIT_DIR="$private"

options='--no-ext-diff --no-textconv --no-color --ignore-submodules=dirty --submodule=short'

# What a commit is and what it changed.
put_commit() {
	branch=$(git symbolic-ref -q --short HEAD || :)
	parent=$(git rev-parse -q --verify "$1^" || :)
	printf '%s\n%s\n%s\n' "$1" "$branch" "$parent"
	# shellcheck disable=SC2086
	git diff-tree $options --root --no-commit-id -r -M --numstat -z "$1" -- >"$temporary/numbers"
	put_part "$temporary/numbers" "$NUMBER_BYTES"
}

do_status() {
	git status --porcelain=v2 -z --branch --untracked-files="$UNTRACKED" --ignore-submodules=dirty -- "$@"
}

# An index of our own with what the repository's has.
copy_index() {
	if [ -f "$real/index" ]; then cp -- "$real/index" "$temporary/index"; fi
	export GIT_INDEX_FILE="$temporary/index"
}

# The workspace is read-only: what git writes to know of new files goes elsewhere.
add_untracked() {
	copy_index
	mkdir "$temporary/objects"
	export GIT_OBJECT_DIRECTORY="$temporary/objects" GIT_ALTERNATE_OBJECT_DIRECTORIES="$(quoted "$real/objects")"
	git add --intent-to-add --ignore-errors . 2>/dev/null || :
}

do_diff() {
	set -- -- "$@"
	if [ -n "$BASE" ]; then
		base=$(find_tree "$BASE") || refuse 66 "there is no commit $BASE in the repository in $repository"
		set -- "$base" "$@"
	fi
	if [ "$UNTRACKED" = 1 ]; then add_untracked; fi
	if [ "$STAGED" = 1 ]; then set -- --cached "$@"; fi
	# shellcheck disable=SC2086
	git diff $options -M --numstat -z "$@" >"$temporary/numbers"
	put_part "$temporary/numbers" "$NUMBER_BYTES"
	# shellcheck disable=SC2086
	{
		git diff $options -M --src-prefix=a/ --dst-prefix=b/ -U"$CONTEXT" "$@" && code=0 || code=$?
		echo "$code" >"$temporary/code"
	} | head -c "$DIFF_BYTES"
	# The reader of a long diff goes away: 141.
	case $(cat "$temporary/code") in 0 | 141) ;; *) exit 1 ;; esac
}

# The index of the commit is a copy, which becomes the repository's own when the commit is there.  Until the ref is
# moved nothing of the repository has changed but for objects that nobody names.
index=$real/baton-index.${EFFECT:-none}

# The filter that makes a pointer of a file of Git LFS does not run here, so its content must not be committed.
check_pointers() {
	git diff-tree -r -z --no-renames --diff-filter=AMT --name-only "$before" "$tree" -- | git check-attr -z --stdin filter |
		tr '\n\0' ' \n' | awk 'NR % 3 == 1 { path = $0 } NR % 3 == 0 && $0 == "lfs" { print path }' >"$temporary/lfs"
	while IFS= read -r path; do
		git cat-file blob "$tree:$path" 2>/dev/null | head -c 42 | grep -q '^version https://git-lfs.github.com/spec/' ||
			refuse 65 "$path is stored with Git LFS, and git_commit would commit its content; commit it with git in a shell command, or restore it"
	done <"$temporary/lfs"
}

do_commit() {
	for name in MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD rebase-merge rebase-apply; do
		[ ! -e "$real/$name" ] || refuse 65 "a merge, rebase or the like is under way in $repository ($name); finish it with git in a shell command"
	done
	rm -f "$index" "$index.lock"
	trap 'rm -rf "$temporary" "$index" "$index.lock"' EXIT
	if [ -f "$real/index" ]; then cp -- "$real/index" "$index"; fi
	export GIT_INDEX_FILE="$index"
	if [ "$PATHS" = 1 ]; then
		git add -A --pathspec-from-file=- --pathspec-file-nul
	else
		git add -A
	fi
	tree=$(git write-tree)
	head=$(git rev-parse -q --verify 'HEAD^{commit}' || :)
	before=$(if [ -n "$head" ]; then git rev-parse "$head^{tree}"; else git hash-object -t tree /dev/null; fi)
	if [ "$tree" = "$before" ] && [ "$ALLOW_EMPTY" != 1 ]; then
		refuse 65 "there is nothing to commit in $repository: no file has changed since the last commit; set allow_empty to commit anyway"
	fi
	check_pointers
	name=${NAME:-$(git config user.name || :)} email=${EMAIL:-$(git config user.email || :)}
	export GIT_AUTHOR_NAME="${name:-Baton}" GIT_AUTHOR_EMAIL="${email:-baton@localhost}"
	export GIT_COMMITTER_NAME="$GIT_AUTHOR_NAME" GIT_COMMITTER_EMAIL="$GIT_AUTHOR_EMAIL"
	commit=$(printf '%s\n' "$MESSAGE" | git interpret-trailers --no-divider --trailer "Baton-Effect: $EFFECT" |
		git commit-tree "$tree" ${head:+-p "$head"} -F -)
	if branch=$(git symbolic-ref -q HEAD); then
		git update-ref --create-reflog -m "commit: by Baton" "$branch" "$commit" "${head:-$(printf "%0${#commit}d" 0)}" 2>"$temporary/moved" ||
			refuse 65 "another commit came first in $repository: $(head -c 200 "$temporary/moved")"
	else
		[ "$(cat "$real/HEAD")" = "$(cat "$private/HEAD")" ] || refuse 65 "another commit came first in $repository"
		printf '%s\n' "$commit" >"$real/HEAD.baton-new"
		sync "$real/HEAD.baton-new"
		mv -f -- "$real/HEAD.baton-new" "$real/HEAD"
		cp -- "$real/HEAD" "$private/HEAD"
	fi
	mv -f -- "$index" "$real/index"
	unset GIT_INDEX_FILE
	put_commit "$commit"
}

# Whether the commit with this effect's id is there.  A crash may have come before the index followed it.
do_probe() {
	found=
	git log --all --fixed-strings --grep="Baton-Effect: $EFFECT" --format='%H %(trailers:key=Baton-Effect,valueonly,separator=%x20)' >"$temporary/found"
	while read -r commit ids; do
		case " $ids " in *" $EFFECT "*) found=$commit && break ;; esac
	done <"$temporary/found"
	if [ -z "$found" ]; then
		rm -f "$index" "$index.lock"
		echo none
		return
	fi
	if [ -f "$index" ] && [ "$(git rev-parse -q --verify HEAD)" = "$found" ]; then mv -f -- "$index" "$real/index"; fi
	rm -f "$index" "$index.lock"
	put_commit "$found"
}

# The files as they are, as a tree that git_diff and git_restore take; no ref is moved.
do_snapshot() {
	copy_index
	git add -A
	tree=$(git write-tree)
	printf '%s\n%s\n' "$tree" "$(git rev-parse -q --verify 'HEAD^{commit}' || :)"
}

# Everything that is not ignored is in the index first, so that new files go, too.
do_restore() {
	target=$(find_tree "$COMMIT") || refuse 66 "there is no commit $COMMIT in the repository in $repository"
	copy_index
	git add -A
	tree=$(git write-tree)
	# shellcheck disable=SC2086
	git diff-tree $options -r -M --numstat -z "$tree" "$target" -- >"$temporary/numbers"
	git read-tree --reset -u "$target"
	mv -f -- "$temporary/index" "$real/index"
	put_part "$temporary/numbers" "$NUMBER_BYTES"
}

# A hook of the repository, as git would run it: with git's own view of the work tree.  It is only in a sandbox
# that anything of the repository is run.
run_hook() {
	name=$1
	shift
	(
		unset GIT_DIR GIT_WORK_TREE GIT_LITERAL_PATHSPECS GIT_ALLOW_PROTOCOL GIT_NO_LAZY_FETCH GIT_OPTIONAL_LOCKS GIT_ATTR_NOSYSTEM
		export HOME="$home" GIT_INDEX_FILE="$real/index" GIT_EDITOR=: GIT_PREFIX=
		exec "$hooks/$name" "$@"
	) </dev/null >>"$temporary/hook" 2>&1
}

hook_failed() {
	refuse 67 "the $1 hook failed with exit status $2$3: $(tail -c "$HOOK_BYTES" "$temporary/hook")"
}

stage() {
	git add -A
	git write-tree
}

do_hooks() {
	hooks=$(git config --file "$real/config" --no-includes core.hooksPath || :)
	case $hooks in
	'') hooks=$real/hooks ;;
	/*) ;;
	*) hooks=$GIT_WORK_TREE/$hooks ;;
	esac
	export GIT_INDEX_FILE="$real/index"
	rm -f "$real/index.lock"
	: >"$temporary/hook"
	ran=0 first=$(stage)
	tree=$first
	if [ -f "$hooks/pre-commit" ] && [ -x "$hooks/pre-commit" ]; then
		ran=1
		run_hook pre-commit && code=0 || code=$?
		tree=$(stage)
		if [ "$code" != 0 ] && [ "$tree" != "$first" ]; then
			run_hook pre-commit && code=0 || code=$?
			tree=$(stage)
			[ "$code" = 0 ] || hook_failed pre-commit "$code" " again after the files that it changed were staged"
		fi
		[ "$code" = 0 ] || hook_failed pre-commit "$code" ""
	fi
	printf '%s\n' "$MESSAGE" >"$temporary/message"
	if [ -n "$MESSAGE" ] && [ -f "$hooks/commit-msg" ] && [ -x "$hooks/commit-msg" ]; then
		ran=1
		cp -- "$temporary/message" "$real/COMMIT_EDITMSG"
		run_hook commit-msg "$real/COMMIT_EDITMSG" && code=0 || code=$?
		[ "$code" = 0 ] || hook_failed commit-msg "$code" ""
		cp -- "$real/COMMIT_EDITMSG" "$temporary/message"
	fi
	printf '%s %s\n' "$ran" "$([ "$tree" = "$first" ] && echo 0 || echo 1)"
	# shellcheck disable=SC2086
	git diff-tree $options -r -M --numstat -z "$first" "$tree" -- >"$temporary/numbers"
	put_part "$temporary/numbers" "$NUMBER_BYTES"
	put_part "$temporary/hook" "$HOOK_BYTES"
	head -c 65536 "$temporary/message"
}

# The commits of a branch that the run has made, as a pack.
do_pack() {
	[ -f "$real/baton" ] || refuse 66 "the workspace was not made by git_checkout, so there is nothing to publish"
	name=${BRANCH:-$(git symbolic-ref -q --short HEAD || :)}
	[ -n "$name" ] || refuse 65 "HEAD of the run's work tree is detached; name the branch to publish"
	commit=$(git rev-parse -q --verify --end-of-options "refs/heads/$name^{commit}") ||
		refuse 66 "there is no branch $name in the run's work tree"
	base=$(sed -n 3p "$real/baton")
	git rev-list "$commit" "^$base" >"$temporary/commits"
	printf '%s\n%s\n%d\n' "$name" "$commit" "$(wc -l <"$temporary/commits")"
	printf '%s\n^%s\n' "$commit" "$base" | git pack-objects --revs --stdout -q --delta-base-offset
}

"do_$operation" "$@"
