package release

import (
	"slices"
	"strings"
)

// Same reports whether two releases respond alike: they have the same parts, indexes and packs,
// and the same sections of tables, but for those that ignore accepts; for a whole table section
// is empty. Parameters, sources and parents of the manifests do not count, nor do the offsets of
// sections.
func Same(a, b *Reader, ignore func(table, section string) bool) bool {
	m, n := a.manifest, b.manifest
	return slices.Equal(m.Parts, n.Parts) && slices.Equal(m.Index, n.Index) && slices.Equal(m.Packs, n.Packs) &&
		slices.Equal(contentOf(a, ignore), contentOf(b, ignore))
}

// A sectionContent tells sections apart by their lengths and CRCs: their bytes follow from those
// of the parts, which are compared by SHA-256, and from the program.
type sectionContent struct {
	table, section string
	size           int64
	crc            uint32
}

// contentOf returns the content of the tables of r, in order; one that is not ignored as a whole
// counts even without sections.
func contentOf(r *Reader, ignore func(table, section string) bool) (all []sectionContent) {
	for _, name := range r.Tables() {
		if ignore(name, "") {
			continue
		}
		all = append(all, sectionContent{table: name})
		for _, s := range r.tables[name].sections {
			if !ignore(name, s.name) {
				all = append(all, sectionContent{name, s.name, s.size, s.crc})
			}
		}
	}
	return all
}

// SameTables reports whether two releases have the same tables, to the byte, besides those of
// the names in but.
func SameTables(a, b *Reader, but ...string) bool {
	of := func(r *Reader) []File {
		return slices.DeleteFunc(slices.Clone(r.manifest.Tables), func(f File) bool {
			return slices.Contains(but, strings.TrimPrefix(f.Name, tablePrefix))
		})
	}
	return slices.Equal(of(a), of(b))
}
