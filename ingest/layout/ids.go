package layout

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// IDs finds the IDs of resources whose rows lack one. It is safe for concurrent use, because the layouts of several workers
// share it.
type IDs interface {
	// External returns the ID of the resource with an external ID, which is in the form of CanonicalID. source is the field, such
	// as imdb_id.
	External(kind fragment.Kind, source, id string) (int64, bool)
	// Person returns the ID of the only person with a name, which is in the form of Folded, in the credits of a title.
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
	Asked bool // an external ID was looked up, which another source may have
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
	names     NameIDs                 // companies, networks and keywords; may be nil
	find      IDs                     // rows without an ID; may be nil
	recordIDs map[fragment.Kind]int64 // IDs of the row's records so far, by kind
	minted    []namedResource         // names with minted IDs in the row
	// The title in whose credits people are looked up.
	titleKind fragment.Kind
	titleID   int64
}

// begin resets n for a new row.
func (n *identifier) begin() {
	clear(n.recordIDs)
	n.minted = n.minted[:0]
}

// ID resolves a name. It looks up people in the credits of the current title, or else mints their ID. Other kinds use NameIDs.
func (n *identifier) ID(kind fragment.Kind, name string) (int64, bool) {
	switch {
	case n == nil: // when a constant is compiled
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
	if n.find != nil && n.titleID > 0 {
		if id, ok := n.find.Person(n.titleKind, n.titleID, key); ok {
			return id, true
		}
	}
	return n.mintNamed(fragment.KindPerson, name), true
}

// mintNamed mints an ID from a name, and adds a record for it to the row.
func (n *identifier) mintNamed(kind fragment.Kind, name string) int64 {
	id, hash := mintID(kind, []string{Folded(name)})
	if !slices.ContainsFunc(n.minted, func(other namedResource) bool { return other.kind == kind && other.id == id }) {
		n.minted = append(n.minted, namedResource{kind, id, strings.TrimSpace(name), hash})
	}
	return id
}

// A namedResource has an ID minted from its name.
type namedResource struct {
	kind fragment.Kind
	id   int64
	name string
	hash uint64
}

// setTitle sets the title in whose credits people are looked up: the record itself, or another title of the row.
func (n *identifier) setTitle(kind fragment.Kind, id int64) {
	n.titleKind, n.titleID = kind, id
	if kind == fragment.KindMovie || kind == fragment.KindTV {
		return
	}
	for _, title := range []fragment.Kind{fragment.KindMovie, fragment.KindTV} {
		if n.recordIDs[title] != 0 {
			n.titleKind, n.titleID = title, n.recordIDs[title]
		}
	}
}

// A finder finds IDs for the records of a shape whose rows have none.
type finder struct {
	key     string        // field to set: id or series_id
	kind    fragment.Kind // kind of the ID
	keyed   bool          // an entry provides the key, at least in some rows
	follows bool          // an earlier record of the row may have the ID
	matches bool          // external IDs are looked up
	mint    []mintPart
	columns []string // columns that only mint reads
	people  bool     // entries look up people by name
}

// A mintPart is a field, or else a column, from which an ID is minted.
type mintPart struct {
	name     string
	optional bool
	ofDay    bool // the name is "year", a column that becomes a day
}

// mintable lists the kinds whose IDs can be minted.
var mintable = []fragment.Kind{
	fragment.KindMovie, fragment.KindTV, fragment.KindPerson, fragment.KindCollection, fragment.KindCompany, fragment.KindNetwork, fragment.KindKeyword,
}

// findIDs sets how the records of a shape find their IDs. before holds the shapes of earlier records of the row.
func (s *shape) findIDs(r *recordSpec, before []*shape) error {
	kind := s.typ.Kind
	f := &finder{key: "id", kind: kind}
	if kind == fragment.KindSeason || kind == fragment.KindEpisode {
		f.key, f.kind = "series_id", fragment.KindTV
	}
	if (r.Match || r.Mint != nil) && !slices.Contains(mintable, kind) {
		return fmt.Errorf("match, mint: %s records have no id that can be found or minted", s.typ.Name())
	}
	if r.Mint != nil {
		for _, name := range r.Mint {
			var part mintPart
			part.name, part.optional = strings.CutSuffix(name, "?")
			isColumn := func(e *entry) bool { return len(e.columns) == 1 && e.column == part.name }
			// A field takes precedence over its column, so that the ID depends on the value and not on its spelling. If a column named
			// year becomes a day, the ID still depends on the year, whatever the name of the column.
			if i := slices.IndexFunc(s.entries, isColumn); i >= 0 && !s.hasField(part.name) {
				path := s.entries[i].path
				if part.ofDay = strings.EqualFold(part.name, yearPart) && slices.Contains(firstDays, path); part.ofDay {
					path = yearPart
				}
				part.name = path
			}
			if f.mint = append(f.mint, part); !part.ofDay && !s.hasField(part.name) {
				f.columns = append(f.columns, part.name)
			}
		}
		if !slices.ContainsFunc(f.mint, func(p mintPart) bool { return !p.optional }) || slices.ContainsFunc(f.mint, func(p mintPart) bool { return p.name == "" }) {
			return fmt.Errorf("mint: want names of fields or columns, one at least without ?, found %q", r.Mint)
		}
	}
	external, asked := false, r.Match || r.Mint != nil
	for _, e := range s.entries {
		f.keyed = f.keyed || e.path == f.key || e.path == wholeRecord
		f.people = f.people || slices.Contains(e.names, ofPerson)
		external = external || f.key == "id" && slices.Contains(externalIDs, shortPath(e.path))
	}
	f.follows = !asked && slices.ContainsFunc(before, func(o *shape) bool { return o.typ != nil && o.typ.Kind == f.kind && o.each == nil })
	// A mapping with a column for IDs must ask for lookups explicitly.
	finds := (external || f.follows || f.mint != nil) && (!f.keyed || asked) && slices.Contains(mintable, f.kind)
	f.matches = finds && external && !f.follows
	if finds || f.people {
		s.find = f
	}
	for _, name := range s.typ.KeyFields() {
		provides := func(e *entry) bool { return e.path == name || e.path == wholeRecord }
		switch {
		case slices.ContainsFunc(s.entries, provides), name == f.key && finds, name == "guest_session_id": // an ID is enough
		case name == "id" && slices.Contains(mintable, kind):
			return fmt.Errorf("no column maps to the id of %s records or to an external id such as imdb_id, and the record mints none", s.typ.Name())
		default:
			return fmt.Errorf("no column maps to the field %s, which identifies %s records", name, s.typ.Name())
		}
	}
	return nil
}

// hasField reports whether an entry is a field, or an external ID.
func (s *shape) hasField(name string) bool {
	return slices.ContainsFunc(s.entries, func(e *entry) bool { return shortPath(e.path) == shortPath(name) })
}

// shortPath returns a path without external_ids: the record itself may have an external ID, too.
func shortPath(path string) string { return strings.TrimPrefix(path, externalIDsField+".") }

// yearPart is a part of a minted ID that a release date can provide.
const yearPart = "year"

var firstDays = []string{"release_date", "first_air_date"}

// An identity is the ID of a record and its origin.
type identity struct {
	id    int64
	added bool // the row does not have the ID
	found tmdb.Found
	mint  uint64 // hash of the parts of a minted ID
}

// identify returns the identity of a shape's record. It is empty if the parser of records is to report the missing key.
func (m *mapped) identify(s *shape) (identity, error) {
	f := s.find
	if text, err := m.text(s, f.key); text != "" || err != nil {
		id, _ := strconv.ParseInt(text, 10, 64) // the parser of records checks it
		return identity{id: id}, err
	}
	if id := m.ids.recordIDs[f.kind]; f.follows && id != 0 {
		return identity{id: id, added: true}, nil
	}
	asked := "" // source of the row's first external ID
	for _, source := range externalIDs {
		if !f.matches {
			break
		}
		text, err := m.text(s, source)
		if err != nil {
			return identity{}, err
		}
		text, ok := CanonicalID(source, text)
		if !ok {
			continue
		}
		asked = cmp.Or(asked, source)
		if m.ids.find == nil {
			continue
		}
		if id, ok := m.ids.find.External(f.kind, source, text); ok {
			return identity{id: id, added: true, found: tmdb.FoundMatch}, nil
		}
	}
	switch {
	case len(f.mint) > 0:
		return m.mint(s, asked != "")
	case !f.matches:
		return identity{}, nil
	case asked == "":
		return identity{}, m.noID(s, "want an id: the row has none, and no external id either", false, externalIDs...)
	}
	return identity{}, m.noID(s, "want an id: no other record has this external id, and the mapping mints none", true, asked)
}

// noID returns a *NoIDError, which names the column of the first of the fields that has one.
func (m *mapped) noID(s *shape, why string, asked bool, fields ...string) error {
	column := ""
	if len(fields) == 1 {
		column = fields[0]
	}
	for _, field := range slices.Backward(fields) {
		if i := slices.IndexFunc(s.entries, func(e *entry) bool { return len(e.columns) > 0 && shortPath(e.path) == shortPath(field) }); i >= 0 {
			column = s.entries[i].column
		}
	}
	return &NoIDError{&record.FieldError{Field: m.row.pathOf(column), What: why}, asked}
}

// text returns the text of a field, or of an external ID, in the row.
func (m *mapped) text(s *shape, field string) (string, error) {
	field = shortPath(field)
	for _, e := range s.entries {
		whole := e.path == wholeRecord
		if !whole && shortPath(e.path) != field {
			continue
		}
		raw, err := m.entry(e)
		if err != nil {
			return "", err
		}
		text := string(raw)
		if whole {
			all, err := record.Fields("{" + text + "}")
			if err != nil {
				return "", err
			}
			if text = all.Value(field); text == "" {
				if sub, err := record.Fields(all.Value(externalIDsField)); err == nil { // else the parser of records reports it
					text = sub.Value(field)
				}
			}
		}
		if text = scalarText(text); text != "" {
			return text, nil
		}
	}
	return "", nil
}

// scalarText returns the text of one value. Whole numbers have no fraction.
func scalarText(raw string) string {
	switch {
	case raw == "" || raw == "null" || raw[0] == '{' || raw[0] == '[':
		return ""
	case raw[0] == '"':
		raw = record.Unquote(raw)
	}
	if n, err := (numberReader{}).integer(raw); err == nil {
		return strconv.FormatInt(n, 10)
	}
	return raw
}

// mint makes an ID from parts of a row. Equal parts always have the same ID. asked is for NoIDError.
func (m *mapped) mint(s *shape, asked bool) (identity, error) {
	var parts []string
	for _, p := range s.find.mint {
		text, err := m.text(s, p.name)
		if text == "" && err == nil && !p.ofDay {
			text = scalarText(m.row.cell(p.name))
		}
		for n := 0; p.name == yearPart && text == "" && err == nil && n < len(firstDays); n++ {
			text, err = m.text(s, firstDays[n])
			text = text[:min(len(text), len("2006"))]
		}
		if err != nil {
			return identity{}, err
		}
		switch text = Folded(text); {
		case text != "":
			parts = append(parts, text)
		case !p.optional:
			return identity{}, m.noID(s, "want a value to mint an id from, found nothing", asked, p.name)
		}
	}
	id, hash := mintID(s.typ.Kind, parts)
	if m.ids.find != nil {
		if merged, ok := m.ids.find.External(s.typ.Kind, MintedSource, strconv.FormatInt(id, 10)); ok {
			return identity{id: merged, added: true, found: tmdb.FoundMatch}, nil
		}
	}
	return identity{id, true, tmdb.FoundMint, hash}, nil
}

// Folded normalises case and blanks.
func Folded(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// mintID returns the ID of parts, and their hash, which is not 0.
func mintID(kind fragment.Kind, parts []string) (id int64, hash uint64) {
	b := []byte{byte(kind)}
	for _, p := range parts {
		b = append(binary.AppendUvarint(b, uint64(len(p))), p...)
	}
	hash = max(xxh3.Hash(b), 1)
	return FirstMinted + int64(hash%(LastMinted-FirstMinted+1)), hash
}

// Needs lists what must be read from all sources before the rows of a table.
type Needs struct {
	Kinds  KindSet // kinds whose IDs are looked up by external IDs
	Keyed  bool    // some rows have their own IDs, which other rows can find
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
			needs := t.form().needs()
			n.Kinds |= needs.Kinds
			n.People, n.Names, n.Named = n.People || needs.People, n.Names || needs.Names, n.Named || needs.Named
		}
	}
	return n
}

func (f *form) needs() (n Needs) {
	for _, s := range f.shapes {
		if f := s.find; f != nil {
			if f.matches || f.mint != nil {
				n.Kinds |= Kinds(f.kind)
			}
			n.Keyed = n.Keyed || f.keyed && (f.matches || f.mint != nil)
			n.Mints = n.Mints || f.mint != nil
			n.People = n.People || f.people
		}
		n.Named = n.Named || hasNameIDs(s.typ.Kind)
		for _, e := range s.entries {
			for _, kind := range e.names {
				n.Names = n.Names || hasNameIDs(nameKinds[kind])
			}
		}
	}
	return n
}

// hasNameIDs reports whether resources of a kind are looked up by name: see NameIDs.
func hasNameIDs(k fragment.Kind) bool {
	return k == fragment.KindCompany || k == fragment.KindNetwork || k == fragment.KindKeyword
}
