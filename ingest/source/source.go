// Package source turns dump files into raw JSON rows, each with the place it came
// from. It handles compression (gzip, zstd), file formats (NDJSON, JSON arrays, JSON
// objects one after another, CSV, TSV, Parquet) and file names (which kind of resource, which
// id). The meaning of rows is the work of layouts.
//
// Files are streamed: memory is bounded by the longest row that Options allows, not
// by the size of a file. A bad row is returned with its reason, and reading continues.
// Damage that makes the rest of a file unreadable ends it with a FileError.
package source

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// Options are the settings of List and Open. A row beyond a limit is a bad row, a file beyond
// one a FileError that matches limit.Err.
type Options struct {
	limit.Limits
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

// longRowHead is how many bytes of a row above the limit are kept.
const longRowHead = 4 << 10

// A Format is the format of the rows in an uncompressed file.
type Format uint8

// The formats. FormatObjects stands for JSON values one after another with any
// white space between them, so also for a single document over several lines; a
// document on one line is FormatNDJSON with one row. FormatCSV is any text with a header,
// delimiters and the quoting of RFC 4180; FormatTSV has TABs and no quoting at all.
const (
	formatUnknown Format = iota
	FormatNDJSON
	FormatArray
	FormatObjects
	FormatParquet
	FormatCSV
	FormatTSV
)

var formatNames = [...]string{
	formatUnknown: "unknown", FormatNDJSON: "ndjson", FormatArray: "json array", FormatObjects: "json objects",
	FormatParquet: "parquet", FormatCSV: "csv", FormatTSV: "tsv",
}

// String returns the name of f as used in messages.
func (f Format) String() string { return formatNames[f] }

// Table reports whether f is a format of tables: each row has every column.
func (f Format) Table() bool { return f == FormatParquet || f == FormatCSV || f == FormatTSV }

// A File is one dump file and the meaning of its name.
type File struct {
	Path           string    // as the file is opened; of an object its URL without parameters
	Name           string    // as messages name it: the path below the folder that was walked, or the last element of Path
	Format         Format    // by the content, of an open file
	Compression    string    // none, gzip or zstd, by the first bytes, of an open file
	Kind           string    // movie, tv, season, episode, person, collection, company, network, keyword, review, credit, episode_group, list, account; "" unknown
	KindFromFolder bool      // a folder alone shows the kind
	Parts          string    // folder that is one file, if this is a part of it: movies.parquet of movies.parquet/part-0.parquet; "" for most
	Src            int       // which of List's srcs it was found by, from 0
	Address                  // the one resource that the file is named after; zero for none
	Bytes          int64     // size on disk; 0 for a pipe or another file without a size
	Modified       time.Time // zero for a file without a size
	Err            error     // why List could not look at it, and why Open refuses it; nil for most

	Join func(json []byte) []byte // adds the fields that a row has elsewhere, for any number of goroutines; nil for most
	Rows string                   // path to nested rows; "" for most, see CheckRows

	object *inBucket // nil for a file on disk
}

// Base returns the file's name without its folder and the extensions of format
// and compression. All parts of a file have its name.
func (f File) Base() string { return baseName(f.WholePath()) }

// WholePath returns the path of the file, or of the file that it is a part of.
func (f File) WholePath() string { return cmp.Or(f.Parts, f.Path) }

// A Place is where a row was found.
type Place struct {
	File string // File.Name
	Row  int64  // 1-based number of the row in its file; blank lines, the header of a table and its rows of empty cells are no rows
	Line int64  // 1-based line of the row's first byte in text formats, 0 otherwise
	Off  int64  // offset of the row's first byte in the uncompressed stream, -1 unknown
}

// String returns "movies.ndjson.gz:17" where lines are counted and
// "movies.parquet: row 17" where they are not.
func (p Place) String() string {
	if p.Line > 0 {
		return p.File + ":" + strconv.FormatInt(p.Line, 10)
	}
	return p.File + ": row " + strconv.FormatInt(p.Row, 10)
}

// A Row is one row of a dump.
type Row struct {
	Place Place

	// JSON is one complete JSON object, without white space around it, at most
	// limit.MaxDepth deep and valid UTF-8. It is valid until the next call of Next. Where
	// Err is set it is the row as found, cut at 4 KiB when the row is too long.
	//
	// Of CSV and TSV it holds the cells in the order of the header, each as a string, or
	// null where a cell is empty or, in TSV, \N.
	JSON []byte

	// Raw is the row as found, without its line end, where JSON is written anew: in CSV and TSV, of Extended JSON, and where it was mended. It is
	// nil otherwise, and valid as long as JSON is.
	Raw []byte

	// Mended counts the repairs that made valid JSON of the row.
	Mended record.Mended

	// Nulled are values of a table that JSON cannot hold, such as texts that are not UTF-8. They are null in JSON.
	Nulled []record.FieldError

	// Size is the length of the row in bytes as found, even if JSON or Raw is cut. A row of
	// Parquet counts as its JSON.
	Size int64

	// Err is set when the row is bad, and is then a *RowError; the file goes on.
	Err error
}

// A RowError is the reason why one row cannot be used.
type RowError struct {
	Place  Place
	Off    int64  // offset of the fault within the row in bytes, -1 where it has none
	Reason string // one phrase, with the offset but without the place
}

func (e *RowError) Error() string { return e.Place.String() + ": " + e.Reason }

// A FileError is the reason why a file cannot be read, or not any further.
type FileError struct {
	File string // File.Name
	Row  int64  // 1-based row that could not be read, 0 when no row was looked for yet
	Line int64  // 1-based line where that row starts, 0 where lines are not counted
	Err  error
}

func (e *FileError) Error() string {
	switch {
	case e.Row > 0 && e.Line > 0:
		return fmt.Sprintf("%s: row %d (line %d): %v", e.File, e.Row, e.Line, e.Err)
	case e.Row > 0:
		return fmt.Sprintf("%s: row %d: %v", e.File, e.Row, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.File, e.Err)
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }
