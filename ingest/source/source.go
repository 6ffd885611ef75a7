// Package source turns dump files into raw JSON rows, each with its place. It handles compression (gzip, zstd), file formats
// (NDJSON, JSON arrays, concatenated JSON objects, CSV, TSV, Parquet) and the kinds and ids in file names. Package layout
// interprets the rows.
//
// Files are streamed: memory is bounded by the longest row that Options allows, not
// by the size of a file. A bad row is returned with its reason, and reading continues.
// If damage makes the rest of a file unreadable, reading ends with a FileError.
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

// Options are the settings of List and Open. A row that exceeds a limit is a bad row. A file that exceeds one causes a
// FileError that matches limit.Err.
type Options struct {
	limit.Limits
	Context context.Context // ends listing and reading of objects and pipes; may be nil
	Kind    string          // if set, the kind of every file, whatever its name
	// Encoding is the encoding of texts: EncodingAuto (also ""), EncodingUTF8, or a name such as windows-1252 for
	// texts that are not UTF-8.
	Encoding string
	Strict   bool                      // rows that need repair, or have fewer or more cells than columns, are bad
	TempDir  string                    // folder for uncompressed copies of Parquet files; "" means the system's
	Skipped  func(path, reason string) // called with each file of a folder that List leaves out; may be nil
	Summed   func(f File, sum string)  // called with the hex SHA-256 of each file that was read sequentially to its end; may be nil

	// Buckets opens the bucket of a URL. If it is nil, URLs are refused. The caller provides it, so that this package
	// does not import the libraries of object stores.
	Buckets func(context.Context, object.Location) (object.Bucket, error)
}

func (o Options) context() context.Context {
	if o.Context == nil {
		return context.Background()
	}
	return o.Context
}

// longRowHead is the number of bytes that are kept of a too long row.
const longRowHead = 4 << 10

// A Format is the format of the rows in an uncompressed file.
type Format uint8

// The formats. FormatObjects means concatenated JSON values with any white space between them, including a single document
// over several lines; a document on one line is FormatNDJSON with one row. FormatCSV is any text with a header, delimiters
// and the quoting of RFC 4180; FormatTSV has TABs, and quotes are mostly text: see tableRows.extent.
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
	Path           string    // path to open; for an object, its URL without parameters
	Name           string    // for messages: the path below the walked folder, or the last element of Path
	Format         Format    // detected from the content when the file is opened
	Compression    string    // detected from the content when the file is opened: none, gzip or zstd
	Kind           string    // movie, tv, season, episode, person, collection, company, network, keyword, review, credit, episode_group, list, account; "" unknown
	KindFromFolder bool      // only a folder shows the kind
	Parts          string    // for a part of a file, the file's folder: movies.parquet for movies.parquet/part-0.parquet
	Src            int       // index of the source in List's srcs
	Address                  // the resource that the file is named after, or zero
	Bytes          int64     // size on disk; 0 for a pipe or another file without a size
	Modified       time.Time // zero for a file without a size
	Err            error     // why List could not inspect it; Open returns it

	Join func(json []byte) []byte // adds fields from elsewhere to a row; safe for concurrent use; usually nil
	Rows string                   // path to nested rows; "" for most, see CheckRows

	object *inBucket // nil for a file on disk
}

// Base returns the file's name without its folder and the extensions of format
// and compression. For a part, it is the name of the whole file.
func (f File) Base() string { return baseName(f.WholePath()) }

// WholePath returns the path of the file, or of the file that it is a part of.
func (f File) WholePath() string { return cmp.Or(f.Parts, f.Path) }

// A Place is where a row was found.
type Place struct {
	File string // File.Name
	Row  int64  // 1-based number of the row in its file, without blank lines, a table's header and rows of empty cells
	Line int64  // 1-based line of the row's first byte in text formats, 0 otherwise
	Off  int64  // offset of the row's first byte in the uncompressed stream, -1 unknown
}

// String returns "movies.ndjson.gz:17" if lines are counted, else
// "movies.parquet: row 17".
func (p Place) String() string {
	if p.Line > 0 {
		return p.File + ":" + strconv.FormatInt(p.Line, 10)
	}
	return p.File + ": row " + strconv.FormatInt(p.Row, 10)
}

// A Row is one row of a dump.
type Row struct {
	Place Place

	// JSON is one complete JSON object in valid UTF-8, without white space around it and at most limit.MaxDepth deep. It is
	// valid until the next call of Next. If Err is set, it is the original row, cut at 4 KiB if the row is too long.
	//
	// For CSV and TSV, it has the cells in the order of the header, each as a string, or null if the cell is empty or, in
	// TSV, \N.
	JSON []byte

	// Raw is the original row without its line end, if it differs from JSON: for CSV, TSV, Extended JSON and repaired rows.
	// Otherwise it is nil. It is valid as long as JSON.
	Raw []byte

	// Mended counts the repairs that made the row valid JSON.
	Mended record.Mended

	// Nulled are values of a table that JSON cannot represent, such as texts that are not UTF-8. They are null in JSON.
	Nulled []record.FieldError

	// Size is the length of the original row in bytes, even if JSON or Raw is cut. For Parquet, it is the length of the JSON.
	Size int64

	// Err is a *RowError if the row is bad. Reading can continue.
	Err error
}

// A RowError is the reason why one row cannot be used.
type RowError struct {
	Place  Place
	Off    int64  // byte offset of the fault in the row, -1 if unknown
	Reason string // a phrase with the offset, without the place
}

func (e *RowError) Error() string { return e.Place.String() + ": " + e.Reason }

// A FileError is the reason why a file cannot be read, or not to its end.
type FileError struct {
	File string // File.Name
	Row  int64  // 1-based row that could not be read, 0 before the first row
	Line int64  // 1-based line where that row starts, 0 if lines are not counted
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
