/* Zeroed memory in large blocks: on Linux in huge pages, of which one page fault gives 512 times as much. Large blocks are
   mappings of their own, so that the advice about pages never touches memory that malloc hands to others. */
#ifndef TAPEENGINE_MEMORY_H
#define TAPEENGINE_MEMORY_H

#include <stdlib.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#define TE_LARGE ((size_t)1 << 22) /* bytes from which a block is mapped: two huge pages */
#define TE_HEAD ((size_t)64)       /* bytes before a block, which hold the size of its mapping; 0: from calloc */

/* count * size bytes of zeros for te_free; NULL where there is no memory. */
static inline void *te_zeros(size_t count, size_t size) {
    size_t bytes = count * size + TE_HEAD;
    char *block;
    if (size && count > ((size_t)-1 - TE_HEAD) / size) return NULL;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (bytes >= TE_LARGE) {
        block = (char *)mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == (char *)MAP_FAILED) return NULL;
        madvise(block, bytes, MADV_HUGEPAGE);
        *(size_t *)block = bytes;
        return block + TE_HEAD;
    }
#endif
    block = (char *)calloc(1, bytes);
    return block ? block + TE_HEAD : NULL;
}

static inline void te_free(void *data) {
    char *block = (char *)data - TE_HEAD;
    if (!data) return;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (*(size_t *)block) {
        munmap(block, *(size_t *)block);
        return;
    }
#endif
    free(block);
}

#endif
