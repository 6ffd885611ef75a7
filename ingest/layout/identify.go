package layout

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"reelsplice/ingest/layout/tmdb"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
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

// A NoIDError says that a row has no id and that none was found.
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

// A finder says how the records of a shape get an id that their rows do not have.
type finder struct {
	key     string        // field that is found: id, or series_id
	of      fragment.Kind // of what has that id
	keyed   bool          // an entry gives it, in some rows at least
	follows bool          // an earlier record of the row may tell it
	matches bool          // it is found by external ids
	mint    []string      // fields or columns that it is made of
	root    *output       // the entries that are looked at
	people  bool          // entries look for people by their names
}

// mintable are the kinds whose ids can be minted.
var mintable = []fragment.Kind{
	fragment.KindMovie, fragment.KindTV, fragment.KindPerson, fragment.KindCollection, fragment.KindCompany, fragment.KindNetwork, fragment.KindKeyword,
}

// findIDs sets how the records of a shape find their ids. before are the shapes of the
// records that the row makes before.
func (s *shape) findIDs(at place, r *recordSpec, before []*shape) error {
	kind := s.typ.Kind
	f := &finder{key: "id", of: kind, root: &output{entry: -1}}
	if kind == fragment.KindSeason || kind == fragment.KindEpisode {
		f.key, f.of = "series_id", fragment.KindTV
	}
	if r.ID != nil && !slices.Contains(mintable, kind) {
		return fmt.Errorf("id: %s records have none that can be found or minted", at.typ.Name())
	}
	if r.ID != nil {
		if mint := r.ID.Mint; mint != nil && len(mint) == 0 || slices.Contains(mint, "") {
			return fmt.Errorf("id: mint: want names of fields or columns, found %q", mint)
		}
		f.mint = s.mintedOf(r.ID.Mint)
	}
	external := false
	for i, e := range s.entries {
		f.keyed = f.keyed || e.path == f.key || e.path == "*"
		f.people = f.people || e.Of == ofPerson
		if e.field == nil || !f.looksAt(e.path) {
			continue
		}
		external = external || f.key == "id" && isExternal(e.path)
		if err := f.root.add(strings.Split(e.path, "."), i); err != nil {
			return err
		}
	}
	f.follows = r.ID == nil && slices.ContainsFunc(before, func(o *shape) bool { return o.typ != nil && o.typ.Kind == f.of && o.each == nil })
	// Whoever has a column for ids asks for what to do without one.
	finds := (external || f.follows || f.mint != nil) && (!f.keyed || r.ID != nil) && slices.Contains(mintable, f.of)
	f.matches = finds && external && !f.follows
	if finds || f.people {
		s.find = f
	}
	for _, name := range keyFields(kind) {
		has := func(e *entry) bool { return e.path == name || e.path == "*" }
		switch {
		case slices.ContainsFunc(s.entries, has), name == f.key && finds:
		case name == "id" && slices.Contains(mintable, kind):
			return fmt.Errorf("no column is the field id, by which %s records are known, or an external id such as imdb_id, and the record mints none", at.typ.Name())
		default:
			return fmt.Errorf("no column is the field %s, by which %s records are known", name, at.typ.Name())
		}
	}
	return nil
}

// mintedOf returns the parts of minted ids: a column that is a field becomes that, so
// that what is read of the cell counts.
func (s *shape) mintedOf(names []string) []string {
	out := slices.Clone(names)
	for i, name := range names {
		is := func(e *entry) bool { return e.path == name || e.path == externalIDsField+"."+name }
		if slices.ContainsFunc(s.entries, is) {
			continue
		}
		if n := slices.IndexFunc(s.entries, func(e *entry) bool { return e.column == name && e.inside == nil }); n >= 0 {
			out[i] = s.entries[n].path
		}
	}
	return out
}

// isExternal reports whether a path is that of an external id.
func isExternal(path string) bool {
	return slices.Contains(externalIDs, strings.TrimPrefix(path, externalIDsField+"."))
}

// looksAt reports whether an id is found by what an entry gives.
func (f *finder) looksAt(path string) bool {
	if path == f.key || path == "*" || isExternal(path) {
		return true
	}
	return slices.Contains(f.mint, path) || slices.Contains(f.mint, yearPart) && slices.Contains(firstDays, path)
}

// yearPart is the part of a minted id that is also found in a field that is a day.
const yearPart = "year"

var firstDays = []string{"release_date", "first_air_date"}

// An identity is what a record is known by.
type identity struct {
	id    int64
	added bool // the row does not have it
	found tmdb.Found
	mint  uint64 // hash of what a minted id is made of
}

// identify returns the identity of the record that the row makes of a shape; none where
// the parser of records is to say what is missing.
func (m *mapped) identify(s *boundShape) (identity, error) {
	f := s.find
	m.kept, m.out, m.looking = m.kept[:0], append(m.out[:0], '{'), true
	_, err := m.fields(s, f.root, m.cells)
	if m.looking = false; err != nil {
		return identity{}, err
	}
	all, err := record.Fields(string(append(m.out, '}')))
	if err != nil {
		return identity{}, err
	}
	if raw := scalarText(all.TakeValue(f.key)); raw != "" {
		id, _ := strconv.ParseInt(raw, 10, 64) // the parser of records judges it
		return identity{id: id}, nil
	}
	if id := m.made[f.of]; f.follows && id != 0 {
		return identity{id: id, added: true}, nil
	}
	asked := ""
	if f.matches {
		var id int64
		if id, asked = m.externalID(f.of, all); id != 0 {
			return identity{id: id, added: true, found: tmdb.FoundMatch}, nil
		}
	}
	switch {
	case len(f.mint) > 0:
		return m.mint(s, all, asked != "")
	case !f.matches:
		return identity{}, nil
	case asked == "":
		return identity{}, noID(s.columnOf(""), "want an id: the row has none, and no external id either", false)
	}
	return identity{}, noID(s.columnOf(asked), "want an id: no other record has this external id, and the mapping mints none", true)
}

func noID(column, why string, asked bool) error {
	return &NoIDError{&record.FieldError{Field: column, What: why}, asked}
}

// externalID returns the id of the resource that has one of the external ids among the
// fields of a record, 0 where none has. asked is the first of these, "" where there is none.
func (m *mapped) externalID(kind fragment.Kind, all record.RawFields) (id int64, asked string) {
	for _, source := range externalIDs {
		text, ok := CanonicalID(source, fieldText(all, source))
		if !ok {
			continue
		}
		if asked == "" {
			asked = source
		}
		if m.find == nil {
			continue
		}
		if id, ok := m.find.External(kind, source, text); ok {
			return id, asked
		}
	}
	return 0, asked
}

// fieldText returns the text of a field, or of one of the external ids.
func fieldText(all record.RawFields, name string) string {
	if raw := all.Value(name); raw != "" {
		return scalarText(raw)
	}
	raw, err := inside(all.Value(externalIDsField), []string{strings.TrimPrefix(name, externalIDsField+".")})
	if err != nil {
		return ""
	}
	return scalarText(raw)
}

// scalarText returns the text of one value, integers without a fraction.
func scalarText(raw string) string {
	switch {
	case raw == "" || raw == "null" || raw[0] == '{' || raw[0] == '[':
		return ""
	case raw[0] == '"':
		raw = record.Unquote(raw)
	}
	if n, err := appendInt(nil, raw); err == nil {
		return string(n)
	}
	return raw
}

// mint makes an id of parts of a row. It is the same wherever and whenever the parts are.
// asked is that of NoIDError.
func (m *mapped) mint(s *boundShape, all record.RawFields, asked bool) (identity, error) {
	parts := make([]string, len(s.find.mint))
	for i, name := range s.find.mint {
		text := fieldText(all, name)
		if c := s.mint[i]; text == "" && c >= 0 {
			text = scalarText(m.cells[c])
		}
		if name == yearPart && text == "" {
			for _, day := range firstDays {
				if d := fieldText(all, day); len(d) >= len("2006") && text == "" {
					text = d[:len("2006")]
				}
			}
		}
		if parts[i] = Folded(text); parts[i] == "" {
			return identity{}, noID(s.columnOf(name), "want a value that an id can be minted of, found nothing", asked)
		}
	}
	id, hash := mintID(s.typ.Kind, parts)
	if m.find != nil {
		if into, ok := m.find.External(s.typ.Kind, MintedSource, strconv.FormatInt(id, 10)); ok {
			return identity{id: into, added: true, found: tmdb.FoundMatch}, nil
		}
	}
	return identity{id, true, tmdb.FoundMint, hash}, nil
}

// Folded returns a text without what sources write in different ways: case and blanks.
func Folded(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// mintID returns the id that is made of parts, and their hash, which is not 0.
func mintID(kind fragment.Kind, parts []string) (id int64, hash uint64) {
	b := []byte{byte(kind)}
	for _, p := range parts {
		b = append(binary.AppendUvarint(b, uint64(len(p))), p...)
	}
	hash = max(xxh3.Hash(b), 1)
	return FirstMinted + int64(hash%(LastMinted-FirstMinted+1)), hash
}

// columnOf returns the column of a field, for messages.
func (s *boundShape) columnOf(field string) string {
	for _, e := range s.entries {
		if e.column != "" && (e.path == field || field != "" && e.path == externalIDsField+"."+field || field == "" && isExternal(e.path)) {
			return e.column
		}
	}
	return field
}

// ID finds people by their names, for convert: in the title of the record at hand, else
// by a minted id. Other names are those of NameIDs.
func (m *mapped) ID(kind fragment.Kind, name string) (int64, bool) {
	if kind != fragment.KindPerson {
		if m.ids == nil {
			return 0, false
		}
		return m.ids.ID(kind, name)
	}
	key := Folded(name)
	if key == "" {
		return 0, false
	}
	if m.find != nil && m.title.id > 0 {
		if id, ok := m.find.Person(m.title.kind, m.title.id, key); ok {
			return id, true
		}
	}
	return m.mintNamed(fragment.KindPerson, name), true
}

// mintNamed mints an id of a name, and notes that the row makes a record of it.
func (m *mapped) mintNamed(kind fragment.Kind, name string) int64 {
	id, hash := mintID(kind, []string{Folded(name)})
	if !slices.ContainsFunc(m.named, func(n named) bool { return n.kind == kind && n.id == id }) {
		m.named = append(m.named, named{kind, id, strings.TrimSpace(name), hash})
	}
	return id
}

var (
	_ NameIDs = (*mapped)(nil)
	_ minter  = (*mapped)(nil)
)

// A named resource is one whose id was minted of its name.
type named struct {
	kind fragment.Kind
	id   int64
	name string
	mint uint64
}

// A titleID is the title of a record.
type titleID struct {
	kind fragment.Kind
	id   int64
}

// titleOf sets the title whose credits tell people by their names: that of the record,
// or another of the row.
func (m *mapped) titleOf(kind fragment.Kind, id int64) {
	m.title = titleID{kind, id}
	for _, k := range []fragment.Kind{fragment.KindMovie, fragment.KindTV} {
		if kind != fragment.KindMovie && kind != fragment.KindTV && m.made[k] != 0 {
			m.title = titleID{k, m.made[k]}
		}
	}
}

// namedRecords returns records of what had its id minted of a name for the row.
func (m *mapped) namedRecords() ([]Record, error) {
	var out []Record
	for _, p := range m.named {
		rec, err := m.tmdb.Records(Row{JSON: string(appendIDName(nil, p.id, p.name)), Type: catalog.TypeOf(p.kind)})
		if err != nil {
			return nil, err
		}
		rec[0].Part, rec[0].Mint = true, p.mint
		out = append(out, rec...)
	}
	return out, nil
}

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
