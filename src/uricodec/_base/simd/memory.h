/* Memory that grows in place.
 *
 * Address space is reserved once, which costs no memory; zeroed memory is allocated piece by piece when it is needed.
 * So a table grows without being copied, and there is never an old table beside a new one. Huge pages are requested
 * where the system supports that: accesses to a table are random, and the page tables of 4 KiB pages do not fit into
 * caches. */
#ifndef UC_MEMORY_H
#define UC_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#ifdef _WIN32

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

static size_t uc_page_size(void) { return 65536; }

/* Returns NULL if the address space is too small. */
static uint8_t *uc_reserve(size_t size) { return (uint8_t *)VirtualAlloc(NULL, size, MEM_RESERVE, PAGE_NOACCESS); }

/* Allocates the reserved bytes at .. at + size. Returns 1, or 0 if out of memory. Both are multiples of the page size.
 * */
static int uc_commit(uint8_t *at, size_t size) { return VirtualAlloc(at, size, MEM_COMMIT, PAGE_READWRITE) != NULL; }

static void uc_release(uint8_t *at, size_t size) {
    (void)size;
    VirtualFree(at, 0, MEM_RELEASE);
}

#else

#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif
#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

static size_t uc_page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static uint8_t *uc_reserve(size_t size) {
    void *at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(at, size, MADV_HUGEPAGE);
#endif
    return (uint8_t *)at;
}

static int uc_commit(uint8_t *at, size_t size) { return mprotect(at, size, PROT_READ | PROT_WRITE) == 0; }

static void uc_release(uint8_t *at, size_t size) { (void)munmap(at, size); }

#endif

#endif
