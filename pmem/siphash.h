/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SipHash-1-3 (Aumasson, Bernstein: "SipHash: a fast short-input PRF", INDOCRYPT 2012, with one compression round
 * and three final ones): hashes keys under a secret, so that clients cannot choose keys that collide.
 */
#ifndef PMEM_SIPHASH_H
#define PMEM_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/* The 64-bit hash of len bytes under a 16-byte key. Any thread. */
uint64_t siphash13(const uint8_t key[16], const void *data, size_t len);

#endif
