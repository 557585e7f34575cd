/* A digest of a block of memory, which shows a later change of it. Every bit of a word changes the lane that it enters, and no
   later word takes the change back: each step is a bijection of the lane. */
#ifndef TAPEENGINE_DIGEST_H
#define TAPEENGINE_DIGEST_H

#include <stdint.h>
#include <string.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <wmmintrin.h>
#define TE_AES 8 /* lanes of 16 bytes: a round takes four cycles, and two begin in each */
#endif

static inline uint64_t te_mixed(uint64_t lane, uint64_t word) {
    lane = (lane ^ word) * 0x9E3779B97F4A7C15u;
    return lane ^ lane >> 29;
}

static inline uint64_t te_digest_words(const char *at, size_t bytes) {
    uint64_t word[4], a = 1, b = 2, c = 3, d = bytes;
    for (; bytes; at += sizeof(word), bytes -= sizeof(word)) {
        if (bytes < sizeof(word)) {
            memset(word, 0, sizeof(word));
            memcpy(word, at, bytes);
            bytes = sizeof(word);
        } else {
            memcpy(word, at, sizeof(word));
        }
        a = te_mixed(a, word[0]);
        b = te_mixed(b, word[1]);
        c = te_mixed(c, word[2]);
        d = te_mixed(d, word[3]);
    }
    return te_mixed(te_mixed(te_mixed(a, b), c), d);
}

#ifdef TE_AES
/* Whole blocks by rounds of AES, which are as fast as reading the block; the digests of lanes and rest by words. */
__attribute__((target("aes"))) static inline uint64_t te_digest_blocks(const char *at, size_t bytes) {
    __m128i lane[TE_AES];
    uint64_t words[2];
    for (int k = 0; k < TE_AES; k++) lane[k] = _mm_set_epi64x((long long)bytes, k);
    for (; bytes >= sizeof(lane); at += sizeof(lane), bytes -= sizeof(lane)) {
#pragma GCC unroll 8
        for (int k = 0; k < TE_AES; k++)
            lane[k] = _mm_aesenc_si128(lane[k], _mm_loadu_si128((const __m128i *)at + k));
    }
    words[0] = te_digest_words((const char *)lane, sizeof(lane));
    words[1] = te_digest_words(at, bytes);
    return te_digest_words((const char *)words, sizeof(words));
}
#endif

static inline uint64_t te_digest(const void *data, size_t bytes) {
#ifdef TE_AES
    if (__builtin_cpu_supports("aes")) return te_digest_blocks((const char *)data, bytes);
#endif
    return te_digest_words((const char *)data, bytes);
}

#endif
