// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a packet costs whoever sends it, in CPU time: a program at a network card that computes for so long before it lets a packet
// go. It runs in the sender's context, as a card's driver would. One packet may be a message of up to 64 kB: the card gets it whole.

#include <linux/types.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

// Longer than any cost takes: a step is some ten nanoseconds.
#define MAX_STEPS (1 << 20)
// Where an IPv4 header has the address of the receiver (RFC 791).
#define RECEIVER 16

// Found by its mark, and filled in before the program is loaded (crates/testbed/src/toll.rs).
volatile const struct {
	__u64 mark;
	__u64 cost_ns;
	__u32 receiver; /* as it is in a packet; 0 is any */
	__u32 zero;
} toll = { .mark = 0x6c6c6f74706d6c50 };

static long has_passed(__u32 step, void *until)
{
	return bpf_ktime_get_ns() >= *(__u64 *)until;
}

SEC("tc")
int charge(struct __sk_buff *packet)
{
	__u64 until = bpf_ktime_get_ns() + toll.cost_ns;
	__u32 receiver = 0;

	if (toll.receiver) {
		if (bpf_skb_load_bytes_relative(packet, RECEIVER, &receiver, sizeof(receiver), BPF_HDR_START_NET))
			return TC_ACT_UNSPEC;
		if (receiver != toll.receiver)
			return TC_ACT_UNSPEC;
	}
	bpf_loop(MAX_STEPS, has_passed, &until, 0);
	return TC_ACT_UNSPEC;
}
