package release

import (
	"context"
	"fmt"
	"slices"
)

// SameAs tells whether the release, as far as it is written, answers as r does: directory,
// index and packs have the same bytes, and tables the same sections, but for those that
// ignore names; for a whole table section is empty. What the manifests say of parameters,
// sources and parents does not count. Shards and tables must be closed.
func (w *Writer) SameAs(ctx context.Context, r *Reader, ignore func(table, section string) bool) (bool, error) {
	same, err := w.sameFiles(ctx, r)
	if err != nil {
		return false, fmt.Errorf("compare with release %s: %w", r.manifest.ID, err)
	}
	return same && w.sameTables(r, ignore), nil
}

// sameFiles compares everything but tables, what costs least first.
func (w *Writer) sameFiles(ctx context.Context, r *Reader) (bool, error) {
	var mine Manifest
	mine.Counts.Resources = map[string]int64{}
	w.describe(&mine)
	sortFiles(mine.Files)
	mine.Files = slices.DeleteFunc(mine.Files, func(f File) bool { return f.Name == directoryFile || f.Name == indexFile })
	want := slices.DeleteFunc(slices.Clone(r.manifest.Files), func(f File) bool { return isTable(f.Name) || f.Name == checksFile })
	if len(want) != len(mine.Files)+2 || !slices.Equal(want[2:], mine.Files) {
		return false, nil
	}
	if err := w.join(ctx); err != nil {
		return false, err
	}
	return want[0] == w.joined[0].File && want[1] == w.joined[1].File, nil
}

// sameTables compares tables by the lengths and the CRCs of their sections: their bytes
// follow from those of the other files, which are the same, and from the program.
func (w *Writer) sameTables(r *Reader, ignore func(table, section string) bool) bool {
	mine := map[string][]section{}
	for _, t := range w.tables {
		mine[t.name] = t.sections
	}
	theirs := map[string][]section{}
	for name, t := range r.tables {
		theirs[name] = t.sections
	}
	for _, all := range []map[string][]section{mine, theirs} {
		for name := range all {
			_, here := mine[name]
			_, there := theirs[name]
			if ignore(name, "") {
				continue
			}
			if !here || !there || !sameSections(mine[name], theirs[name], func(s string) bool { return ignore(name, s) }) {
				return false
			}
		}
	}
	return true
}

// sameSections compares sections wherever they lie.
func sameSections(a, b []section, ignore func(string) bool) bool {
	known := map[string]section{}
	for _, s := range a {
		if !ignore(s.name) {
			s.off = 0
			known[s.name] = s
		}
	}
	for _, s := range b {
		if ignore(s.name) {
			continue
		}
		s.off = 0
		if known[s.name] != s {
			return false
		}
		delete(known, s.name)
	}
	return len(known) == 0
}
