package source

import (
	"context"
	"math"

	"reelsplice/ingest/source/limit"
	"reelsplice/schemas/object"
)

// The limits that Options have when they do not say otherwise.
const (
	// DefaultMaxRowBytes is the longest row, in bytes: 64 MiB, 15 times the largest
	// crawled show.
	DefaultMaxRowBytes = 64 << 20

	// DefaultMaxDepth is how many objects and arrays may be open at once inside one
	// row. It is also the most that Options can ask for.
	DefaultMaxDepth = limit.MaxDepth

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

// ErrLimit matches, through errors.Is, every error of a file that was refused because it
// goes beyond one of the limits in Options.
var ErrLimit = limit.Err

// Options are the limits and hints of List and Open. A row beyond a limit is a bad row,
// a file beyond one a FileError that matches ErrLimit.
type Options struct {
	MaxRowBytes int64 // longest row accepted, in bytes; 0 means DefaultMaxRowBytes
	MaxDepth    int   // objects and arrays open at once in a row of JSON; 0, and what is above it, means DefaultMaxDepth

	// The following limits are for one file; a negative number means none.

	MaxBytes           int64 // uncompressed bytes; 0 means no limit
	MaxRatio           int64 // uncompressed bytes for each byte on disk, once there are 64 MiB; 0 means DefaultMaxRatio
	MaxPageBytes       int64 // of a page of a Parquet file; 0 means DefaultMaxPageBytes
	MaxDictionaryBytes int64 // of a dictionary page of a Parquet file; 0 means DefaultMaxDictionaryBytes

	Context context.Context           // for objects and pipes: ends listing and reading; nil never does
	Kind    string                    // when set, the kind of every file, whatever its name says
	TempDir string                    // where a packed Parquet file is unpacked, which needs a file; "" means the system's
	Skipped func(path, reason string) // told of each file that List leaves out of a folder; nil means nobody

	// Buckets opens the bucket of a URL; without it URLs are refused. It brings the
	// libraries of object stores along, which this package does without.
	Buckets func(context.Context, object.Location) (object.Bucket, error)
}

func (o Options) context() context.Context {
	if o.Context == nil {
		return context.Background()
	}
	return o.Context
}

// orDefault returns the value of an option: n, or unset where n is 0, or no limit where n
// is negative.
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
