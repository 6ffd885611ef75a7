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

// A finder finds IDs for the records of a shape whose rows have none.
type finder struct {
	key     string        // field to find: id, or series_id
	of      fragment.Kind // kind that the ID belongs to
	keyed   bool          // an entry provides the key, at least in some rows
	follows bool          // an earlier record of the row may have the ID
	matches bool          // external IDs are looked up
	mint    []mintPart
	columns []string // columns in mint that no entry reads
	people  bool     // entries look up people by name
}

// A mintPart is a field, or else a column, that an ID is minted from.
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
	f := &finder{key: "id", of: kind}
	if kind == fragment.KindSeason || kind == fragment.KindEpisode {
		f.key, f.of = "series_id", fragment.KindTV
	}
	if (r.Match || r.Mint != nil) && !slices.Contains(mintable, kind) {
		return fmt.Errorf("match, mint: %s records have no id that can be found or minted", s.typ.Name())
	}
	if r.Mint != nil {
		for _, name := range r.Mint {
			p := s.mintPart(name)
			if f.mint = append(f.mint, p); !p.ofDay && !s.hasField(p.name) {
				f.columns = append(f.columns, p.name)
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
		external = external || f.key == "id" && isExternal(e.path)
	}
	f.follows = !asked && slices.ContainsFunc(before, func(o *shape) bool { return o.typ != nil && o.typ.Kind == f.of && o.each == nil })
	// A mapping with a column for IDs must ask for lookups explicitly.
	finds := (external || f.follows || f.mint != nil) && (!f.keyed || asked) && slices.Contains(mintable, f.of)
	f.matches = finds && external && !f.follows
	if finds || f.people {
		s.find = f
	}
	for _, name := range s.typ.KeyFields() {
		has := func(e *entry) bool { return e.path == name || e.path == wholeRecord }
		switch {
		case slices.ContainsFunc(s.entries, has), name == f.key && finds, name == "guest_session_id": // an ID is enough
		case name == "id" && slices.Contains(mintable, kind):
			return fmt.Errorf("no column is the field id, by which %s records are known, or an external id such as imdb_id, and the record mints none", s.typ.Name())
		default:
			return fmt.Errorf("no column is the field %s, by which %s records are known", name, s.typ.Name())
		}
	}
	return nil
}

// mintPart returns a part of minted IDs. It replaces a column by the field made from it, so that the ID depends on the value and not
// on its spelling. A column called year that becomes a day stays the year: the ID must not depend on the name of the column.
func (s *shape) mintPart(name string) (p mintPart) {
	p.name, p.optional = strings.CutSuffix(name, "?")
	if s.hasField(p.name) {
		return p
	}
	if n := slices.IndexFunc(s.entries, func(e *entry) bool { return len(e.columns) == 1 && e.column == p.name }); n >= 0 {
		path := s.entries[n].path
		if p.ofDay = strings.EqualFold(p.name, yearPart) && slices.Contains(firstDays, path); p.ofDay {
			path = yearPart
		}
		p.name = path
	}
	return p
}

// hasField reports whether an entry is a field, or an external ID.
func (s *shape) hasField(name string) bool {
	return slices.ContainsFunc(s.entries, func(e *entry) bool { return shortPath(e.path) == shortPath(name) })
}

// shortPath returns a path without external_ids: the record itself may have an external ID, too.
func shortPath(path string) string { return strings.TrimPrefix(path, externalIDsField+".") }

// isExternal reports whether a field holds an external ID.
func isExternal(path string) bool { return slices.Contains(externalIDs, shortPath(path)) }

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

// identify returns the identity of a shape's record. It is empty if the parser of records has to report the missing key.
func (m *mapped) identify(s *shape) (identity, error) {
	f := s.find
	if text, err := m.text(s, f.key); text != "" || err != nil {
		id, _ := strconv.ParseInt(text, 10, 64) // the parser of records checks it
		return identity{id: id}, err
	}
	if id := m.ids.made[f.of]; f.follows && id != 0 {
		return identity{id: id, added: true}, nil
	}
	asked := ""
	if f.matches {
		var id int64
		var err error
		if id, asked, err = m.externalID(s); id != 0 || err != nil {
			return identity{id: id, added: true, found: tmdb.FoundMatch}, err
		}
	}
	switch {
	case len(f.mint) > 0:
		return m.mint(s, asked != "")
	case !f.matches:
		return identity{}, nil
	case asked == "":
		return identity{}, noID(m.row.named(s.columnOf(externalIDs...)), "want an id: the row has none, and no external id either", false)
	}
	return identity{}, noID(m.row.named(s.columnOf(asked)), "want an id: no other record has this external id, and the mapping mints none", true)
}

// externalID looks up the row's external IDs and returns the resource's ID, or 0. asked is the first of them, or "".
func (m *mapped) externalID(s *shape) (id int64, asked string, err error) {
	for _, source := range externalIDs {
		text, err := m.text(s, source)
		if err != nil {
			return 0, "", err
		}
		text, ok := CanonicalID(source, text)
		if !ok {
			continue
		}
		asked = cmp.Or(asked, source)
		if m.ids.find == nil {
			continue
		}
		if id, ok := m.ids.find.External(s.find.of, source, text); ok {
			return id, asked, nil
		}
	}
	return 0, asked, nil
}

func noID(column, why string, asked bool) error {
	return &NoIDError{&record.FieldError{Field: column, What: why}, asked}
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

// mint makes an ID from parts of a row. Equal parts always give the same ID. asked becomes NoIDError.Asked.
func (m *mapped) mint(s *shape, asked bool) (identity, error) {
	var parts []string
	for _, p := range s.find.mint {
		text, err := m.part(s, p)
		if err != nil {
			return identity{}, err
		}
		switch text = Folded(text); {
		case text != "":
			parts = append(parts, text)
		case !p.optional:
			return identity{}, noID(m.row.named(s.columnOf(p.name)), "want a value to mint an id from, found nothing", asked)
		}
	}
	id, hash := mintID(s.typ.Kind, parts)
	if m.ids.find != nil {
		if into, ok := m.ids.find.External(s.typ.Kind, MintedSource, strconv.FormatInt(id, 10)); ok {
			return identity{id: into, added: true, found: tmdb.FoundMatch}, nil
		}
	}
	return identity{id, true, tmdb.FoundMint, hash}, nil
}

// part returns a part of a minted ID: the text of a field, else of a column.
func (m *mapped) part(s *shape, p mintPart) (string, error) {
	text, err := m.text(s, p.name)
	if text == "" && err == nil && !p.ofDay {
		text = scalarText(m.row.cell(p.name))
	}
	for n := 0; p.name == yearPart && text == "" && err == nil && n < len(firstDays); n++ {
		text, err = m.text(s, firstDays[n])
		text = text[:min(len(text), len("2006"))]
	}
	return text, err
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

// columnOf returns the column of the first of some fields that has one, for messages.
func (s *shape) columnOf(fields ...string) string {
	for _, field := range fields {
		for _, e := range s.entries {
			if len(e.columns) > 0 && shortPath(e.path) == shortPath(field) {
				return e.column
			}
		}
	}
	if len(fields) > 1 {
		return ""
	}
	return fields[0]
}
