# git_checkout and git_publish: git_prelude.sh, then this; sh -c SCRIPT sh OPERATION.
#
# claim and accept work in the user's repository: $TOP is its work tree, $GITDIR its git directory and $COMMON the one
# that all its worktrees share; only $COMMON can be written.  clone works in the run's workspace, and can only read
# the repository.  The run whose branch it is, is recorded in the reflog: the newest entry that creates the branch.
operation=$1
export GIT_COMMITTER_NAME=Baton GIT_COMMITTER_EMAIL=baton@localhost

# The entry of the reflog that created branch $1, if this run did: "COMMIT BASE_BRANCH".
claim_of() {
	grep '^0\{40,\} ' "$COMMON/logs/refs/heads/$1" 2>/dev/null | tail -n 1 >"$temporary/entry"
	tab=$(printf '\t')
	IFS="$tab" read -r who what <"$temporary/entry" || [ -n "$who" ] || return 1
	case $what in
	"baton: run $RUN from "*) ;;
	*) return 1 ;;
	esac
	who=${who#* }
	printf '%s %s\n' "${who%% *}" "${what#"baton: run $RUN from "}"
}

in_progress() {
	[ ! -e "$GITDIR/$1" ] || refuse 65 "a $2 is in progress in the repository; $3"
}

check_operations() {
	for name in rebase-merge rebase-apply; do
		if [ -e "$GITDIR/$name/applying" ]; then
			in_progress "$name" "git am" "finish it with git am --continue or --abort"
		fi
		in_progress "$name" rebase "finish it with git rebase --continue or --abort"
	done
	in_progress MERGE_HEAD merge "finish it with git merge --continue or --abort"
	in_progress CHERRY_PICK_HEAD cherry-pick "finish it with git cherry-pick --continue or --abort"
	in_progress REVERT_HEAD revert "finish it with git revert --continue or --abort"
	in_progress BISECT_LOG bisect "finish it with git bisect reset"
}

# Files that are not tracked do not count: they are not part of a commit, and the run does not touch them.
check_clean() {
	[ "$ALLOW_DIRTY" = 0 ] && [ -n "$head" ] || return 0
	git -c core.checkStat=minimal -c core.trustctime=false diff-index -z --name-only --ignore-submodules=dirty HEAD -- >"$temporary/changed"
	count=$(tr -cd '\0' <"$temporary/changed" | wc -c)
	[ "$count" = 0 ] || refuse 65 "the repository has uncommitted changes ($count file$([ "$count" = 1 ] || echo s)," \
		"first: $(head -z -n 1 "$temporary/changed" | tr -d '\0'));" \
		"commit or stash them, or use --dirty to work from the last commit without them"
}

# Sets base and base_branch.
find_base() {
	head=$(git rev-parse -q --verify 'HEAD^{commit}' || :)
	base_branch=$(git symbolic-ref -q --short HEAD || :)
	if [ -n "$BASE" ]; then
		base=$(git rev-parse -q --verify --end-of-options "$BASE^{commit}") ||
			refuse 66 "there is no commit $BASE in the repository; name a branch, tag or commit of it as base"
		base_branch=
		if git show-ref -q --verify "refs/heads/$BASE"; then base_branch=$BASE; fi
	elif [ -z "$head" ]; then
		refuse 65 "the repository has no commit yet; make one with git commit, so that there is something to work from"
	elif [ -z "$base_branch" ]; then
		refuse 65 "the repository is not on a branch (HEAD is at $(git rev-parse --short=7 HEAD)); check out a branch, or name the base with --base"
	else
		base=$head
	fi
}

# A name of the form NAME-2 is tried when NAME is taken.  Sets branch.
create_branch() {
	number=1 waits=0
	while :; do
		branch=$BRANCH
		[ "$number" = 1 ] || branch=$BRANCH-$number
		if ! git show-ref -q --verify "refs/heads/$branch"; then
			if git update-ref --create-reflog -m "baton: run $RUN from ${base_branch:--}" "refs/heads/$branch" "$base" \
				"$(printf "%0${#base}d" 0)" 2>"$temporary/refused"; then
				return
			fi
			# Another process creates it at this moment, or git does not want it.
			waits=$((waits + 1))
			if ! git show-ref -q --verify "refs/heads/$branch" && { [ "$waits" -gt 20 ] || ! grep -q '\.lock' "$temporary/refused"; }; then
				refuse 65 "the branch $branch cannot be created in the repository: $(tail -n 1 "$temporary/refused" | head -c 300)"
			fi
			sleep 0.1
			continue
		fi
		number=$((number + 1))
		[ "$number" -le "$BRANCHES" ] ||
			refuse 65 "the branches $BRANCH to $BRANCH-$BRANCHES exist already in the repository; delete old ones with git branch -d, or name another branch"
	done
}

check_repository() {
	[ -d "$COMMON/objects" ] && [ -d "$COMMON/refs" ] && [ -f "$GITDIR/HEAD" ] ||
		refuse 66 "$PLACE is not a git repository that can be read: it has no objects, refs or HEAD"
	[ -w "$COMMON/refs/heads" ] && [ -w "$COMMON/objects" ] ||
		refuse 64 "the repository in $PLACE cannot be written by the user of the server (uid $(id -u)); start the server as its owner"
	if [ -s "$COMMON/objects/info/alternates" ]; then
		refuse 64 "the repository in $PLACE borrows objects of another one (objects/info/alternates);" \
			"give it its own with git repack -a -d, and delete that file"
	fi
	if git config --file "$COMMON/config" --no-includes extensions.partialClone >/dev/null 2>&1; then
		refuse 64 "the repository in $PLACE is a partial clone, whose missing files would have to be fetched; make a complete clone of it"
	fi
}

check_size() {
	git ls-tree -r -l "$base" | awk '{ n++; s += $4 } END { printf "%d %.0f\n", n, s }' >"$temporary/size"
	read -r files bytes <"$temporary/size"
	[ "$files" -le "$FILES" ] && [ "$bytes" -le "$BYTES" ] ||
		refuse 64 "the repository is too large: $files files with $bytes bytes, and a run can have $FILES files with $BYTES bytes"
}

do_claim() {
	check_repository
	private_git "$temporary/git" "$GITDIR" "$COMMON" "$PLACE"
	export GIT_DIR="$temporary/git" GIT_WORK_TREE="$TOP"
	case $BRANCH in -* | @* | HEAD | refs/*) valid= ;; *) valid=1 ;; esac
	[ -n "$valid" ] && git check-ref-format "refs/heads/$BRANCH" && git check-ref-format "refs/heads/$BRANCH-$BRANCHES" ||
		refuse 64 "$BRANCH is not a name for a branch; see git help check-ref-format"
	git for-each-ref --format='%(refname:lstrip=2)' "refs/heads/$BRANCH" "refs/heads/$BRANCH-*" >"$temporary/branches"
	while read -r branch; do
		if claim=$(claim_of "$branch"); then
			base=${claim%% *} base_branch=${claim#* }
			printf '%s\n%s\n%s\n%s\n' "$branch" "$base" "${base_branch#-}" "$(git rev-parse "refs/heads/$branch")"
			return
		fi
	done <"$temporary/branches"
	check_operations
	find_base
	check_clean
	check_size
	[ -d "$COMMON/logs" ] || mkdir "$COMMON/logs"
	[ -e "$GIT_DIR/logs" ] || ln -s "$COMMON/logs" "$GIT_DIR/logs"
	branch=$BRANCH
	[ "$CLAIM" = 0 ] || create_branch
	printf '%s\n%s\n%s\n%s\n' "$branch" "$base" "$base_branch" "$base"
}

# ---- the run's own clone ----------------------------------------------------------------

# Copies hooks that git_hooks runs, in the sandbox.
copy_hooks() {
	path=$(git config --file "$COMMON/config" --no-includes core.hooksPath || :)
	case $path in
	'') source=$COMMON/hooks target=$new/hooks ;;
	/* | *..*)
		echo "the hooks in $path are not in the repository, so they do not run" >>"$new/baton-warnings"
		return
		;;
	*)
		source=$TOP/$path target=./$path
		git config --file "$new/config" core.hooksPath "$path"
		;;
	esac
	[ -d "$source" ] || return 0
	if [ "$(du -sk -- "$source" | cut -f 1)" -gt 1024 ]; then
		echo "the folder of hooks has more than 1 MiB, so they do not run" >>"$new/baton-warnings"
		return
	fi
	mkdir -p "$target"
	if [ -n "$path" ]; then
		# Hooks that the repository tracks are there; those that a program has made are not part of its commits.
		if [ -z "$(git ls-files -- "$path" | head -n 1)" ]; then
			echo "/$path/" >>"$new/info/exclude"
			cp -RL -- "$source/." "$target/" 2>/dev/null || :
		fi
		return
	fi
	for name in pre-commit commit-msg; do
		if [ -f "$source/$name" ] && [ -x "$source/$name" ]; then
			cp -L -- "$source/$name" "$target/$name"
		elif [ -L "$source/$name" ]; then
			echo "the hook $name is a link to a file that is not in the repository, so it does not run" >>"$new/baton-warnings"
		fi
	done
}

# The clone is complete when it has its name, in one rename.
make_clone() {
	new=.git.baton/git
	rm -rf "$new"
	format=$(git config --file "$GIT_DIR/config" extensions.objectFormat || echo sha1)
	env -u GIT_WORK_TREE GIT_DIR="$new" git init -q --template= --object-format="$format"
	git config --file "$new/config" core.bare false
	mkdir -p "$new/info" "$new/objects/pack"
	if ! printf '%s\n%s\n' "$TIP" "$BASE_COMMIT" |
		GIT_OBJECT_DIRECTORY="$PWD/$new/objects" GIT_ALTERNATE_OBJECT_DIRECTORIES=$(quoted "$COMMON/objects") git pack-objects --revs -q --delta-base-offset "$new/objects/pack/pack" >/dev/null 2>"$temporary/failed"; then
		refuse 64 "the repository in $PLACE cannot be copied: $(tail -n 2 "$temporary/failed" | head -c 300); see git fsck there"
	fi
	if [ -f "$COMMON/shallow" ]; then cp -- "$COMMON/shallow" "$new/shallow"; fi
	for name in exclude attributes; do
		if [ -f "$COMMON/info/$name" ]; then cp -L -- "$COMMON/info/$name" "$new/info/$name"; fi
	done
	git config --file "$GIT_DIR/config" --list -z | tr '\0\n' '\n\t' >"$temporary/kept"
	while IFS=$(printf '\t') read -r key value; do
		case $key in
		user.* | core.filemode | core.symlinks | core.ignorecase | core.autocrlf | core.eol) git config --file "$new/config" "$key" "$value" ;;
		esac
	done <"$temporary/kept"
	git config --file "$new/config" gc.auto 0
	: >"$new/baton-warnings"
	export GIT_DIR="$new" GIT_WORK_TREE=.
	git update-ref --create-reflog -m "baton: checkout" "refs/heads/$BRANCH" "$TIP"
	if [ -n "$BASE_BRANCH" ]; then git update-ref "refs/remotes/origin/$BASE_BRANCH" "$BASE_COMMIT"; fi
	git symbolic-ref HEAD "refs/heads/$BRANCH"
	git -c core.protectHFS=false -c core.protectNTFS=false read-tree "$TIP"
	# shellcheck disable=SC2086
	git -c core.protectHFS=false -c core.protectNTFS=false checkout-index -a -u $1 2>"$temporary/failed" ||
		refuse 65 "the workspace has files in the way: $(head -n 1 "$temporary/failed" | head -c 300); let git_checkout come before steps that write files"
	copy_hooks
	printf '%s\n' "$RUN" "$BRANCH" "$BASE_COMMIT" "$BASE_BRANCH" >"$new/baton"
	sync -f "$new/baton"
	mv -- "$new" .git
}

# What an agent and a person must know of the checkout.
put_warnings() {
	cat .git/baton-warnings
	git ls-files -s | grep '^160000 ' | cut -f 2- >"$temporary/modules" || :
	if [ -s "$temporary/modules" ]; then
		echo "submodules are not checked out, their folders are empty: $(head -n 5 "$temporary/modules" | paste -s -d ' ')"
	fi
	git ls-files -z | git check-attr -z --stdin filter | tr '\n\0' ' \n' |
		awk 'NR % 3 == 1 { path = $0 } NR % 3 == 0 && $0 == "lfs" { n++; if (n == 1) first = path }
			END { if (n > 0) printf "%d files are stored with Git LFS (first: %s); the work tree has their pointers, not their content\n", n, first }'
}

put_conventions() {
	set --
	for path in AGENTS.md CLAUDE.md GEMINI.md .cursorrules .windsurfrules .github/copilot-instructions.md CONTRIBUTING.md .github/CONTRIBUTING.md docs/CONTRIBUTING.md; do
		case $(git ls-tree "$BASE_COMMIT" -- "$path") in
		100*) [ $# -ge "$CONVENTIONS" ] || set -- "$@" "$path" ;;
		esac
	done
	echo "$#"
	for path; do
		echo "$path"
		git cat-file blob "$BASE_COMMIT:$path" >"$temporary/convention"
		put_part "$temporary/convention" "$CONVENTION_BYTES"
	done
}

do_clone() {
	if [ ! -e .git ]; then
		force=
		if [ -f .git.baton/run ]; then force=-f; fi
		mkdir -p .git.baton
		echo "$RUN" >.git.baton/run
		private_git "$temporary/git" "$GITDIR" "$COMMON" "$PLACE"
		export GIT_DIR="$temporary/git" GIT_WORK_TREE=.
		make_clone "$force"
	fi
	rm -rf .git.baton
	[ -f .git/baton ] || refuse 65 "the workspace has a git repository already; let git_checkout come before steps that make one"
	{
		read -r run && read -r branch && read -r BASE_COMMIT && { read -r BASE_BRANCH || :; }
	} <.git/baton
	[ "$run" = "$RUN" ] && [ "$branch" = "$BRANCH" ] ||
		refuse 65 "the workspace is a work tree of branch $branch already; a run has one work tree"
	export GIT_DIR=.git GIT_WORK_TREE=. GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=false \
		GIT_CONFIG_KEY_1=core.hooksPath GIT_CONFIG_VALUE_1=/dev/null
	printf '%s\n%s\n%s\n%s\n' "$BRANCH" "$BASE_COMMIT" "$BASE_BRANCH" "$(git rev-parse HEAD)"
	put_warnings >"$temporary/warnings"
	put_part "$temporary/warnings" 4096
	put_conventions
}

# ---- commits come back --------------------------------------------------------------------

check_not_checked_out() {
	for head in "$COMMON/HEAD" "$COMMON"/worktrees/*/HEAD; do
		[ -f "$head" ] && [ "$(cat "$head")" = "ref: refs/heads/$BRANCH" ] || continue
		place=$PLACE
		if [ "$head" != "$COMMON/HEAD" ]; then place=$(sed 's|/\.git$||' "${head%HEAD}gitdir" 2>/dev/null || echo "another worktree"); fi
		refuse 65 "the branch $BRANCH is checked out in $place, whose files would not follow; check out another branch there and publish again"
	done
}

# Whoever died while moving a ref has left the lock; a move takes milliseconds.
move_branch() {
	for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
		git update-ref --create-reflog -m "baton: run $RUN publishes" "refs/heads/$BRANCH" "$COMMIT" "$1" 2>"$temporary/refused" && return
		grep -q '\.lock' "$temporary/refused" || break
		lock=$COMMON/refs/heads/$BRANCH.lock
		if [ "$(($(date +%s) - $(stat -c %Y "$lock" 2>/dev/null || date +%s)))" -ge 10 ]; then rm -f "$lock"; fi
		sleep 1
	done
	refuse 65 "the branch $BRANCH cannot be moved to $COMMIT: $(tail -n 1 "$temporary/refused" | head -c 300)"
}

# Objects are looked at apart from the repository first; what is refused never gets there.
check_objects() {
	mkdir "$temporary/objects"
	export GIT_OBJECT_DIRECTORY="$temporary/objects" GIT_ALTERNATE_OBJECT_DIRECTORIES="$(quoted "$COMMON/objects")"
	git index-pack --strict --stdin <"$temporary/pack" >/dev/null 2>"$temporary/refused" ||
		refuse 64 "git does not accept the objects of the run's commits: $(tail -n 2 "$temporary/refused" | head -c 300)"
	git rev-parse -q --verify "$COMMIT^{commit}" >/dev/null && git rev-list --objects --quiet "$COMMIT" "^$1" 2>"$temporary/refused" ||
		refuse 64 "the commits of the run are not complete: $(tail -n 2 "$temporary/refused" | head -c 300)"
	git merge-base --is-ancestor "$1" "$COMMIT" || refuse 65 "$2"
	unset GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
}

do_accept() {
	cat >"$temporary/pack"
	check_repository
	private_git "$temporary/git" "$GITDIR" "$COMMON" "$PLACE"
	export GIT_DIR="$temporary/git"
	old=$(git rev-parse -q --verify "refs/heads/$BRANCH^{commit}") || refuse 66 "the branch $BRANCH is gone from the repository in $PLACE"
	claim_of "$BRANCH" >/dev/null || refuse 65 "the branch $BRANCH was not made by this run, so it is not touched"
	if [ "$old" != "$COMMIT" ]; then
		check_not_checked_out
		check_objects "$old" "the branch $BRANCH was moved to $old in the meantime, and the run has $COMMIT, which does not follow it"
		if [ "$COUNT" -lt 100 ]; then
			git unpack-objects -q <"$temporary/pack"
		else
			git index-pack --stdin <"$temporary/pack" >/dev/null
		fi
		move_branch "$old"
	fi
	printf '%s\n%s\n%s\n' "$BRANCH" "$COMMIT" "$old"
}

# ---- what a run has changed -----------------------------------------------------------------

# Sets branch, base and base_branch from the run's clone, or from its claim in the repository.
find_branch() {
	if [ -z "${COMMON:-}" ]; then
		[ ! -L .git ] && [ -d .git/refs ] && [ -f .git/baton ] && [ ! -L .git/baton ] ||
			refuse 66 "the run has no work tree of a repository; git_checkout makes one"
		private_git "$temporary/git" "$PWD/.git" "$PWD/.git" "the workspace"
		export GIT_DIR="$temporary/git"
		{
			read -r run && read -r branch && read -r base && { read -r base_branch || :; }
		} <.git/baton
		return
	fi
	private_git "$temporary/git" "$GITDIR" "$COMMON" "$PLACE"
	export GIT_DIR="$temporary/git"
	git for-each-ref --format='%(refname:lstrip=2)' refs/heads >"$temporary/branches"
	while read -r branch; do
		if claim=$(claim_of "$branch"); then
			base=${claim%% *} base_branch=${claim#* }
			base_branch=${base_branch#-}
			return
		fi
	done <"$temporary/branches"
	refuse 66 "the run has no branch in the repository in $PLACE"
}

do_changes() {
	find_branch
	commit=$(git rev-parse -q --verify --end-of-options "${COMMIT:-refs/heads/$branch}^{commit}") ||
		refuse 66 "there is no commit ${COMMIT:-of branch $branch} in the run's repository"
	base=$(find_tree "${BASE:-$base}") || refuse 66 "there is no commit ${BASE:-$base} in the run's repository"
	printf '%s\n%s\n%s\n%s\n' "$branch" "$base" "$base_branch" "$commit"
	options='--no-ext-diff --no-textconv --no-color --submodule=short -M'
	set -- "$base" "$commit" --
	if [ -n "$SHOWN" ]; then set -- "$@" "$SHOWN"; fi
	# shellcheck disable=SC2086
	git diff $options --name-status -z "$@" >"$temporary/names"
	# shellcheck disable=SC2086
	git diff $options --numstat -z "$@" >"$temporary/numbers"
	put_part "$temporary/names" "$NUMBER_BYTES"
	put_part "$temporary/numbers" "$NUMBER_BYTES"
	[ "$DIFF_BYTES" != 0 ] || return 0
	# shellcheck disable=SC2086
	{
		git diff $options --src-prefix=a/ --dst-prefix=b/ "$@" && code=0 || code=$?
		echo "$code" >"$temporary/code"
	} | head -c "$DIFF_BYTES"
	case $(cat "$temporary/code") in 0 | 141) ;; *) exit 1 ;; esac
}

"do_$operation"
