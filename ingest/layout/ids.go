package layout

import (
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// IDs finds the ids of resources whose rows do not have one. Layouts of several workers
// may share one, so it is safe for concurrent use.
type IDs interface {
	// External returns the id of the resource of a kind that has an external id, in the
	// form of CanonicalID. source is the name of its field, such as imdb_id.
	External(kind fragment.Kind, source, id string) (int64, bool)
	// Person returns the id of the one person of a name, in the form of Folded, in the
	// credits of a title.
	Person(kind fragment.Kind, title int64, name string) (int64, bool)
}

// Minted ids have nine digits. TMDB's are far below, those of layout imdb above, and all
// fit the 32 bits that clients keep ids in.
const (
	FirstMinted = 100_000_000
	LastMinted  = 999_999_999
)

// IsMinted reports whether an id is in the range of minted ones.
func IsMinted(id int64) bool { return id >= FirstMinted && id <= LastMinted }

// A NoIDError is the error of a row without an id for which none was found.
type NoIDError struct {
	Field *record.FieldError
	Asked bool // an external id was looked up: other sources may have it
}

func (e *NoIDError) Error() string { return e.Field.Error() }

// Unwrap returns the error about the field.
func (e *NoIDError) Unwrap() error { return e.Field }

// externalIDs are the fields that hold a resource's ids elsewhere, the most trusted
// first. Pages of social media are not among them: titles share those.
var externalIDs = []string{"imdb_id", "wikidata_id", "tvdb_id", "freebase_mid", "freebase_id", "tvrage_id"}

// MintedSource is the source of minted ids that were merged into others, for IDs.External.
const MintedSource = "minted"

const externalIDsField = "external_ids"

// CanonicalID returns the one form of an external id; false for a text that is none.
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

// ExternalIDs calls fn with the external ids of a record, in the form of CanonicalID.
func ExternalIDs(r record.Record, fn func(source, id string)) {
	of := func(r record.Record) {
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
	}
	of(r)
	if f, ok := r.Schema.Field(externalIDsField); ok && f.Shape == record.ShapeObject {
		if sub, ok := r.Sub(f); ok {
			of(sub)
		}
	}
}

// An identifier finds the ids of records and of the names in them.
type identifier struct {
	names NameIDs                 // of companies, networks and keywords; may be nil
	find  IDs                     // of rows that do not have one; may be nil
	made  map[fragment.Kind]int64 // ids of the records that the row made, by kind
	title titleID                 // whose credits identify people by their names
	named []named                 // what the row names, with minted ids
}

// begin forgets the row before.
func (n *identifier) begin() {
	clear(n.made)
	n.named = n.named[:0]
}

// ID finds people by their names, for convert: in the title of the record at hand, else
// by a minted id. Other names are those of NameIDs.
func (n *identifier) ID(kind fragment.Kind, name string) (int64, bool) {
	if kind != fragment.KindPerson {
		if n.names == nil {
			return 0, false
		}
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

// mintNamed mints an id of a name, and notes that the row makes a record of it.
func (n *identifier) mintNamed(kind fragment.Kind, name string) int64 {
	id, hash := mintID(kind, []string{Folded(name)})
	if !slices.ContainsFunc(n.named, func(one named) bool { return one.kind == kind && one.id == id }) {
		n.named = append(n.named, named{kind, id, strings.TrimSpace(name), hash})
	}
	return id
}

// A named resource is one whose id was minted of its name.
type named struct {
	kind fragment.Kind
	id   int64
	name string
	mint uint64
}

// row returns the row that makes its record.
func (n *named) row() Row {
	return Row{JSON: string(appendIDName(nil, n.id, n.name)), Type: catalog.TypeOf(n.kind)}
}

// A titleID is the title of a record.
type titleID struct {
	kind fragment.Kind
	id   int64
}

// titleOf sets the title whose credits identify people by their names: that of the record,
// or another of the row.
func (n *identifier) titleOf(kind fragment.Kind, id int64) {
	n.title = titleID{kind, id}
	for _, k := range []fragment.Kind{fragment.KindMovie, fragment.KindTV} {
		if kind != fragment.KindMovie && kind != fragment.KindTV && n.made[k] != 0 {
			n.title = titleID{k, n.made[k]}
		}
	}
}

// Needs is the facts that must be read before the rows of a table get their meaning.
type Needs struct {
	Kinds  KindSet // whose ids are found by the external ids of other records; none for no ids
	Keyed  bool    // though some rows have ids of their own, which others can find
	Mints  bool    // where they are found nowhere
	People bool    // the names in the credits of titles
	Names  bool    // the names of companies, networks and keywords
	Named  bool    // nothing: it has records of companies, networks or keywords, which others name
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

// AnyNeeds returns the needs of all tables of the caller's own mappings.
func (o *Options) AnyNeeds() (n Needs) {
	for _, m := range o.Mappings {
		for _, t := range m.tables {
			one := t.form().needs()
			n = Needs{
				n.Kinds | one.Kinds, n.Keyed && one.Keyed, n.Mints && one.Mints, n.People || one.People,
				n.Names || one.Names, n.Named || one.Named,
			}
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

// isNamed reports whether resources of a kind are known by their names: see NameIDs.
func isNamed(k fragment.Kind) bool {
	return k == fragment.KindCompany || k == fragment.KindNetwork || k == fragment.KindKeyword
}
