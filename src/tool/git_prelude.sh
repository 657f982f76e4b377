# Comes before every script of the git tools.
#
# A repository may come from anywhere, and its configuration can name programs: hooks, filters, diff and merge
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

command -v git >/dev/null || refuse 66 "git is not installed"
home=$HOME
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
# No git directory is looked for: the configuration of one that is found would be read.
export GIT_DIR="$temporary/none" HOME="$temporary" GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1 GIT_OPTIONAL_LOCKS=0
export GIT_TERMINAL_PROMPT=0 GIT_PAGER=cat GIT_LITERAL_PATHSPECS=1 GIT_ALLOW_PROTOCOL=none GIT_NO_LAZY_FETCH=1 LC_ALL=C.UTF-8

# Makes the folder $1 a git directory of ours for the repository with the git directory $2 and the common one $3.
# $4 names the repository in messages.
private_git() {
	mkdir "$1"
	cp -- "$2/HEAD" "$1/HEAD"
	for name in objects refs shallow logs info; do
		if [ -e "$3/$name" ]; then ln -s "$3/$name" "$1/$name"; fi
	done
	ln -s "$3/packed-refs" "$1/packed-refs"
	for shared in "$2"/sharedindex.*; do
		if [ -f "$shared" ]; then ln -s "$shared" "$1/"; fi
	done
	if [ -f "$2/index" ]; then ln -s "$2/index" "$1/index"; fi
	cat >"$1/config" <<-'END'
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
	if [ -f "$3/config" ]; then copy_settings "$1" "$3" "$4"; fi
}

copy_settings() {
	names='core\.(filemode|symlinks|ignorecase|autocrlf|eol|sparsecheckout|sparsecheckoutcone|repositoryformatversion)'
	git config --file "$2/config" --no-includes --get-regexp \
		"^($names|index\.sparse|extensions\.objectformat|extensions\.refstorage|user\.name|user\.email)\$" >"$temporary/settings" 2>/dev/null || :
	while read -r key value; do
		case $key in
		core.filemode | core.symlinks | core.ignorecase | core.autocrlf | core.eol | core.sparsecheckout | core.sparsecheckoutcone | \
			core.repositoryformatversion | index.sparse | extensions.objectformat | user.name | user.email)
			git config --file "$1/config" "$key" "$value" 2>/dev/null || : ;;
		extensions.refstorage)
			[ "$value" = files ] || refuse 64 "the repository in $3 stores its refs as $value, which git tools do not support" ;;
		esac
	done <"$temporary/settings"
}

# A file with at most $2 of its bytes: a line with both sizes, then the bytes.
put_part() {
	size=$(wc -c <"$1")
	printf '%d %d\n' "$((size < $2 ? size : $2))" "$size"
	head -c "$2" <"$1"
}

# The commit, or failing that the tree, that $1 names.
find_tree() {
	git rev-parse -q --verify --end-of-options "$1^{commit}" || git rev-parse -q --verify --end-of-options "$1^{tree}"
}

# A path for GIT_ALTERNATE_OBJECT_DIRECTORIES, in which colons separate.
quoted() {
	printf '"%s"' "$(printf '%s' "$1" | sed 's/[\\"]/\\&/g')"
}
