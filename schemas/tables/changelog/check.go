package changelog

import (
	"bytes"
	"fmt"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
)

// Check returns what of the table breaks its layout, the first of it; it does not look
// into segments. Their bytes are what the CRC of their section guards.
func (l *Log) Check() error {
	broken := func(format string, args ...any) error {
		return fmt.Errorf("%w: table %s: %s", release.ErrCorrupt, Table, fmt.Sprintf(format, args...))
	}
	for i := 1; i < l.Builds(); i++ {
		if l.Time(i) < l.Time(i-1) {
			return broken("build %d is before the one before it", i)
		}
	}
	for i := 1; i < l.Keys(); i++ {
		if bytes.Compare(l.Key(i-1), l.Key(i)) >= 0 {
			return broken("key %q follows %q", l.Key(i), l.Key(i-1))
		}
	}
	for _, k := range Lists() {
		if what := l.checkList(k); what != "" {
			return broken("%s: %s", ListSection(k), what)
		}
	}
	end := uint64(0)
	for _, k := range Kinds() {
		what, err := l.checkItems(k, &end)
		if err != nil {
			return err
		}
		if what != "" {
			return broken("%s: %s", ItemSection(k), what)
		}
	}
	if end != uint64(l.data.Len()) {
		return broken("%s: %d bytes, segments have %d", SectionData, l.data.Len(), end)
	}
	return nil
}

// checkList returns what is wrong with the list of a kind.
func (l *Log) checkList(k fragment.Kind) string {
	n := 0
	for b := range l.Builds() {
		rows := l.Changed(k, b)
		n += rows.Len()
		for i := range rows.Len() {
			row := rows.At(i)
			if i > 0 && rows.At(i-1).ID >= row.ID {
				return fmt.Sprintf("build %d: %d follows %d", b, row.ID, rows.At(i-1).ID)
			}
			if row.Newer != None && (int(row.Newer) <= b || int(row.Newer) >= l.Builds()) {
				return fmt.Sprintf("build %d: %d changed again in build %d of %d", b, row.ID, row.Newer, l.Builds())
			}
		}
	}
	if all := l.lists[k].Len() / rowLen; n != all {
		return fmt.Sprintf("%d rows, builds have %d", all, n)
	}
	return ""
}

// checkItems returns what is wrong with the items of a kind, whose first segment is at end,
// and moves end behind the last one.
func (l *Log) checkItems(k fragment.Kind, end *uint64) (what string, err error) {
	var last Items
	for i := range l.Segments(k) {
		it, err := l.At(k, i)
		if err != nil {
			return "", err
		}
		inOrder := it.ID > last.ID || it.ID == last.ID && (it.Key > last.Key || it.Key == last.Key && it.Build >= last.Build)
		if i > 0 && !inOrder {
			return fmt.Sprintf("row %d, of %d, is out of order", i, it.ID), nil
		}
		if it.Offset != *end {
			return fmt.Sprintf("row %d: segment at %d, want %d", i, it.Offset, *end), nil
		}
		*end += uint64(len(it.Segment.Stored))
		last = it
	}
	return "", nil
}
