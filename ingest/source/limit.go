package source

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"
)

// The limits that Options have when they do not say otherwise.
const (
	// DefaultMaxRowBytes is the longest row, in bytes: 64 MiB, 15 times the largest
	// crawled show.
	DefaultMaxRowBytes = 64 << 20

	// DefaultMaxDepth is how many objects and arrays may be open at once inside one
	// row. It is also the most that Options can ask for.
	DefaultMaxDepth = 512

	// DefaultMaxRatio is how many times its size on disk a file may expand to. The
	// densest of the real dumps that tests read expands nine times.
	DefaultMaxRatio = 1000

	// DefaultMaxPageBytes is the largest page of a Parquet file, in bytes, both as it is
	// uncompressed and as its values lie in memory: 256 MiB. Writers aim at 1 MiB.
	DefaultMaxPageBytes = 256 << 20

	// DefaultMaxDictionaryBytes is the largest dictionary page of a Parquet file, in
	// bytes: 256 MiB.
	DefaultMaxDictionaryBytes = 256 << 20
)

const (
	// freeBytes is what any file may expand to, whatever its size.
	freeBytes = 64 << 20

	maxSchemaDepth = 64       // of groups in a Parquet schema
	maxFooterBytes = 64 << 20 // of a Parquet footer
	maxFooterItems = 1 << 20  // structs, numbers and strings in the lists of a Parquet footer
	itemBytes      = 1 << 10  // that an item of a list in a Parquet footer may take in memory
)

// ErrLimit matches, through errors.Is, every error of a file that was refused because it
// goes beyond one of the limits in Options.
var ErrLimit = errors.New("beyond a limit")

// A limitError is a limit that was hit.
type limitError struct{ text string }

func (e *limitError) Error() string { return e.text }

// Is makes every limitError match ErrLimit.
func (e *limitError) Is(target error) bool { return target == ErrLimit }

func overLimit(format string, args ...any) error {
	return &limitError{text: fmt.Sprintf(format, args...)}
}

// orDefault returns the value of an option: n, or what it is when not set, or no limit
// where n is negative.
func orDefault(n, unset int64) int64 {
	switch {
	case n == 0:
		return unset
	case n < 0:
		return math.MaxInt64
	}
	return n
}

func (o Options) maxRowBytes() int {
	if o.MaxRowBytes <= 0 {
		return DefaultMaxRowBytes
	}
	return int(o.MaxRowBytes)
}

func (o Options) maxDepth() int {
	if o.MaxDepth <= 0 || o.MaxDepth > DefaultMaxDepth {
		return DefaultMaxDepth
	}
	return o.MaxDepth
}

func (o Options) maxBytes() int64     { return orDefault(o.MaxBytes, math.MaxInt64) }
func (o Options) maxRatio() int64     { return orDefault(o.MaxRatio, DefaultMaxRatio) }
func (o Options) maxPageBytes() int64 { return orDefault(o.MaxPageBytes, DefaultMaxPageBytes) }
func (o Options) maxDictionaryBytes() int64 {
	return orDefault(o.MaxDictionaryBytes, DefaultMaxDictionaryBytes)
}

// expandable returns how many bytes a file of size bytes may expand to at a ratio.
func expandable(size, ratio int64) int64 {
	if ratio > 0 && size > math.MaxInt64/ratio {
		return math.MaxInt64
	}
	return max(freeBytes, size*ratio)
}

// A limitedReader counts what comes out of an uncompressed stream and ends it when that
// is more than the limits allow. It is not used again after an error.
type limitedReader struct {
	r     io.Reader
	in    *atomic.Int64 // bytes of the file that were read so far
	out   int64
	max   int64
	ratio int64 // 0 where the stream is not compressed
}

func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.out += int64(n)
	if over := l.out - l.max; over > 0 {
		return n - int(over), overLimit("holds more than %d bytes uncompressed, the limit for one file", l.max)
	}
	if in := l.in.Load(); l.ratio > 0 && l.out > expandable(in, l.ratio) {
		return 0, bombError(l.out, in, l.ratio)
	}
	return n, err
}

// bombError returns the error of out bytes that come of in bytes.
func bombError(out, in, ratio int64) error {
	return overLimit("expands to %d times its size (%d bytes out of %d), want at most %d times: is it a compression bomb?", out/max(in, 1), out, in, ratio)
}
