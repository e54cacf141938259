/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash-1-3. */
#include "pmem/siphash.h"

#include <string.h>

struct state {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t
rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline uint64_t
load64(const uint8_t *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof(x));
    return x;
}

static inline void
sip_round(struct state *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = rotate(s->v1, 13) ^ s->v0;
    s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 = rotate(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = rotate(s->v1, 17) ^ s->v2;
    s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v2 = rotate(s->v2, 32);
}

static inline void
absorb(struct state *s, uint64_t message)
{
    s->v3 ^= message;
    sip_round(s);
    s->v0 ^= message;
}

/* The last 0..7 bytes, and the length in the top byte. */
static inline uint64_t
last_message(const uint8_t *tail, size_t len)
{
    uint64_t message = (uint64_t)len << 56;
    for (size_t i = 0; i < len % 8; i++)
        message |= (uint64_t)tail[i] << (8 * i);
    return message;
}

uint64_t
siphash13(const uint8_t key[16], const void *data, size_t len)
{
    uint64_t k0 = load64(key), k1 = load64(key + 8);
    struct state s = {k0 ^ 0x736f6d6570736575ull, k1 ^ 0x646f72616e646f6dull, k0 ^ 0x6c7967656e657261ull,
                      k1 ^ 0x7465646279746573ull};
    const uint8_t *p = data, *end = p + len / 8 * 8;
    for (; p < end; p += 8)
        absorb(&s, load64(p));
    absorb(&s, last_message(p, len));
    s.v2 ^= 0xff;
    sip_round(&s);
    sip_round(&s);
    sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
