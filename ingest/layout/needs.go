package layout

import "reelsplice/schemas/fragment"

// Needs says what must be known before the rows of a table get their meaning.
type Needs struct {
	IDs    bool // of records that have the same external ids, of Kinds
	Kinds  KindSet
	Keyed  bool // though some rows have ids of their own, which others can find
	Mints  bool // where they are found nowhere
	People bool // the names in the credits of titles
	Names  bool // the names of companies, networks and keywords
	Named  bool // nothing: it has records of companies, networks or keywords, which others name
}

// A KindSet is a set of kinds.
type KindSet uint64

// Kinds returns the set of some kinds.
func Kinds(kinds ...fragment.Kind) (s KindSet) {
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

// Has reports whether a kind is in the set.
func (s KindSet) Has(k fragment.Kind) bool { return s&(1<<k) != 0 }

// NeedsOf returns the needs of a file with such a row in a layout.
func NeedsOf(layout, file string, row []byte, o Options) Needs {
	if layout != Tables {
		return Needs{}
	}
	if t := tableOf(o.mappings(layout), file, columnsOf(row)); t != nil {
		return t.needs()
	}
	return Needs{}
}

// AnyNeeds returns the needs of all tables of the caller's own mappings.
func (o *Options) AnyNeeds() (n Needs) {
	for _, m := range o.Mappings {
		for _, t := range m.tables {
			one := t.needs()
			n = Needs{
				n.IDs || one.IDs, n.Kinds | one.Kinds, n.Keyed && one.Keyed, n.Mints && one.Mints, n.People || one.People,
				n.Names || one.Names, n.Named || one.Named,
			}
		}
	}
	return n
}

func (t *table) needs() (n Needs) {
	for _, s := range t.shapes {
		if f := s.find; f != nil {
			if f.matches || f.mint != nil {
				n.IDs, n.Kinds = true, n.Kinds|Kinds(f.of)
			}
			n.Keyed = n.Keyed || f.keyed && (f.matches || f.mint != nil)
			n.Mints = n.Mints || f.mint != nil
			n.People = n.People || f.people
		}
		n.Named = n.Named || isNamed(s.typ.Kind)
		for _, e := range s.entries {
			n.Names = n.Names || isNamed(nameKinds[e.Of])
		}
	}
	return n
}

// isNamed reports whether resources of a kind are known by their names: see NameIDs.
func isNamed(k fragment.Kind) bool {
	return k == fragment.KindCompany || k == fragment.KindNetwork || k == fragment.KindKeyword
}
