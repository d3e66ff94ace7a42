#!/usr/bin/env bash
# Tests of limits on a stock Debian 12: a virtual machine with Debian's own kernel, systemd, and the unified hierarchy of
# groups alone (cgroup v2), which the machine that builds Plimsoll often doesn't have. The guest is made anew each time,
# from packages, with what `plimsoll doctor --install` brings; its servers run below a service of systemd's, as root.
# Everything in it is emulated, which takes some 10 minutes; GUEST_ACCEL=kvm is quicker where KVM works.
set -euo pipefail
cd "$(dirname "$0")/.."

stacks=(apache-prefork-modphp-mariadb lighttpd-fpm-mariadb)
# binary FILTER…: what nextest calls a binary, and what the names of its tests contain. Clocks of an emulated machine are no measure
# of how long a process was blocked.
tests=(
    "testbed::it held:: memory:: kept_files::what_a_tier_reads what_no_lab_made a_labs_directory"
    "plimsoll::it hungry::"
    "observe calls:: --skip for_as_long_as_its_own_clock_says"
)

for program in qemu-system-x86_64:qemu-system-x86 mmdebstrap:mmdebstrap; do
    if ! command -v "${program%:*}" >/dev/null; then
        scripts/install.sh "limits are tried on a stock Debian 12, as a virtual machine" "${program#*:}"
    fi
done
if [[ $(id -u) -ne 0 ]]; then
    echo "root is needed to make a guest from packages" >&2
    exit 2
fi

scratch=$(mktemp -d)
clean_up() {
    rm -rf "$scratch"
}
trap clean_up EXIT
root=$scratch/root
image=$scratch/disk

# The binaries of tests and the programs that they start, where they look for them.
PATH=$PATH:$(scripts/nextest.sh --path)
binaries=$(cargo nextest list --workspace --locked --list-type binaries-only --message-format json)
path_of() {
    node -e 'const all = JSON.parse(require("fs").readFileSync(0))["rust-binaries"];
             console.log(all[process.argv[1]]["binary-path"])' "$1" <<<"$binaries"
}
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
commands=""
programs=("$target"/debug/{plimsoll,testbed-actor})
for line in "${tests[@]}"; do
    read -r binary filters <<<"$line"
    path=$(path_of "$binary")
    programs+=("$path")
    commands+="cd $PWD/crates/${binary%%::*} && $path --test-threads 1 $filters || failed=1"$'\n'
done

echo "making a Debian 12 with systemd and its own kernel"
# The checkout may lie below /tmp, which is emptied when an image is done and when a system starts.
mmdebstrap --quiet --mode=root --variant=minbase --skip=cleanup/tmp \
    --include=linux-image-cloud-amd64,systemd-sysv,udev,iproute2,procps,ca-certificates,strace,linux-perf \
    --customize-hook="mkdir -p \"\$1\"$PWD \"\$1\"$target/debug/deps \"\$1\"$target/tmp" \
    --customize-hook="cp -a catalogue crates Cargo.toml \"\$1\"$PWD/" \
    --customize-hook="cd / && cp --parents ${programs[*]} \"\$1\"/" \
    --customize-hook="chroot \"\$1\" $target/debug/plimsoll doctor --install ${stacks[*]/#/--stack }" \
    bookworm "$root"

cat >"$root/usr/local/bin/plimsoll-tests" <<EOF
#!/bin/bash
# The whole life of this machine.
exec >/dev/ttyS0 2>&1
export CI=true HOME=/root RUST_BACKTRACE=0
failed=0
stat -f -c 'guest: groups in %T' /sys/fs/cgroup
uname -srv
$commands
echo "guest: ended with \$failed"
systemctl --no-block poweroff
EOF
chmod +x "$root/usr/local/bin/plimsoll-tests"
cat >"$root/etc/systemd/system/plimsoll-tests.service" <<EOF
[Unit]
Description=Tests of Plimsoll
[Service]
Type=oneshot
ExecStart=/usr/local/bin/plimsoll-tests
[Install]
WantedBy=multi-user.target
EOF
chroot "$root" systemctl --quiet enable plimsoll-tests.service
ln -s /dev/null "$root/etc/tmpfiles.d/tmp.conf"
echo "/dev/vda / ext4 defaults 0 1" >"$root/etc/fstab"
truncate --size 6G "$image"
mke2fs -q -t ext4 -d "$root" "$image"
cp "$root"/boot/vmlinuz-* "$scratch/kernel"
cp "$root"/boot/initrd.img-* "$scratch/initrd"
rm -rf "$root"

accel=${GUEST_ACCEL:-tcg,thread=multi}
echo "starting it ($accel)"
timeout --foreground 3600 qemu-system-x86_64 -accel "$accel" -cpu max -smp 2 -m 3G -nic none -no-reboot -display none \
    -kernel "$scratch/kernel" -initrd "$scratch/initrd" -append "root=/dev/vda rw console=ttyS0 quiet systemd.show_status=false systemd.mask=serial-getty@ttyS0.service" \
    -drive "file=$image,if=virtio,format=raw,cache=unsafe" -serial stdio -monitor none </dev/null | tee "$scratch/log"

grep -q "groups in cgroup2fs" "$scratch/log" || { echo "the guest's groups are not those of cgroup v2" >&2; exit 1; }
grep -q "guest: ended with 0" "$scratch/log" || { echo "tests failed in the guest" >&2; exit 1; }
if grep -q "^test result: ok. 0 passed" "$scratch/log"; then
    echo "no test of a binary ran in the guest: their names have changed (tests= above)" >&2
    exit 1
fi
