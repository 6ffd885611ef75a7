// Package posting is what query tables are made of: columns, orders, ranges and lists of
// ranks at rest. The builder writes them into the sections of a release's tables, the edge
// maps them and reads them where they lie; opening one costs the same at any size.
//
// A rank is the number of a resource among those of its kind, most popular first, from 0.
// All numbers are little-endian.
//
//	section      bytes
//	NAME         a column: one number a rank
//	NAME.order   4 bytes a place: the ranks in ascending order of the column, then of rank
//	NAME.place   4 bytes a rank: its place in NAME.order
//	NAME.sums    bit sets of the first places of NAME.order: one for each full step of
//	             ceil(rows/64) places, 8 bytes for each 64 ranks, bit 0 first
//	NAME.keys    16 bytes a key: the key, ascending, and where its list starts in NAME.data,
//	             with the form of the list in the lowest bit; at the end the key
//	             2^64-1 with the length of NAME.data
//	NAME.data    lists, each from a multiple of 8 on: ascending ranks of 4 bytes (form 0),
//	             or a bitmap in the public format of Roaring (form 1); of Dated, pairs of a
//	             day and a rank of 4 bytes each, ascending
//
// A Range has the first four sections, an Order the second and third, Lists and Dated the
// last two. Sections that do not fit together, and lists that are damaged, are errors that
// match release.ErrCorrupt.
package posting

import (
	"encoding/binary"
	"fmt"
	"io"

	"reelsplice/schemas/release"
)

// A Source has sections, as a release.Table does.
type Source interface {
	// Section returns the bytes of a section, nil for one that is not there.
	Section(name string) []byte
}

// A Sink takes sections, as a release.TableWriter does.
type Sink interface {
	// Section starts the next section.
	Section(name string) io.Writer
}

// Ends of the names of sections.
const (
	orderEnd = ".order"
	placeEnd = ".place"
	sumsEnd  = ".sums"
	keysEnd  = ".keys"
	dataEnd  = ".data"
)

var le = binary.LittleEndian

// corrupt returns an error about a section.
func corrupt(section, format string, args ...any) error {
	return fmt.Errorf("%w: section %s: %s", release.ErrCorrupt, section, fmt.Sprintf(format, args...))
}

// sized returns a section, which must have rows times width bytes.
func sized(s Source, name string, rows, width int) ([]byte, error) {
	b := s.Section(name)
	if b == nil {
		return nil, corrupt(name, "it is missing")
	}
	if len(b) != rows*width {
		return nil, corrupt(name, "%d bytes, want %d for %d rows", len(b), rows*width, rows)
	}
	return b, nil
}
