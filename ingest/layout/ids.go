package layout

import (
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// IDs finds the IDs of resources whose rows have none. It is safe for concurrent use, because the layouts of several workers
// share it.
type IDs interface {
	// External returns the ID of the resource that has an external ID, in the form of CanonicalID. source is the field, such as
	// imdb_id.
	External(kind fragment.Kind, source, id string) (int64, bool)
	// Person returns the ID of the one person with a name, in the form of Folded, in the credits of a title.
	Person(kind fragment.Kind, title int64, name string) (int64, bool)
}

// Minted IDs have nine digits, between the IDs of TMDB and of layout imdb. All fit the 32 bits in which clients store IDs.
const (
	FirstMinted = 100_000_000
	LastMinted  = 999_999_999
)

// IsMinted reports whether an ID is in the range of minted IDs.
func IsMinted(id int64) bool { return id >= FirstMinted && id <= LastMinted }

// A NoIDError is the error of a row for which no ID was found.
type NoIDError struct {
	Field *record.FieldError
	Asked bool // an external ID was looked up: another source may have it
}

func (e *NoIDError) Error() string { return e.Field.Error() }

// Unwrap returns the error about the field.
func (e *NoIDError) Unwrap() error { return e.Field }

// externalIDs are the fields of IDs on other sites, the most trusted first. Social media pages are not included: titles share
// them.
var externalIDs = []string{"imdb_id", "wikidata_id", "tvdb_id", "freebase_mid", "freebase_id", "tvrage_id"}

// MintedSource is the source, for IDs.External, of minted IDs that were merged into others.
const MintedSource = "minted"

const externalIDsField = "external_ids"

// CanonicalID returns the canonical form of an external ID, or false if the text is not one.
func CanonicalID(source, text string) (string, bool) {
	text = strings.TrimSpace(text)
	if source != "imdb_id" {
		return text, text != "" && text != "0"
	}
	const prefix = 2 // tt or nm
	if len(text) <= prefix || !strings.HasPrefix(text, "tt") && !strings.HasPrefix(text, "nm") {
		return "", false
	}
	n, err := strconv.ParseUint(text[prefix:], 10, 32)
	return text[:prefix] + strconv.FormatUint(n, 10), err == nil && n > 0
}

// ExternalIDs calls fn with the external IDs of a record, in the form of CanonicalID.
func ExternalIDs(r record.Record, fn func(source, id string)) {
	for _, source := range externalIDs {
		f, ok := r.Schema.Field(source)
		if !ok {
			continue
		}
		text := ""
		switch f.Shape {
		case record.ShapeString:
			text = r.String(f).V
		case record.ShapeInt:
			text = strconv.FormatInt(r.Int(f).V, 10)
		}
		if id, ok := CanonicalID(source, text); ok {
			fn(source, id)
		}
	}
	if f, ok := r.Schema.Field(externalIDsField); ok && f.Shape == record.ShapeObject {
		if sub, ok := r.Sub(f); ok {
			ExternalIDs(sub, fn) // an object without such a field
		}
	}
}

// An identifier finds IDs for records and for the names in them.
type identifier struct {
	names NameIDs                 // companies, networks and keywords; may be nil
	find  IDs                     // rows without an ID; may be nil
	made  map[fragment.Kind]int64 // IDs of the row's records so far, by kind
	title titleID                 // title in whose credits people are looked up
	named []named                 // names with minted IDs in the row
}

// begin resets the identifier for a new row.
func (n *identifier) begin() {
	clear(n.made)
	n.named = n.named[:0]
}

// ID resolves a name. People are looked up in the credits of the current title, else their ID is minted. Other kinds use
// NameIDs.
func (n *identifier) ID(kind fragment.Kind, name string) (int64, bool) {
	switch {
	case n == nil: // a constant
		return 0, false
	case kind != fragment.KindPerson && n.names == nil:
		return 0, false
	case kind != fragment.KindPerson:
		return n.names.ID(kind, name)
	}
	key := Folded(name)
	if key == "" {
		return 0, false
	}
	if n.find != nil && n.title.id > 0 {
		if id, ok := n.find.Person(n.title.kind, n.title.id, key); ok {
			return id, true
		}
	}
	return n.mintNamed(fragment.KindPerson, name), true
}

// mintNamed mints an ID from a name, and adds a record for it to the row.
func (n *identifier) mintNamed(kind fragment.Kind, name string) int64 {
	id, hash := mintID(kind, []string{Folded(name)})
	if !slices.ContainsFunc(n.named, func(one named) bool { return one.kind == kind && one.id == id }) {
		n.named = append(n.named, named{kind, id, strings.TrimSpace(name), hash})
	}
	return id
}

// A named resource has an ID minted from its name.
type named struct {
	kind fragment.Kind
	id   int64
	name string
	mint uint64
}

// row returns the row of the resource's record.
func (n *named) row() Row {
	return Row{JSON: resource(n.id, n.name).object, Type: catalog.TypeOf(n.kind)}
}

// A titleID identifies a title.
type titleID struct {
	kind fragment.Kind
	id   int64
}

// titleOf sets the title in whose credits people are looked up: the record itself, or another title of the row.
func (n *identifier) titleOf(kind fragment.Kind, id int64) {
	n.title = titleID{kind, id}
	for _, k := range []fragment.Kind{fragment.KindMovie, fragment.KindTV} {
		if kind != fragment.KindMovie && kind != fragment.KindTV && n.made[k] != 0 {
			n.title = titleID{k, n.made[k]}
		}
	}
}

// Needs lists what must be read from all sources before the rows of a table.
type Needs struct {
	Kinds  KindSet // kinds whose IDs are looked up by external IDs
	Keyed  bool    // but some rows have IDs of their own, which others can find
	Mints  bool    // an ID that is not found is minted
	People bool    // the names in the credits of titles
	Names  bool    // the names of companies, networks and keywords
	Named  bool    // the table defines names that other tables look up
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

// AnyNeeds returns the needs of rows that any of the caller's mappings may read, as if all lacked IDs.
func (o *Options) AnyNeeds() (n Needs) {
	for _, m := range o.Mappings {
		for _, t := range m.tables {
			one := t.form().needs()
			n.Kinds |= one.Kinds
			n.People, n.Names, n.Named = n.People || one.People, n.Names || one.Names, n.Named || one.Named
		}
	}
	return n
}

func (f *form) needs() (n Needs) {
	for _, s := range f.shapes {
		if f := s.find; f != nil {
			if f.matches || f.mint != nil {
				n.Kinds |= Kinds(f.of)
			}
			n.Keyed = n.Keyed || f.keyed && (f.matches || f.mint != nil)
			n.Mints = n.Mints || f.mint != nil
			n.People = n.People || f.people
		}
		n.Named = n.Named || isNamed(s.typ.Kind)
		for _, e := range s.entries {
			for _, of := range e.names {
				n.Names = n.Names || isNamed(nameKinds[of])
			}
		}
	}
	return n
}

// isNamed reports whether resources of a kind are looked up by name: see NameIDs.
func isNamed(k fragment.Kind) bool {
	return k == fragment.KindCompany || k == fragment.KindNetwork || k == fragment.KindKeyword
}
