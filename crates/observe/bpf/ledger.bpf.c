// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The ledger of calls: where the time of the tiers' threads goes, counted in the kernel.
//
// Each thread of a tier is in one state at a time: on a CPU, ready to run, or blocked in a call on an object. At every
// change the time since the last one is added to a cell of the state that ends. For the sums nothing is sent event by event: the
// observer reads them. What a call waits for is told by its number, its descriptor and a few marks; which of them mean
// a disk or a lock is decided in Rust (crates/observe/src/calls). Blocks are always counted: a call that doesn't block
// costs nothing. Calls are counted in windows, while `call_enter` and `call_exit` are attached.

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define MAX_TIERS 64
#define MAX_CALLS 512
#define MAX_ROLES 256
#define NAME_BYTES 96

#define TASK_DEAD 0x80
#define PF_KTHREAD 0x00200000

#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFREG 0100000
#define S_IFBLK 0060000
#define S_IFDIR 0040000
#define S_IFIFO 0010000
enum { AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10, TCP_LISTEN = 10 };
#define LCB_F_SPIN 1
enum { FUTEX_COMMAND = 0x7f, FUTEX_PRIVATE = 0x80 };
#define STACK_BYTES (256 * 1024)

/* What a thread does. */
enum { RUNNING, READY, BLOCKED, ENDED };

/* Marks of a block; the last two are of its thread: it has had a client, it looks after others. */
enum { IN_IOWAIT = 1, TIMED = 2, KERNEL_LOCK = 4, FAULT = 8, ON_STACK = 16, SERVING = 32, MAIN = 64 };

/* Where a call has its object: declared by call in Rust. */
enum { BY_NOTHING, BY_DESCRIPTOR, BY_PATH, BY_SECOND_PATH, BY_POLL, BY_BOTH_DESCRIPTORS, BY_ADDRESS };

/* What an object is. */
enum { NOTHING, REGULAR_FILE, TCP, UNIX, PIPE, EVENT, PATH, FUTEX, EMPTY_LIST };

/* Which end of a socket: the one that was accepted, the one that connected, the one that is listened on. */
enum { NEITHER, SERVES, CALLS, LISTENS };

struct cell {
	__u32 tier;
	__u32 role;
	__s32 call; /* -1 is no call */
	__u8 state, marks, kind, end;
	__u64 device, object;
};

struct sum {
	__u64 count, ns, max_ns;
};

struct thread {
	__u64 since_ns;
	__u64 blocked_ns; /* when its wait began; since_ns is when that was counted last */
	__u64 cpu_ns; /* on a CPU in all, up to since_ns */
	__u64 call_at_ns; /* of cpu_ns when its call began; calls are counted in windows only */
	__u64 lived_ns; /* up to when its lifetime is counted */
	__s32 open_call; /* the call that call_enter saw, or -1 */
	__u8 locking, serving, main;
	__u8 window; /* in which open_call began */
	__u8 aborts; /* at the end of its call */
	struct cell doing;
};

struct name {
	char parent[32], text[NAME_BYTES];
};

struct name_key {
	__u64 kind, device, object;
};

struct call_key {
	__u32 tier, role;
	__s32 call;
};

#define MAP(map, kind, size, key_type, value_type)      \
	struct {                                        \
		__uint(type, BPF_MAP_TYPE_##kind);      \
		__uint(max_entries, size);              \
		__type(key, key_type);                  \
		__type(value, value_type);              \
	} map SEC(".maps")

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

/* Tiers by the id of their cgroup: a number below MAX_TIERS. */
MAP(tiers, HASH, MAX_TIERS, __u64, __u32);
/* The main processes that look after others. */
MAP(mains, HASH, 1024, __u32, __u32);
/* The ports that tiers listen on. */
MAP(ports, HASH, 1024, __u32, __u32);
MAP(shapes, ARRAY, MAX_CALLS, __u32, __u32);
MAP(cells, PERCPU_HASH, 16384, struct cell, struct sum);
/* What had no room in `cells`, by tier and state. */
MAP(others, PERCPU_ARRAY, MAX_TIERS * 4, __u32, struct sum);
MAP(calls, PERCPU_HASH, 4096, struct call_key, struct sum);
MAP(names, HASH, 16384, struct name_key, struct name);
/* Names of threads, each with its number. */
MAP(roles, HASH, MAX_ROLES, char[16], __u32);
/* Lifetimes of threads up to the last walk or their end, by tier, from the kernel's own times of their starts. */
MAP(lived, ARRAY, MAX_TIERS, __u32, __u64);
/* How many threads the last walk met, by tier; the observer sets it to 0 before. */
MAP(alive, ARRAY, MAX_TIERS, __u32, __u64);
/* What was lost: 0 cells without room, 1 threads without storage, 2 calls, 3 names, 4 samples without room. */
MAP(lost, PERCPU_ARRAY, 5, __u32, __u64);
/* The number of the window in which calls are counted: a call that began in an earlier one has no beginning. */
MAP(window, ARRAY, 1, __u32, __u8);
/* Too large for the stack. */
MAP(scratch, PERCPU_ARRAY, 1, __u32, struct name);

/* Lifetimes begin here at the earliest: when the programs were loaded. */
const volatile __u64 began_ns = 0;
__u32 next_role = 1;
static const __u32 zero = 0;

static __always_inline void lose(__u32 what)
{
	__u64 *count = bpf_map_lookup_elem(&lost, &what);
	if (count)
		*count += 1;
}

static __always_inline void add(struct sum *sum, __u64 ns)
{
	sum->count += 1;
	sum->ns += ns;
	if (ns > sum->max_ns)
		sum->max_ns = ns;
}

/* The sum of `key` in a table, made at first sight; nothing where the table is full. */
#define SUM_OF(table, key)                                                                \
	({                                                                                \
		struct sum *known = bpf_map_lookup_elem(&table, key), none = {};          \
		if (!known && !bpf_map_update_elem(&table, key, &none, BPF_NOEXIST))      \
			known = bpf_map_lookup_elem(&table, key);                         \
		known;                                                                    \
	})

/* Adds `ns` to a cell; where there is no room, to what is left over of its tier. */
static __noinline void charge(struct cell *cell, __u64 ns)
{
	struct sum *sum = SUM_OF(cells, cell);
	if (!sum) {
		__u32 index = (cell->tier & (MAX_TIERS - 1)) * 4 + (cell->state & 3);
		lose(0);
		sum = bpf_map_lookup_elem(&others, &index);
	}
	if (sum)
		add(sum, ns);
}

/* Ends what `thread` did, at `now`. Each nanosecond is counted once, whoever comes first: two CPUs may be here. */
static __always_inline void close(struct thread *thread, __u64 now)
{
	__u64 since = __sync_lock_test_and_set(&thread->since_ns, now);
	__u64 ns = now > since ? now - since : 0;
	/* A copy: were it changed by the other CPU while the table hashes and stores it, nobody would find it again. */
	struct cell doing = thread->doing;
	if (doing.state == ENDED)
		return;
	if (doing.state == RUNNING)
		thread->cpu_ns += ns;
	charge(&doing, ns);
}

/* Forgets on what it was blocked: what follows is no block. */
static __always_inline void become(struct thread *thread, __u8 state)
{
	struct cell *doing = &thread->doing;
	*doing = (struct cell){ .tier = doing->tier, .role = doing->role, .call = -1, .state = state };
}

static __noinline __u32 role_of(const char *comm)
{
	char name[16] = {};
	bpf_probe_read_kernel_str(name, sizeof(name), comm);
	__u32 *known = bpf_map_lookup_elem(&roles, name);
	if (known)
		return *known;
	__u32 role = __sync_fetch_and_add(&next_role, 1);
	if (bpf_map_update_elem(&roles, name, &role, BPF_NOEXIST))
		return 0;
	return role;
}

static __always_inline bool is_main(struct task_struct *task)
{
	__u32 process = task->tgid;
	return bpf_map_lookup_elem(&mains, &process) != 0;
}

/* The thread of `task`, if it is a tier's. At first sight it is taken to do `state` since `since`. */
static __always_inline struct thread *thread_of(struct task_struct *task, __u64 since, __u8 state)
{
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	if (thread)
		return thread;
	if (task->flags & PF_KTHREAD)
		return 0;
	__u64 group = task->cgroups->dfl_cgrp->kn->id;
	__u32 *tier = bpf_map_lookup_elem(&tiers, &group);
	if (!tier)
		return 0;
	thread = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread) {
		lose(1);
		return 0;
	}
	thread->since_ns = since;
	thread->open_call = -1;
	thread->doing.tier = *tier;
	thread->doing.role = role_of(task->comm);
	thread->main = is_main(task);
	become(thread, state);
	return thread;
}

static __noinline __u64 hash_of(const char *text)
{
	__u64 hash = 14695981039346656037ULL;
	for (int i = 0; i < NAME_BYTES; i++) {
		if (!text[i])
			break;
		hash = (hash ^ (__u8)text[i]) * 1099511628211ULL;
	}
	return hash;
}

static __always_inline struct name *empty_name(void)
{
	struct name *name = bpf_map_lookup_elem(&scratch, &zero);
	if (name) {
		name->parent[0] = 0;
		name->text[0] = 0;
	}
	return name;
}

static __noinline void keep_name(struct cell *on, struct name *name)
{
	struct name_key key = { .kind = on->kind, .device = on->device, .object = on->object };
	if (bpf_map_lookup_elem(&names, &key))
		return;
	if (bpf_map_update_elem(&names, &key, name, BPF_NOEXIST))
		lose(3);
}

/* A path as the program said it. */
static __noinline void on_path(struct cell *on, const char *user)
{
	struct name *name = empty_name();
	if (!name || bpf_probe_read_user_str(name->text, NAME_BYTES, user) <= 0)
		return;
	on->kind = PATH;
	on->object = hash_of(name->text);
	keep_name(on, name);
}

static __noinline void on_file(struct cell *on, struct file *file, struct inode *inode)
{
	struct name *name = empty_name();
	on->kind = REGULAR_FILE;
	on->device = BPF_CORE_READ(inode, i_sb, s_dev);
	on->object = BPF_CORE_READ(inode, i_ino);
	struct name_key key = { .kind = on->kind, .device = on->device, .object = on->object };
	if (!name || bpf_map_lookup_elem(&names, &key))
		return;
	struct dentry *dentry = BPF_CORE_READ(file, f_path.dentry);
	bpf_probe_read_kernel_str(name->text, NAME_BYTES, BPF_CORE_READ(dentry, d_name.name));
	bpf_probe_read_kernel_str(name->parent, sizeof(name->parent),
				  BPF_CORE_READ(dentry, d_parent, d_name.name));
	keep_name(on, name);
}

/* The address of a unix socket's listener; abstract ones begin with a zero. */
static __noinline bool on_unix_address(struct cell *on, struct unix_address *address)
{
	struct name *name = empty_name();
	if (!address || !name)
		return false;
	const char *text = (const char *)&address->name[0] + bpf_core_field_offset(struct sockaddr_un, sun_path);
	if (bpf_probe_read_kernel_str(name->text, NAME_BYTES, text) <= 1 &&
	    bpf_probe_read_kernel_str(name->text, NAME_BYTES, text + 1) <= 1)
		return false;
	on->object = hash_of(name->text);
	keep_name(on, name);
	return true;
}

static __always_inline void on_unix(struct cell *on, struct sock *sk)
{
	struct unix_sock *own = (struct unix_sock *)sk;
	struct unix_sock *peer = (struct unix_sock *)BPF_CORE_READ(own, peer);
	on->kind = UNIX;
	if (on_unix_address(on, BPF_CORE_READ(own, addr)))
		on->end = on->end ?: SERVES;
	else if (peer && on_unix_address(on, BPF_CORE_READ(peer, addr)))
		on->end = CALLS;
}

/* One who serves is told by its own port; one who calls by the other's port and address. */
static __always_inline void on_tcp(struct cell *on, struct sock *sk, __u16 family)
{
	__u32 own = BPF_CORE_READ(sk, __sk_common.skc_num);
	__u32 other = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
	on->kind = TCP;
	if (on->end == LISTENS || bpf_map_lookup_elem(&ports, &own)) {
		on->end = on->end ?: SERVES;
		on->object = own;
		return;
	}
	on->end = CALLS;
	on->object = other;
	if (family == AF_INET)
		on->device = BPF_CORE_READ(sk, __sk_common.skc_daddr);
	else /* of the 128 bits the last ones: an address of IPv4 in full, else enough to tell two apart */
		on->device = BPF_CORE_READ(sk, __sk_common.skc_v6_daddr.in6_u.u6_addr32[3]) | (1ULL << 32);
}

static __always_inline void on_socket(struct cell *on, struct file *file)
{
	struct socket *socket = BPF_CORE_READ(file, private_data);
	struct sock *sk = BPF_CORE_READ(socket, sk);
	__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);
	if (BPF_CORE_READ(sk, __sk_common.skc_state) == TCP_LISTEN)
		on->end = LISTENS;
	if (family == AF_UNIX)
		on_unix(on, sk);
	else if (family == AF_INET || family == AF_INET6)
		on_tcp(on, sk, family);
}

static __noinline void on_descriptor(struct cell *on, struct task_struct *task, __u32 number)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	if (number >= BPF_CORE_READ(table, max_fds))
		return;
	struct file **slot = BPF_CORE_READ(table, fd) + number;
	struct file *file = 0;
	if (bpf_probe_read_kernel(&file, sizeof(file), slot) || !file)
		return;
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	switch (BPF_CORE_READ(inode, i_mode) & S_IFMT) {
	case S_IFREG:
	case S_IFDIR:
	case S_IFBLK:
		on_file(on, file, inode);
		return;
	case S_IFSOCK:
		on_socket(on, file);
		return;
	case S_IFIFO:
		on->kind = PIPE;
		return;
	case 0:
		on->kind = EVENT;
	}
}

/* Of several descriptors the first says what kind they are. */
static __noinline void on_list(struct cell *on, struct task_struct *task, unsigned long list, unsigned long count)
{
	__u32 number = 0;
	if (!count)
		on->kind = EMPTY_LIST;
	else if (!bpf_probe_read_user(&number, sizeof(number), (void *)list))
		on_descriptor(on, task, number);
}

/* On what `task` blocks, by its saved registers. Its memory can be read only while it is the one that runs. */
static __noinline void find_object(struct cell *on, struct task_struct *task, bool runs)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	on->call = (__s32)BPF_CORE_READ(regs, orig_ax);
	if (on->call < 0 || on->call >= MAX_CALLS) {
		on->call = -1;
		on->marks |= FAULT;
		return;
	}
	unsigned long first = BPF_CORE_READ(regs, di), second = BPF_CORE_READ(regs, si);
	__u32 call = on->call;
	__u32 *shape = bpf_map_lookup_elem(&shapes, &call);
	switch (shape ? *shape : BY_NOTHING) {
	case BY_DESCRIPTOR:
		on_descriptor(on, task, first);
		return;
	case BY_BOTH_DESCRIPTORS: /* sendfile: it reads from the second, or waits for room in the first */
		on_descriptor(on, task, on->marks & (IN_IOWAIT | KERNEL_LOCK) ? second : first);
		return;
	case BY_PATH:
	case BY_SECOND_PATH:
		if (runs)
			on_path(on, (const char *)(*shape == BY_PATH ? first : second));
		return;
	case BY_POLL:
		if (runs)
			on_list(on, task, first, second);
		return;
	case BY_ADDRESS: {
		unsigned long stack = BPF_CORE_READ(regs, sp);
		on->kind = FUTEX;
		on->device = second & (FUTEX_COMMAND | FUTEX_PRIVATE);
		/* Those on stacks are as many as there are threads. */
		if (first >= stack && first < stack + STACK_BYTES)
			on->marks |= ON_STACK;
		else
			on->object = first;
		if (BPF_CORE_READ(regs, r10))
			on->marks |= TIMED;
	}
	}
}

static __always_inline void block(struct thread *thread, struct task_struct *task, __u64 since, bool runs)
{
	become(thread, BLOCKED);
	thread->blocked_ns = since;
	if (BPF_CORE_READ_BITFIELD(task, in_iowait))
		thread->doing.marks |= IN_IOWAIT;
	if (thread->locking)
		thread->doing.marks |= KERNEL_LOCK;
	find_object(&thread->doing, task, runs);
	if (thread->doing.end == SERVES)
		thread->serving = true;
	if (thread->serving)
		thread->doing.marks |= SERVING;
	if (thread->main)
		thread->doing.marks |= MAIN;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread *thread = thread_of(prev, now, RUNNING);
	if (thread && thread->doing.state != ENDED) {
		close(thread, now);
		if (prev_state & TASK_DEAD)
			become(thread, ENDED);
		else if (preempt || !prev_state)
			become(thread, READY);
		else
			block(thread, prev, now, true);
	}
	thread = thread_of(next, now, READY);
	if (thread && thread->doing.state != ENDED) {
		close(thread, now);
		become(thread, RUNNING);
	}
	return 0;
}

#include "samples.h"
#include "aborts.h"

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	if (thread && thread->doing.state == BLOCKED) {
		__u64 now = bpf_ktime_get_ns();
		sample_wait(thread, task, now);
		if (may_abort)
			forbid(thread, task, now);
		close(thread, now);
		become(thread, READY);
	}
	return 0;
}

SEC("tp_btf/contention_begin")
int BPF_PROG(on_contention, void *lock, unsigned int flags)
{
	if (flags & LCB_F_SPIN)
		return 0;
	struct thread *thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
	if (thread)
		thread->locking = 1;
	return 0;
}

SEC("tp_btf/contention_end")
int BPF_PROG(on_contention_end, void *lock, int ret)
{
	struct thread *thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
	if (thread)
		thread->locking = 0;
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	thread_of(child, child->start_time, READY);
	return 0;
}

/* From now on its time is that of another name. */
SEC("tp_btf/task_rename")
int BPF_PROG(on_rename, struct task_struct *task, const char *comm)
{
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	if (thread && thread->doing.state != ENDED) {
		close(thread, bpf_ktime_get_ns());
		thread->doing.role = role_of(comm);
	}
	return 0;
}

/* Counts the lifetime of a thread since it was counted last; one that was there before begins when we do. */
static __always_inline void live(struct thread *thread, struct task_struct *task, __u64 now)
{
	__u64 since = thread->lived_ns ?: task->start_time;
	__u32 tier = thread->doing.tier;
	__u64 *ns = bpf_map_lookup_elem(&lived, &tier);
	if (since < began_ns)
		since = began_ns;
	if (ns && now > since)
		__sync_fetch_and_add(ns, now - since);
	thread->lived_ns = now;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	if (!thread)
		return 0;
	__u64 now = bpf_ktime_get_ns();
	live(thread, task, now);
	close(thread, now);
	become(thread, ENDED);
	return 0;
}

/* A walk over all threads: what lasts is counted up to now, so that one who sleeps for a minute is in every second. */
SEC("iter/task")
int walk(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	if (!task)
		return 0;
	__u64 now = bpf_ktime_get_ns();
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	if (!thread) {
		__u32 state = task->__state;
		__u64 since = task->start_time > began_ns ? task->start_time : began_ns;
		if (state & TASK_DEAD)
			return 0;
		thread = thread_of(task, since, state ? BLOCKED : READY);
		if (!thread)
			return 0;
		if (state)
			block(thread, task, since, false);
	}
	if (thread->doing.state == ENDED)
		return 0;
	close(thread, now);
	thread->main = is_main(task);
	live(thread, task, now);
	__u32 tier = thread->doing.tier;
	__u64 *count = bpf_map_lookup_elem(&alive, &tier);
	if (count)
		*count += 1;
	return 0;
}

/* On a CPU in all, up to `now`. */
static __always_inline __u64 cpu_ns(struct thread *thread, __u64 now)
{
	__u64 since = thread->since_ns;
	return thread->cpu_ns + (now > since ? now - since : 0);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(call_enter, struct pt_regs *regs, long call)
{
	struct thread *thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
	__u8 *now = bpf_map_lookup_elem(&window, &zero);
	if (!thread || !now)
		return 0;
	thread->window = *now;
	thread->open_call = call;
	thread->call_at_ns = cpu_ns(thread, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(call_exit, struct pt_regs *regs, long result)
{
	struct thread *thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
	__u8 *now = bpf_map_lookup_elem(&window, &zero);
	if (!thread || !now || thread->open_call < 0 || thread->window != *now)
		return 0;
	struct cell *doing = &thread->doing;
	struct call_key key = { .tier = doing->tier, .role = doing->role, .call = thread->open_call };
	__u64 until = cpu_ns(thread, bpf_ktime_get_ns()), since = thread->call_at_ns;
	/* The walk, on another CPU, may be halfway through closing what the thread did. */
	__u64 spent = until > since ? until - since : 0;
	thread->open_call = -1;
	struct sum *sum = SUM_OF(calls, &key);
	if (sum)
		add(sum, spent);
	else
		lose(2);
	return 0;
}
