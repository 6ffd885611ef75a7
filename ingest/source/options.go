package source

import (
	"context"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
	"github.com/reelsplice/reelsplice/schemas/object"
)

// Limits are the limits of one file.
type Limits = limit.Limits

// ErrLimit matches, through errors.Is, every error of a file that was refused because it
// goes beyond one of its Limits.
var ErrLimit = limit.Err

// Options are the settings of List and Open. A row beyond a limit is a bad row, a file beyond
// one a FileError that matches ErrLimit.
type Options struct {
	Limits
	Context context.Context // for objects and pipes: ends listing and reading; nil never does
	Kind    string          // when set, the kind of every file, whatever its name
	// Encoding is the encoding of texts: EncodingAuto (also ""), EncodingUTF8, or a name such as windows-1252 for
	// texts that are not UTF-8.
	Encoding string
	Strict   bool                      // rows that are nearly JSON, and those with fewer or more cells than columns, are bad
	TempDir  string                    // where a packed Parquet file is unpacked, which needs a file; "" means the system's
	Skipped  func(path, reason string) // called with each file that List leaves out of a folder; nil for none
	Summed   func(f File, sum string)  // called with the SHA-256 of each file, in hex, that was read in order to its end; nil for none

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
