/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A server is ended at the first wait for the disk that nobody expected of it, with the wait's call on its stack.
 */
#pragma once

#define SIGABRT 6

/* A call in which no thread of a tier may wait for the disk whose name begins so. */
struct forbidden {
	__u32 tier;
	__s32 call;
};

struct prefix {
	char text[16];
};

/* The first thread that did, and the process that is ended for it. */
struct aborted {
	struct cell cell;
	__u64 at_ns, ns;
	__u32 process, thread;
};

MAP(forbidden_waits, HASH, 64, struct forbidden, struct prefix);
MAP(first_aborted, ARRAY, 1, __u32, struct aborted);

/* Whether waits are forbidden at all. */
const volatile __u8 may_abort = 0;

static __always_inline bool begins_with(const char *name, const char *prefix)
{
	for (int i = 0; i < 16; i++) {
		if (!prefix[i])
			return true;
		if (name[i] != prefix[i])
			return false;
	}
	return true;
}

/* The wait of `thread` has ended at `now`. The first that is forbidden ends its process: at the end of the call, when the stack
 * is that of the call, and the thread the one that gets the signal. */
static __noinline void forbid(struct thread *thread, struct task_struct *task, __u64 now)
{
	struct cell *on = &thread->doing;
	struct forbidden key = { .tier = on->tier, .call = on->call };
	char name[16] = {};
	struct prefix *prefix = bpf_map_lookup_elem(&forbidden_waits, &key);
	struct aborted *first = bpf_map_lookup_elem(&first_aborted, &zero);
	if (!prefix || !first || !(on->marks & IN_IOWAIT))
		return;
	bpf_probe_read_kernel_str(name, sizeof(name), task->comm);
	if (!begins_with(name, prefix->text) || __sync_val_compare_and_swap(&first->at_ns, 0, now))
		return;
	first->cell = *on;
	first->ns = now > thread->blocked_ns ? now - thread->blocked_ns : 0;
	first->process = task->tgid;
	first->thread = task->pid;
	thread->aborts = 1;
}

/* Attached only where waits are forbidden. */
SEC("tp_btf/sys_exit")
int BPF_PROG(abort_exit, struct pt_regs *regs, long result)
{
	struct thread *thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
	if (thread && thread->aborts) {
		thread->aborts = 0;
		bpf_send_signal_thread(SIGABRT);
	}
	return 0;
}
