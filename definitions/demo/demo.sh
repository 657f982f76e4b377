# baton demo: from an issue to reviewed commits, without a key, across a kill -9.
# The commands are those that a person would type; `baton` is the program that runs this script.
set -eu
baton() { "$DEMO_BATON" "$@"; }
say() { printf '\n\033[1m%s\033[0m\n' "$*" | if [ -t 1 ]; then cat; else sed 's/\x1b\[[0-9;]*m//g'; fi; }
fail() { printf 'the demo is wrong: %s\n' "$*" >&2; exit 1; }

folder=$(mktemp -d "${TMPDIR:-/tmp}/baton-demo.XXXXXX")
export BATON_HOME="$folder/home"
server=
end() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	[ -z "$server" ] || wait "$server" 2>/dev/null || true
	[ -n "${DEMO_KEEP:-}" ] || rm -rf "$folder"
}
trap end EXIT
trap 'exit 130' INT TERM

serve() {
	"$DEMO_BATON" serve --port 0 >"$folder/serve.log" 2>&1 &
	server=$!
	until grep -q 'http://' "$folder/serve.log"; do
		kill -0 "$server" 2>/dev/null || fail "the server did not start: $(cat "$folder/serve.log")"
		sleep 0.05
	done
	address=$(sed -n 's/.*\(http:\/\/[0-9.]*:[0-9]*\).*/\1/p' "$folder/serve.log" | head -n 1)
}

# until_event TYPE STEP: follows the run's events up to this one.
until_event() {
	rm -f "$folder/events.fifo"
	mkfifo "$folder/events.fifo"
	"$DEMO_BATON" events --run "$run" -f --json >"$folder/events.fifo" &
	watcher=$! found=
	while IFS= read -r line; do
		case $line in
		*"\"$1\""*"\"$2\""*)
			found=1
			break
			;;
		esac
	done <"$folder/events.fifo"
	kill "$watcher" 2>/dev/null || true
	wait "$watcher" 2>/dev/null || true
	[ -n "$found" ] || fail "the run ended before $1 of $2"
}

say "1. A small repository with a failing test, and an issue"
mkdir -p "$folder/site/issues" "$BATON_HOME"
cd "$folder/site"
git init -q -b main .
git config user.name Ada
git config user.email ada@example.org
printf '#!/bin/sh\necho "$1" | tr " " "-"\n' >slug.sh
cat >test.sh <<'TEST'
check() { got=$(sh slug.sh "$1"); [ "$got" = "$2" ] || { echo "FAILED: slug of '$1' is '$got', not '$2'"; exit 1; }; }
check 'Hello, World' hello-world
check '  two  blanks ' two-blanks
echo "2 tests passed"
TEST
printf '# slug\n' >README.md
cat >issues/1-slugs.md <<'ISSUE'
---
status: open
---
# Slugs have upper case letters and double dashes

`sh slug.sh 'Hello, World'` prints `Hello,-World`. It should print `hello-world`. Run `sh test.sh`.
ISSUE
printf 'Small shell scripts, no dependencies. Every script has a test.\n' >AGENTS.md
printf '#!/bin/sh\nsed -i "s/[ \\t]*$//" README.md\n' >.git/hooks/pre-commit
chmod +x .git/hooks/pre-commit
git add -A
git -c core.hooksPath=/dev/null commit -q -m "slug: first version"
sh test.sh || true
main=$(git rev-parse HEAD)

say "2. baton serve, a profile, baton start 1"
serve
echo "dashboard: $address/ui/"
printf '%s' "$DEMO_PROFILE" | sed "s|REPOSITORY|$folder/site|; s|docs/plans/PLAN.md|docs/plans/$(date -u +%Y-%m-%d)-1-slugs.md|" >"$folder/profile.yaml"
baton profile create demo --file "$folder/profile.yaml" >/dev/null
run=$(baton start 1 --detach)
echo "run $run"

say "3. The architect plans; the first plan is sent back, the second one waits for approval"
until_event human.requested planning/gate
baton plan "$run"
if [ -z "${DEMO_YES:-}" ] && [ -t 0 ]; then
	printf '\nApprove the plan? [Y/n] '
	read -r answer
	case $answer in [nN]*) baton reject "$run" --final -m "not in the demo"; exit 1 ;; esac
fi
baton approve "$run" -m "go ahead" >/dev/null 2>&1

say "4. A developer works on task 1; then the server is killed"
until_event tool.finished 'tasks/work/develop[2]/write_file'
kill -9 "$server"
wait "$server" 2>/dev/null || true
echo "kill -9 $server"

say "5. Another server goes on where the first one stood"
serve
echo "dashboard: $address/ui/"
baton watch "$run" >"$folder/result" 2>"$folder/watch.log" || fail "$(tail -n 5 "$folder/watch.log")"
cat "$folder/result"

say "6. The branch, one commit for each task; main is as it was"
git log --oneline --no-decorate main..baton/1-slugs
git diff --stat main baton/1-slugs
sh test.sh || true
git stash list
[ "$(git rev-parse HEAD)" = "$main" ] || fail "main has moved"
[ -z "$(git status --porcelain)" ] || fail "the work tree has changed"

say "7. What it would have cost"
baton usage --by agent

say "8. baton land merges the branch, and the test passes"
baton land "$run"
sh test.sh

if [ -n "${DEMO_HEADLESS:-}" ]; then
	[ "$(git rev-list --count main.."$main")" = 0 ] || fail "main lost a commit"
	[ "$(git rev-list --count --no-merges "$main"..HEAD)" = 2 ] || fail "there are not two commits"
	[ "$(sh slug.sh 'A  B')" = a-b ] || fail "slug.sh is not repaired"
	baton events --run "$run" --json >"$folder/events"
	[ "$(grep -c '"human.requested"' "$folder/events")" = 1 ] || fail "the plan was not asked for once"
	grep -q 'planning/draft#2/architect' "$folder/events" || fail "the plan was not sent back"
	[ "$(grep -c '"git_commit"' "$folder/events")" -ge 2 ] || fail "commits were not made by git_commit"
	grep -q 'tasks/work#2/develop' "$folder/events" || fail "the review did not ask for a change"
	echo "1 passed, 0 failed"
fi
