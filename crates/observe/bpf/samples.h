/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Samples of what threads wait for and compute: the kernel's functions that they are in, and who ends the wait.
 *
 * Waits are drawn by time and not by number: a wait stands for as many quanta as it is long, and for one more with the chance that
 * what is left of it has. A thousand short waits and one as long as all of them together are as likely to be seen. Besides, a
 * wait is sampled when it is longer than the limit of its class.
 */
#pragma once

#define MAX_FRAMES 20
/* The call of a waker that has none. */
#define KERNEL_THREAD -2

/* What makes waits the same as far as sampling goes: whose thread, in which call, on what kind of object; of those in memory, at
 * which address: threads wait for work and for locks in the same way, and only where tells the two apart. */
struct class {
	__u32 tier;
	__s32 call;
	__u8 marks, kind, end, unused[5];
	__u64 address;
};

struct sample {
	struct cell cell;
	__u64 at_ns;
	__u64 ns; /* how long the wait was */
	__u64 weight_ns; /* the time that it stands for; 0 is a long one that wasn't drawn */
	__u64 address; /* of a thread on a CPU: where in its own program it is */
	__u32 process, frame_bytes;
	__u32 waker_tier; /* MAX_TIERS is none */
	__s32 waker_call;
	char waker[16];
	__u64 frames[MAX_FRAMES];
};

/* The classes whose waits are sampled, each with the limit in ns from which on one is long. */
MAP(watched, HASH, 4096, struct class, __u64);
/* The quantum in ns; 0 is no sampling. */
MAP(quantum, ARRAY, 1, __u32, __u64);

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 * 1024 * 1024);
} samples SEC(".maps");

static __always_inline struct sample *empty_sample(struct thread *thread, struct task_struct *task, __u64 now)
{
	struct sample *sample = bpf_ringbuf_reserve(&samples, sizeof(*sample), 0);
	if (!sample) {
		lose(4);
		return 0;
	}
	sample->cell = thread->doing;
	sample->at_ns = now;
	sample->ns = 0;
	sample->weight_ns = 0;
	sample->address = 0;
	sample->process = task->tgid;
	sample->frame_bytes = 0;
	sample->waker_tier = MAX_TIERS;
	sample->waker_call = -1;
	sample->waker[0] = 0;
	return sample;
}

/* Who ends the wait: the thread on this CPU. While an interrupt is served that is whoever was interrupted; one that was in
 * no call then is told by that. */
static __always_inline void name_waker(struct sample *sample)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	struct thread *thread = bpf_task_storage_get(&threads, waker, 0, 0);
	bpf_probe_read_kernel_str(sample->waker, sizeof(sample->waker), waker->comm);
	sample->waker_call = KERNEL_THREAD;
	if (waker->flags & PF_KTHREAD)
		return;
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(waker);
	sample->waker_call = (__s32)BPF_CORE_READ(regs, orig_ax);
	if (thread)
		sample->waker_tier = thread->doing.tier;
}

/* The time that a wait of `ns` stands for, which on average is as much; 0 is for none. */
static __always_inline __u64 drawn_ns(__u64 ns)
{
	__u64 *quantum_ns = bpf_map_lookup_elem(&quantum, &zero);
	__u64 each = quantum_ns ? *quantum_ns : 0;
	if (!each)
		return 0;
	__u64 left = ns % each;
	/* Of numbers up to 2^42 each is as likely as another: a quantum is far shorter than that. */
	__u64 number = (__u64)bpf_get_prandom_u32() << 10;
	return ns - left + (number % each < left ? each : 0);
}

/* Samples the wait of `thread` that ends at `now`, if it is drawn or long. */
static __always_inline void sample_wait(struct thread *thread, struct task_struct *task, __u64 now)
{
	struct cell *on = &thread->doing;
	struct class class = {
		.tier = on->tier, .call = on->call, .marks = on->marks, .kind = on->kind, .end = on->end,
		.address = on->kind == FUTEX ? on->object : 0,
	};
	__u64 *long_ns = bpf_map_lookup_elem(&watched, &class);
	if (!long_ns)
		return;
	__u64 ns = now > thread->blocked_ns ? now - thread->blocked_ns : 0;
	__u64 weight_ns = drawn_ns(ns);
	if (!weight_ns && ns <= *long_ns)
		return;
	struct sample *sample = empty_sample(thread, task, now);
	if (!sample)
		return;
	sample->ns = ns;
	sample->weight_ns = weight_ns;
	name_waker(sample);
	long bytes = bpf_get_task_stack(task, sample->frames, sizeof(sample->frames), 0);
	sample->frame_bytes = bytes > 0 ? bytes : 0;
	bpf_ringbuf_submit(sample, BPF_RB_NO_WAKEUP);
}

/* A tick of a CPU's clock: where the thread is that computes. */
SEC("perf_event")
int on_tick(struct bpf_perf_event_data *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	if (!thread || thread->doing.state != RUNNING)
		return 0;
	struct sample *sample = empty_sample(thread, task, bpf_ktime_get_ns());
	if (!sample)
		return 0;
	/* All eight bytes: the kernel lets nobody read fewer. */
	if (*(volatile unsigned long *)&context->regs.cs & 3) {
		sample->address = context->regs.ip;
	} else {
		long bytes = bpf_get_stack(context, sample->frames, sizeof(sample->frames), 0);
		sample->frame_bytes = bytes > 0 ? bytes : 0;
	}
	bpf_ringbuf_submit(sample, BPF_RB_NO_WAKEUP);
	return 0;
}
