/* Zeroed memory in large blocks. Linux gives it in huge pages: one page fault maps 512 times as much memory. Large blocks are
   mappings of their own, so that the advice about pages never touches memory that malloc hands to others. */
#ifndef TAPEENGINE_MEMORY_H
#define TAPEENGINE_MEMORY_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#define TE_LARGE ((size_t)1 << 22) /* bytes from which a block is mapped: two huge pages */
#define TE_HEAD ((size_t)64)       /* bytes before a block, and what blocks are aligned to: a line of the cache */

/* count * size bytes, all zero or as malloc gives them, to be freed by te_free; NULL if memory is exhausted. Before the
   block are the size of its mapping, or 0 for malloc, and where its memory begins. */
static inline void *te_aligned(size_t count, size_t size, int zero) {
    size_t bytes = count * size + 2 * TE_HEAD, mapped = 0;
    char *first = NULL, *block;
    if (size && count > ((size_t)-1 - 2 * TE_HEAD) / size) return NULL;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (bytes >= TE_LARGE) {
        mapped = bytes;
        first = (char *)mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (first == (char *)MAP_FAILED) return NULL;
        madvise(first, bytes, MADV_HUGEPAGE);
    }
#endif
    if (!mapped) first = (char *)(zero ? calloc(1, bytes) : malloc(bytes));
    if (!first) return NULL;
    block = (char *)(((uintptr_t)first + 2 * TE_HEAD - 1) & ~(uintptr_t)(TE_HEAD - 1));
    ((char **)block)[-1] = first;
    ((size_t *)block)[-2] = mapped;
    return block;
}

static inline void *te_zeros(size_t count, size_t size) { return te_aligned(count, size, 1); }

static inline void te_free(void *data) {
    if (!data) return;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (((size_t *)data)[-2]) {
        munmap(((char **)data)[-1], ((size_t *)data)[-2]);
        return;
    }
#endif
    free(((char **)data)[-1]);
}

#endif
