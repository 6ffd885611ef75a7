// Package posting is what query tables are made of: columns, orders, ranges and lists of
// ranks at rest. The builder writes them into the sections of a release's tables, the edge
// maps them and reads them where they lie; opening one costs the same at any size.
//
// A rank is the number of a resource among those of its kind, most popular first, from 0.
// TABLES.md has the layout of the sections. Sections that do not fit together, and lists
// that are damaged, are errors that match release.ErrCorrupt.
package posting

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/release"
)

// A Source has sections, as a release.Table does.
type Source interface {
	// Section returns the bytes of a section, nil for one that is not there.
	Section(name string) []byte
}

// Has reports whether s has all of the sections. Those of a release are not read.
func Has(s Source, names ...string) bool {
	if t, ok := s.(*release.Table); ok {
		return t.Has(names...)
	}
	return !slices.ContainsFunc(names, func(name string) bool { return s.Section(name) == nil })
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

// Corrupt returns an error about a section, which matches release.ErrCorrupt.
func Corrupt(section, format string, args ...any) error {
	return fmt.Errorf("%w: section %s: %s", release.ErrCorrupt, section, fmt.Sprintf(format, args...))
}

// sized returns a section, which must have rows times width bytes.
func sized(s Source, name string, rows, width int) ([]byte, error) {
	b := s.Section(name)
	if b == nil {
		return nil, Corrupt(name, "it is missing")
	}
	if len(b) != rows*width {
		return nil, Corrupt(name, "%d bytes, want %d for %d rows", len(b), rows*width, rows)
	}
	return b, nil
}
