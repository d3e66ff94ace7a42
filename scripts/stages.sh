# Stages of a long script, to be sourced: each prints its name and what it took, and a script that ends early says in
# which stage that was. Its caller calls `all_stages_done` at its end.

begun=$SECONDS
stage_name=
stage_begun=$SECONDS
stage_lines=()

# stage NAME [WHAT]: ends the stage before and begins this one.
stage() {
    stage_done
    stage_name=$1
    stage_begun=$SECONDS
    echo "== $1${2:+ ($2)}"
}

stage_done() {
    [[ -n $stage_name ]] || return 0
    stage_lines+=("$(printf '%-14s %5d s' "$stage_name" "$((SECONDS - stage_begun))")")
    echo "== $stage_name took $((SECONDS - stage_begun)) s, $((SECONDS - begun)) s in all"
    stage_name=
}

# Prints what each stage took.
all_stages_done() {
    stage_done
    echo "== all stages, $((SECONDS - begun)) s"
    printf '   %s\n' "${stage_lines[@]}"
}

on_exit() {
    local code=$?
    if [[ -n $stage_name ]]; then
        echo "== ended with $code in stage $stage_name, after $((SECONDS - stage_begun)) s of it, $((SECONDS - begun)) s in all" >&2
    fi
    clean_up
    exit "$code"
}

# What a script removes at its end, however that comes; scripts that have something redefine it.
clean_up() { :; }

trap on_exit EXIT
# Without these a signal would end the shell before it could say where it was.
trap 'exit 130' INT
trap 'exit 143' TERM
