// Package posting implements the elements of query tables in files: columns, orders, ranges and lists of ranks. The
// builder writes them into sections of a release's tables; the edge reads them in the mapping. Opening one takes the
// same time at any size.
//
// A rank is the number of a resource in its kind, most popular first, from 0. TABLES.md has the layout of the
// sections. Inconsistent sections and damaged lists cause errors that match release.ErrCorrupt.
package posting

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/release"
)

// A Source has named sections, like a release.Table.
type Source interface {
	// Section returns the bytes of a section; nil if it is absent.
	Section(name string) []byte
}

// Has reports whether s has all of the sections. It does not read sections of a release.
func Has(s Source, names ...string) bool {
	if t, ok := s.(*release.Table); ok {
		return t.Has(names...)
	}
	return !slices.ContainsFunc(names, func(name string) bool { return s.Section(name) == nil })
}

// A Sink accepts sections, like a release.TableWriter.
type Sink interface {
	// Section starts the next section.
	Section(name string) io.Writer
}

// Suffixes of the names of sections.
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

// sized returns a section that must have rows times width bytes.
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
