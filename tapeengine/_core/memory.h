/* Memory in large blocks: on Linux in huge pages, of which a page fault gives 512 times as much. */
#ifndef TAPEENGINE_MEMORY_H
#define TAPEENGINE_MEMORY_H

#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#define TE_HUGE ((size_t)1 << 21)  /* bytes of a huge page */

/* An uninitialised block for free(); NULL where there is no memory. */
static inline void *te_block(size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (bytes >= 2 * TE_HUGE) {
        size_t rounded = (bytes + TE_HUGE - 1) & ~(TE_HUGE - 1);
        void *block = NULL;
        if (posix_memalign(&block, TE_HUGE, rounded)) return NULL;
        madvise(block, rounded, MADV_HUGEPAGE);
        return block;
    }
#endif
    return malloc(bytes);
}

/* A block of zeros for free(). */
static inline void *te_zeros(size_t count, size_t size) {
    if (size && count > (size_t)-1 / size) return NULL;
    if (count * size < 2 * TE_HUGE) return calloc(count, size);
    void *block = te_block(count * size);
    return block ? memset(block, 0, count * size) : NULL;
}

#endif
