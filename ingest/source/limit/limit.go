// Package limit bounds the memory and disk space of a dump file. Readers charge
// the bytes of a file before they allocate them.
package limit

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"
)

// The default limits of a file.
const (
	// DefaultMaxRowBytes is the longest row, in bytes: 64 MiB, 15 times the largest
	// crawled show.
	DefaultMaxRowBytes = 64 << 20

	// DefaultMaxRatio limits the size of an uncompressed file, as a multiple of its size on disk. The
	// largest ratio of the real dumps in tests is nine.
	DefaultMaxRatio = 1000

	// DefaultMaxPageBytes is the largest page of a Parquet file, in bytes, both
	// uncompressed and as values in memory: 256 MiB. Writers aim for 1 MiB.
	DefaultMaxPageBytes = 256 << 20

	// DefaultMaxDictionaryBytes is the largest dictionary page of a Parquet file, in
	// bytes: 256 MiB.
	DefaultMaxDictionaryBytes = 256 << 20
)

const (
	// MaxColumns limits the columns of a table, in any format.
	MaxColumns = 10_000

	// MaxDepth limits the nesting of objects and arrays in a row.
	MaxDepth = 512

	// freeBytes is the uncompressed size that every file may have.
	freeBytes = 64 << 20
)

// Limits bound one file. Of the last four, a negative number means no limit.
type Limits struct {
	MaxRowBytes        int64 // longest row; 0 means DefaultMaxRowBytes
	MaxBytes           int64 // bytes of the uncompressed file; 0 means no limit
	MaxRatio           int64 // uncompressed bytes for each byte on disk, once there are 64 MiB; 0 means DefaultMaxRatio
	MaxPageBytes       int64 // largest page of a Parquet file; 0 means DefaultMaxPageBytes
	MaxDictionaryBytes int64 // largest dictionary page of a Parquet file; 0 means DefaultMaxDictionaryBytes
}

// WithDefaults returns the effective limits, all of them positive.
func (l Limits) WithDefaults() Limits {
	if l.MaxRowBytes <= 0 {
		l.MaxRowBytes = DefaultMaxRowBytes
	}
	l.MaxBytes = orDefault(l.MaxBytes, math.MaxInt64)
	l.MaxRatio = orDefault(l.MaxRatio, DefaultMaxRatio)
	l.MaxPageBytes = orDefault(l.MaxPageBytes, DefaultMaxPageBytes)
	l.MaxDictionaryBytes = orDefault(l.MaxDictionaryBytes, DefaultMaxDictionaryBytes)
	return l
}

func orDefault(n, unset int64) int64 {
	if n < 0 {
		return math.MaxInt64
	}
	return cmp.Or(n, unset)
}

// Err matches, through errors.Is, every error of a file that exceeds a limit.
var Err = errors.New("beyond a limit")

// A limitError reports an exceeded limit.
type limitError struct{ text string }

func (e *limitError) Error() string { return e.text }

// Is makes every limitError match Err.
func (e *limitError) Is(target error) bool { return target == Err }

// Errorf returns a formatted error that matches Err.
func Errorf(format string, args ...any) error {
	return &limitError{text: fmt.Sprintf(format, args...)}
}

// Expandable returns how many bytes a file of size bytes may expand to at a ratio.
func Expandable(size, ratio int64) int64 {
	if ratio > 0 && size > math.MaxInt64/ratio {
		return math.MaxInt64
	}
	return max(freeBytes, size*ratio)
}

// A Budget bounds the size that one file may expand to.
type Budget struct {
	Max   int64 // bytes of the file, uncompressed
	Ratio int64 // uncompressed bytes for each byte on disk; 0 if the file is not compressed
	out   int64 // uncompressed bytes so far
}

// Spend charges n uncompressed bytes. in is the number of bytes of the file that were read so far.
func (b *Budget) Spend(n, in int64) error {
	b.out += n
	if b.out > b.Max {
		return Errorf("holds more than %d bytes uncompressed, the limit for one file", b.Max)
	}
	if b.Ratio > 0 && b.out > Expandable(in, b.Ratio) {
		return Errorf("expands to %d times its size (%d bytes out of %d), want at most %d times: is it a compression bomb?", b.out/max(in, 1), b.out, in, b.Ratio)
	}
	return nil
}

// A Reader returns an error if an uncompressed stream exceeds its budget. It must not be used after an error.
type Reader struct {
	Budget
	R  io.Reader
	In *atomic.Int64 // bytes of the file that were read so far
}

// Read returns only bytes within the budget.
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.R.Read(p)
	if over := r.Spend(int64(n), r.In.Load()); over != nil {
		return n - int(min(int64(n), max(0, r.out-r.Max))), over
	}
	return n, err
}
