# The git tools: sh -c SCRIPT sh OPERATION REPOSITORY ...
#
# The repository may come from anywhere, and its configuration can name programs: hooks, filters, diff and merge
# drivers, a monitor of the file system.  So git never reads that configuration.  It gets a git directory of its own
# in a temporary folder, with a configuration of ours, and links to the data of the repository: objects, refs and
# logs.  Settings that only describe the files are copied by name.
#
# A refusal is a sentence on stderr and one of these exit statuses: 64 invalid, 65 conflict, 66 not found.
set -eu
umask 022

refuse() {
	status=$1
	shift
	printf '%s\n' "$*" >&2
	exit "$status"
}

operation=$1 repository=$2
shift 2
command -v git >/dev/null || refuse 66 "git is not installed"
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

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
private=$temporary/git
mkdir "$private"
cp -- "$real/HEAD" "$private/HEAD"
[ -d "$real/logs" ] || [ "$operation" != commit ] || mkdir "$real/logs"
for name in objects refs packed-refs shallow logs info; do
	if [ -e "$real/$name" ]; then ln -s "$real/$name" "$private/$name"; fi
done
for shared in "$real"/sharedindex.*; do
	if [ -f "$shared" ]; then ln -s "$shared" "$private/"; fi
done
if [ -f "$real/index" ]; then ln -s "$real/index" "$private/index"; fi
cat >"$private/config" <<-'END'
	[core]
		repositoryFormatVersion = 0
		bare = false
		hooksPath = /dev/null
		fsmonitor = false
		untrackedCache = false
		splitIndex = false
		protectHFS = false
		protectNTFS = false
		quotePath = false
		fsync = all
	[gc]
		auto = 0
	[maintenance]
		auto = false
	[submodule]
		recurse = false
	[advice]
		addEmbeddedRepo = false
END
GIT_WORK_TREE=$(pwd -P)
export GIT_WORK_TREE GIT_DIR="$private" HOME="$temporary" GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
export GIT_ATTR_NOSYSTEM=1 GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0 GIT_PAGER=cat GIT_LITERAL_PATHSPECS=1
export GIT_ALLOW_PROTOCOL=none GIT_NO_LAZY_FETCH=1 LC_ALL=C.UTF-8
if [ -f "$real/config" ]; then
	names='core\.(filemode|symlinks|ignorecase|autocrlf|eol|sparsecheckout|sparsecheckoutcone|repositoryformatversion)'
	git config --file "$real/config" --no-includes --get-regexp \
		"^($names|index\.sparse|extensions\.objectformat|extensions\.refstorage|user\.name|user\.email)\$" >"$temporary/settings" 2>/dev/null || :
	while read -r key value; do
		case $key in
		core.filemode | core.symlinks | core.ignorecase | core.autocrlf | core.eol | core.sparsecheckout | core.sparsecheckoutcone | \
			core.repositoryformatversion | index.sparse | extensions.objectformat | user.name | user.email)
			git config --file "$private/config" "$key" "$value" 2>/dev/null || : ;;
		extensions.refstorage)
			[ "$value" = files ] || refuse 64 "the repository in $repository stores its refs as $value, which git tools do not support" ;;
		esac
	done <"$temporary/settings"
fi

# A file with at most $2 of its bytes: a line with both sizes, then the bytes.
put_part() {
	size=$(wc -c <"$1")
	printf '%d %d\n' "$((size < $2 ? size : $2))" "$size"
	head -c "$2" <"$1"
}

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

do_diff() {
	set -- -- "$@"
	if [ -n "$BASE" ]; then
		base=$(git rev-parse -q --verify --end-of-options "$BASE^{commit}") ||
			refuse 66 "there is no commit $BASE in the repository in $repository"
		set -- "$base" "$@"
	fi
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

"do_$operation" "$@"
