/* Reading a file at a place, from any number of threads. */
#ifndef UC_FILE_H
#define UC_FILE_H

#include <stddef.h>
#include <stdint.h>

#ifdef _WIN32

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <io.h>
#include <windows.h>

static ptrdiff_t uc_read_some(int number, uint8_t *dst, size_t size, uint64_t place) {
    OVERLAPPED at = {0};
    DWORD done = 0;
    at.Offset = (DWORD)place, at.OffsetHigh = (DWORD)(place >> 32);
    if (ReadFile((HANDLE)_get_osfhandle(number), dst, (DWORD)size, &done, &at)) return done;
    return GetLastError() == ERROR_HANDLE_EOF ? 0 : -1;
}

#else

#include <errno.h>
#include <unistd.h>

static ptrdiff_t uc_read_some(int number, uint8_t *dst, size_t size, uint64_t place) {
    ptrdiff_t done;
    do done = pread(number, dst, size, (off_t)place);
    while (done < 0 && errno == EINTR);
    return done;
}

#endif

/* Reads `size` bytes, at most 1 GiB, of the file with this descriptor. Returns 1; 0 if the file is shorter; -1 if it
 * cannot be read. */
static int uc_read_at(int number, uint8_t *dst, size_t size, uint64_t place) {
    while (size) {
        ptrdiff_t done = uc_read_some(number, dst, size, place);
        if (done <= 0) return (int)done;
        dst += done, size -= (size_t)done, place += (uint64_t)done;
    }
    return 1;
}

#endif
