// Measure simdenc on a file: its function, which allocates the result, and its kernel, which writes into a buffer.
//
//	speed decode|encode INPUT OUTPUT
//
// It prints the median nanoseconds of both, and writes the function's result, which must be the kernel's.
package main

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"time"
	_ "unsafe" // for linkname

	"github.com/dans-stuff/simdenc"
)

const path = 1 // simdenc's mode of PathEscape and PathUnescape, which leave '+' as it is

// The kernels process blocks of 64 bytes, and return how many bytes they have read and written.
//
//go:linkname escapeBlocks github.com/dans-stuff/simdenc.percentEscapeBlocks
func escapeBlocks(mode int, dst, src []byte) (int, int)

//go:linkname unescapeBlocks github.com/dans-stuff/simdenc.percentUnescapeBlocks
func unescapeBlocks(mode int, dst, src []byte) (int, int)

func escape(text string) (string, error) { return simdenc.PathEscape(text), nil }

func escapeRest(text string) (string, error) { return url.PathEscape(text), nil }

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	function, blocks, restOf := simdenc.PathUnescape, unescapeBlocks, url.PathUnescape
	if os.Args[1] == "encode" {
		function, blocks, restOf = escape, escapeBlocks, escapeRest
	}
	src := must(os.ReadFile(os.Args[2]))
	text, dst, size, result := string(src), make([]byte, 3*len(src)), 0, ""
	calls := median(func() { result = must(function(text)) })
	kernel := median(func() {
		read, written := blocks(path, dst, src)
		size = written + copy(dst[written:], must(restOf(text[read:])))
	})
	if result != string(dst[:size]) {
		panic("the kernel has another result than the function")
	}
	must(0, os.WriteFile(os.Args[3], []byte(result), 0o600))
	fmt.Println(calls.Nanoseconds(), kernel.Nanoseconds())
}

func median(run func()) time.Duration {
	times := make([]time.Duration, 100)
	for i := range times {
		start := time.Now()
		run()
		times[i] = time.Since(start)
	}
	slices.Sort(times)
	return times[len(times)/2]
}
