package changelog

import (
	"bytes"
	"fmt"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// Check returns an error for the first violation of the layout. It does not inspect segments: the CRC of their
// section protects them.
func (l *Log) Check() error {
	for i := 1; i < l.Builds(); i++ {
		if l.Time(i) < l.Time(i-1) {
			return broken("build %d is earlier than its predecessor", i)
		}
	}
	for i := 1; i < l.Keys(); i++ {
		if bytes.Compare(l.Key(i-1), l.Key(i)) >= 0 {
			return broken("key %q follows %q", l.Key(i), l.Key(i-1))
		}
	}
	for _, k := range Lists() {
		if err := l.checkList(k); err != nil {
			return err
		}
	}
	end := uint64(0)
	for _, k := range Kinds() {
		if err := l.checkItems(k, &end); err != nil {
			return err
		}
	}
	if end != uint64(l.data.Len()) {
		return broken("%s: %d bytes, segments have %d", SectionData, l.data.Len(), end)
	}
	return nil
}

// broken returns an error about the table.
func broken(format string, args ...any) error {
	return fmt.Errorf("%w: table %s: %s", release.ErrCorrupt, Table, fmt.Sprintf(format, args...))
}

// checkList checks the list of a kind.
func (l *Log) checkList(k fragment.Kind) error {
	n, name := 0, ListSection(k)
	for b := range l.Builds() {
		rows := l.Changed(k, b)
		n += rows.Len()
		for i := range rows.Len() {
			row := rows.At(i)
			if i > 0 && rows.At(i-1).ID >= row.ID {
				return broken("%s: build %d: %d follows %d", name, b, row.ID, rows.At(i-1).ID)
			}
			if row.Newer != None && (int(row.Newer) <= b || int(row.Newer) >= l.Builds()) {
				return broken("%s: build %d: %d changed again in build %d of %d", name, b, row.ID, row.Newer, l.Builds())
			}
		}
	}
	if all := l.lists[k].Len() / rowLen; n != all {
		return broken("%s: %d rows, builds have %d", name, all, n)
	}
	return nil
}

// checkItems checks the items of a kind. end is the offset of the first segment; it moves after the last one.
func (l *Log) checkItems(k fragment.Kind, end *uint64) error {
	var last Items
	for i := range l.Segments(k) {
		it, err := l.At(k, i)
		if err != nil {
			return err
		}
		inOrder := it.ID > last.ID || it.ID == last.ID && (it.Key > last.Key || it.Key == last.Key && it.Build >= last.Build)
		if i > 0 && !inOrder {
			return broken("%s: row %d, of %d, is out of order", ItemSection(k), i, it.ID)
		}
		if it.Offset != *end {
			return broken("%s: row %d: segment at %d, want %d", ItemSection(k), i, it.Offset, *end)
		}
		*end += uint64(len(it.Segment.Stored))
		last = it
	}
	return nil
}
