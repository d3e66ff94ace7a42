# The parts of `make test-long`, to be sourced: their names, what each covers, and which of them are due.

kits=(catalogue/kits/*/)
kits=("${kits[@]#catalogue/kits/}")
kits=("${kits[@]%/}")
# Their tests are in the gate while they are due; of the others the gate has none (instructions and fuzz have stages of their own).
parts_of_gate=(memory simulations pages "${kits[@]/#/conformance-}" studies laboratory browser guests clusters reference-servers)
parts=(instructions "${parts_of_gate[@]}" lines faults cgroup2 bpf delays fuzz servers fleet soak)
record=${PLIMSOLL_LONG_RECORD:-docs/test-long.md}

# What all else stands on, and the rooms below every kit.
nouns="crates/times crates/model/src Cargo.lock"
below_kits="$nouns crates/engine/src crates/kit/src crates/testbed/src crates/testkit/src"

# What every run goes through above the kits, and what tests of runs share.
above_kits="crates/observe/src crates/store/src crates/analysis/src crates/wording/src crates/runner/src crates/plimsoll/src"
# A run of one load machine goes through none of this.
above_kits+=" :!crates/runner/src/fleet :!crates/plimsoll/src/verbs/agent.rs :!crates/plimsoll/src/verbs/fleet.rs :!crates/plimsoll/src/verbs/fleet"
laboratory="$nouns crates/serve web crates/report $above_kits crates/plimsoll/tests/it/page.rs"
shared_by_tests=$(grep -L '#\[test\]' crates/{engine,kit,plimsoll}/tests/it/*.rs | grep -v /main.rs | tr '\n' ' ')
shared_by_tests+="crates/plimsoll/tests/it/tool.rs crates/plimsoll/tests/it/dav.rs"
shared_by_testbed=$(grep -L '#\[test\]' crates/testbed/tests/it/*.rs | grep -v /main.rs | tr '\n' ' ')

# covers PART: the paths, as git knows them.
covers() {
    case $1 in
        instructions) echo "$nouns benches crates/engine/src Cargo.toml" ;;
        memory)
            echo "$nouns crates/engine/src crates/engine/tests/memory crates/engine/tests/tls_memory.rs crates/testkit/src" \
                "$above_kits crates/report/src crates/plimsoll/tests/it/ten_hours.rs"
            ;;
        pages) echo "$nouns crates/report web crates/analysis/src crates/wording/src crates/store/src crates/testkit" ;;
        simulations) echo "$nouns crates/analysis crates/experiment crates/testkit/src" ;;
        conformance-*) echo "$(below "${1#conformance-}") $above_kits $shared_by_tests crates/*/tests/it/${1#conformance-}*" ;;
        studies)
            echo "$(below dvdstore) $(covers simulations) $above_kits $shared_by_tests" \
                "$(printf 'crates/plimsoll/tests/it/%s.rs ' compare find ground_truth published queue sweep)"
            ;;
        laboratory)
            echo "$(below dvdstore) $laboratory $shared_by_tests" \
                "$(printf 'crates/plimsoll/tests/it/%s.rs ' explore laboratory page_queue so_far study_progress)"
            ;;
        guests) echo "$(below dvdstore) catalogue/topologies $above_kits $shared_by_tests crates/plimsoll/tests/it/guests.rs" ;;
        clusters)
            echo "$below_kits catalogue/kits/tpcw catalogue/services catalogue/stacks catalogue/topologies" \
                "$above_kits $shared_by_tests crates/plimsoll/tests/it/killed_cluster.rs" \
                "$shared_by_testbed $(printf 'crates/testbed/tests/it/%s.rs ' balancer broker cluster own_host)"
            ;;
        reference-servers)
            echo "servers $below_kits catalogue/kits/static catalogue/services/flash catalogue/services/haboob" \
                "$above_kits $shared_by_tests $(printf 'crates/plimsoll/tests/it/reference_servers%s.rs ' '' _aborted _changed)"
            ;;
        browser) echo "$laboratory crates/plimsoll/tests/it/page_browser.rs crates/plimsoll/tests/it/browser.rs" ;;
        lines)
            echo "$(below dvdstore) $above_kits crates/experiment/src catalogue/rules crates/plimsoll/tests/it/line_proof.rs"
            ;;
        faults) echo "$(below dvdstore) $above_kits catalogue/faults catalogue/rules" ;;
        cgroup2)
            echo "$below_kits $above_kits $shared_by_tests crates/testbed/tests crates/plimsoll/tests/it/hungry.rs" \
                "catalogue/services scripts/guest.sh"
            ;;
        bpf) echo "crates/observe/bpf crates/testbed/bpf scripts/bpf.sh" ;;
        delays) echo "crates/testbed/delays scripts/delays.sh" ;;
        fuzz) echo "fuzz crates/engine/src/http servers/flash/src" ;;
        servers) echo "servers catalogue/services/flash catalogue/services/haboob crates/plimsoll/tests/it/reference_servers_long.rs" ;;
        fleet) echo "$nouns crates/fleet crates/engine/src catalogue/services/nats" ;;
        soak) echo "$below_kits $above_kits" ;;
        *)
            echo "there is no part $1; parts: ${parts[*]}" >&2
            return 2
            ;;
    esac
}

# below KIT: the kit, its services and the rooms below them.
below() {
    # shellcheck disable=SC2046 # a word each
    echo $below_kits "catalogue/kits/$1" $(services_of "$1")
}

# services_of KIT: the folders of all services of all stacks that have what the kit needs, and of the sources that these are
# built from.
services_of() {
    local needs stack provides need service
    needs=$(sed -n 's/^needs = \[\(.*\)\]$/\1/p' "catalogue/kits/$1/kit.toml" | tr ',' '\n' | tr -d ' ')
    for stack in catalogue/stacks/*.toml; do
        provides=$(sed -n 's/^provides = //p' "$stack")
        for need in $needs; do
            # Extensions of PHP come with it.
            [[ $need != '"php+'* ]] || need='"web+php"'
            [[ $provides == *"$need"* ]] || continue 2
        done
        for service in $(sed -n 's/^service = "\(.*\)"$/\1/p' "$stack"); do
            echo "catalogue/services/$service"
            sed -n '/^\[build\]/,/^\[[^b]/s/^folder = "\(.*\)"$/\1/p' "catalogue/services/$service/service.toml"
        done
    done | sort -u
}

# tests_of PART: what nextest runs for it. A kit's tests are in modules that begin with its name, in every room.
tests_of() {
    case $1 in
        memory) echo '(package(engine) & binary(/^(memory|tls_memory)$/)) | (package(plimsoll) & test(/^ten_hours::/))' ;;
        pages) echo 'package(report) & test(/^playwright::/)' ;;
        simulations)
            echo '(package(experiment) & binary(it)) | (package(analysis) & test(/^(covering|little|comparing)::|_of_many_windows$/))'
            ;;
        conformance-*) echo "binary(it) & test(/^${1#conformance-}(_[a-z_]+)?::/)" ;;
        studies) echo 'package(plimsoll) & binary(it) & test(/^(compare|find|ground_truth|published|queue|sweep)::/)' ;;
        laboratory) echo 'package(plimsoll) & binary(it) & test(/^(explore|laboratory|page_queue|so_far|study_progress)::/)' ;;
        guests) echo 'package(plimsoll) & binary(it) & test(/^guests::/)' ;;
        clusters)
            echo 'binary(it) & ((package(plimsoll) & test(/^killed_cluster::/)) |' \
                '(package(testbed) & test(/^(balancer|broker|cluster|own_host)::/)))'
            ;;
        reference-servers) echo 'package(plimsoll) & binary(it) & test(/^reference_servers(_aborted|_changed)?::/)' ;;
        browser) echo 'package(plimsoll) & binary(it) & test(/^page_browser::/)' ;;
        lines) echo 'package(plimsoll) & binary(it) & test(/^line_proof::/)' ;;
        servers) echo 'package(plimsoll) & binary(it) & test(/^reference_servers_long::/)' ;;
        fleet) echo 'package(fleet) & test(/^kills::/)' ;;
        soak) echo 'package(plimsoll) & test(/^soak::/)' ;;
    esac
}

# recorded PART FIELD: a field of its row: 3 outcome, 4 date, 5 commit, 6 took, 7 machine.
recorded() {
    awk -F ' *[|] *' -v part="$1" -v field="$2" '$2 == part { print $field }' "$record"
}

# due PART: whether it has no good outcome, or something that it covers has changed since; says why on stdout.
due() {
    local commit outcome changed
    outcome=$(recorded "$1" 3)
    commit=$(recorded "$1" 5)
    if [[ -z $outcome ]]; then
        echo "was never run"
    elif [[ $outcome != passed ]]; then
        echo "$outcome at $commit, $(recorded "$1" 4)"
    elif ! git cat-file -e "$commit^{commit}" 2>/dev/null; then
        echo "passed at $commit, which this clone does not have"
    else
        changed=$(changed_since "$commit" "$1")
        [[ -n $changed ]] || return 1
        echo "passed at $commit, $(recorded "$1" 4); since then $changed changed"
    fi
}

# changed_since COMMIT PART: the first path of what the part covers that has changed.
changed_since() {
    local paths
    read -r -d '' -a paths < <(covers "$2") || true
    if [[ " ${paths[*]} " == *" Cargo.lock "* ]] && others_changed "$1"; then
        echo Cargo.lock
        return
    fi
    paths=("${paths[@]/#Cargo.lock/:!Cargo.lock}")
    { git diff --name-only "$1" -- "${paths[@]}" && git ls-files --others --exclude-standard -- "${paths[@]}"; } | head -n 1
}

# others_changed COMMIT: whether a package of others is gone from the lock file or has another version. One that came in anew
# changes nothing of what did not use it.
others_changed() {
    # Not `grep -q`: it ends at the first line, and what git couldn't write any more would fail the pipe.
    git diff --unified=0 "$1" -- Cargo.lock | grep -E '^-(name|version|checksum) = ' >/dev/null
}
