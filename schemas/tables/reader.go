package tables

import (
	"errors"
	"fmt"

	"github.com/blevesearch/vellum"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// A Table is the mapped table of one kind in a release. Ranks count its rows from the most popular one, 0, to Rows-1.
// It is safe for concurrent use while the release is open.
//
// A column is absent if the table lacks one of its sections: older programs wrote it. Open verifies that the required
// columns are present, and that all present columns have sizes that fit the rows. A column's checksums are verified
// on first use: the methods panic on damage, see release.Guard. They return an empty view for an absent column or one
// of another type.
type Table struct {
	Kind fragment.Kind
	Rows int
	Pool *posting.Pool // lends sets for Rows ranks

	columns [ColumnCount]view
}

// A view is an opened column: the parts of its type. Its bytes are checked on use, so opening a release does not read
// them.
type view struct {
	present bool
	check   release.SectionCheck

	uint64s  posting.Uint64s
	float64s posting.Float64s
	ranges   posting.Range
	order    posting.Order
	lists    posting.Lists
	dated    posting.Dated
	index    *NameIndex
}

// Open opens the table of a kind; nil if the release has none. The error matches release.ErrCorrupt and lists all
// columns that do not fit.
func Open(r *release.Reader, kind fragment.Kind) (*Table, error) {
	t, ok := r.Table(kind.String())
	if !ok {
		return nil, nil //nolint:nilnil // tables are optional
	}
	return OpenSections(kind, t, t.Rows())
}

// OpenSections opens the table of a kind from the sections of s.
func OpenSections(kind fragment.Kind, s posting.Source, rows int) (*Table, error) {
	t := &Table{Kind: kind, Rows: rows, Pool: posting.NewPool(rows)}
	var errs []error
	for _, c := range Columns(kind) {
		v := &t.columns[c.ID]
		if v.present = posting.Has(s, c.Sections()...); v.present || c.Required {
			lazy := lazySource{s, &v.check}
			var err error
			switch c.Type {
			case Uint64s:
				v.uint64s, err = posting.OpenUint64s(lazy, c.Name, rows)
			case Float64s:
				v.float64s, err = posting.OpenFloat64s(lazy, c.Name, rows)
			case Range:
				v.ranges, err = posting.OpenRange(lazy, c.Name, rows, t.Pool)
				v.order = v.ranges.Order
			case NumberOrder, TextOrder:
				v.order, err = posting.OpenOrder(lazy, c.Name, rows)
			case Trend:
				if v.float64s, err = posting.OpenFloat64s(lazy, c.Name, rows); err == nil {
					v.order, err = posting.OpenOrder(lazy, c.Name, rows)
				}
			case Lists:
				v.lists, err = posting.OpenLists(lazy, c.Name, rows)
			case Dated:
				v.dated, err = posting.OpenDated(lazy, c.Name, rows)
			case Names:
				v.index, err = openNames(lazy, rows)
			}
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("table %s: %w", kind, err)
	}
	return t, nil
}

// Has reports whether the table has a column.
func (t *Table) Has(c ColumnID) bool { return t.columns[c].present }

// A lazySource opens sections without checking their bytes, and registers them with check.
type lazySource struct {
	posting.Source
	check *release.SectionCheck
}

// Section returns the bytes of a section. Until the check runs, only their length may be used.
func (s lazySource) Section(name string) []byte {
	t, ok := s.Source.(*release.Table)
	if !ok {
		return s.Source.Section(name)
	}
	s.check.Add(t, name)
	return t.Unchecked(name)
}

// checked returns a column after checking its bytes.
func (t *Table) checked(c ColumnID) *view {
	v := &t.columns[c]
	v.check.Check()
	return v
}

// Warm checks the columns that every search reads, each if the limit in bytes allows, and returns the rest of the limit.
func (t *Table) Warm(limit int64) int64 {
	for _, c := range []ColumnID{ID, Popularity, Text} {
		if v := &t.columns[c]; v.check.Len() <= limit {
			v.check.Check()
			limit -= v.check.Len()
		}
	}
	return limit
}

// Uint64s returns a column of type Uint64s.
func (t *Table) Uint64s(c ColumnID) posting.Uint64s { return t.checked(c).uint64s }

// Float64s returns a column of type Float64s, or the scores of a Trend.
func (t *Table) Float64s(c ColumnID) posting.Float64s { return t.checked(c).float64s }

// Range returns a column of type Range.
func (t *Table) Range(c ColumnID) *posting.Range { return &t.checked(c).ranges }

// Order returns the order of a column of type Range, NumberOrder, TextOrder or Trend.
func (t *Table) Order(c ColumnID) *posting.Order { return &t.checked(c).order }

// Lists returns a column of type Lists.
func (t *Table) Lists(c ColumnID) *posting.Lists { return &t.checked(c).lists }

// Dated returns a column of type Dated.
func (t *Table) Dated(c ColumnID) *posting.Dated { return &t.checked(c).dated }

// Names returns the index of names; nil if it is absent.
func (t *Table) Names() *NameIndex { return t.checked(Text).index }

// A NameIndex is a table's search index; see the sections of Text.
type NameIndex struct {
	Terms       *vellum.FST
	TermLists   posting.Lists
	PrefixLists posting.Lists
	Keys        posting.Uint64s
	Ranks       posting.Uint32s

	texts  []byte
	places posting.Uint32s
}

func openNames(s posting.Source, rows int) (n *NameIndex, err error) {
	fst := s.Section(NameTerms)
	defer func() {
		if p := recover(); p != nil { // vellum does not validate its input
			if err = release.Damage(p); err == nil {
				err = posting.Corrupt(NameTerms, "%v", p)
			}
		}
	}()
	n = &NameIndex{
		Keys: s.Section(NameKeys), Ranks: s.Section(NameRanks),
		texts: s.Section(NameTexts), places: s.Section(NamePlaces),
	}
	if n.Terms, err = vellum.Load(fst); err != nil {
		return nil, posting.Corrupt(NameTerms, "%v", err)
	}
	if n.TermLists, err = posting.OpenLists(s, TermLists, rows); err != nil {
		return nil, err
	}
	if n.PrefixLists, err = posting.OpenLists(s, PrefixLists, rows); err != nil {
		return nil, err
	}
	switch {
	case n.Keys == nil || n.Ranks == nil || n.texts == nil || n.places == nil:
		return nil, posting.Corrupt(NameTexts, "one of %s, %s, %s and %s is missing", NameTexts, NamePlaces, NameKeys, NameRanks)
	case n.Terms.Len() != n.TermLists.Len():
		return nil, posting.Corrupt(NameTerms, "%d terms, %d lists", n.Terms.Len(), n.TermLists.Len())
	case len(n.Keys)%8 != 0 || len(n.Ranks)%4 != 0 || n.Keys.Len() != n.Ranks.Len():
		return nil, posting.Corrupt(NameKeys, "%d bytes, and %d in %s", len(n.Keys), len(n.Ranks), NameRanks)
	case len(n.places) != 4*(rows+1) || int64(n.places.At(rows))*NameAlign != int64(len(n.texts)):
		return nil, posting.Corrupt(NamePlaces, "%d bytes for %d rows, or they do not match the length of %s", len(n.places), rows, NameTexts)
	}
	return n, nil
}

// Texts returns the folded names of a rank, each followed by its tier; nil if the places are damaged.
func (n *NameIndex) Texts(rank uint32) []byte {
	from, to := uint64(n.places.At(int(rank)))*NameAlign, uint64(n.places.At(int(rank)+1))*NameAlign
	if from > to || to > uint64(len(n.texts)) {
		return nil
	}
	return n.texts[from:to]
}
