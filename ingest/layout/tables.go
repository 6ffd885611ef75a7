package layout

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/wire"
)

// A mapping says what the rows of one table of a relational dump mean. A row makes a
// record by every mapping of its table that applies to it.
type mapping struct {
	file string // name of the table's file, without extensions
	kind fragment.Kind
	// list, in a table of links, is the list of the record that a row is one element of,
	// as in credits.cast; "" for tables of records.
	list string
	// part says that several rows make a record, also without a list.
	part bool
	// where limits the mapping to rows in which a column has a text; "" for all rows.
	where, is string
	columns   []column
}

// A column says which member a column is: a path with dots below the record or, where
// it starts with a dot, below the element of the list. "" stands for a column that the
// API has no place for.
type column struct{ name, member string }

// mappings are the tables that are known.
var mappings = []mapping{
	{
		file: "films", kind: fragment.KindMovie,
		columns: []column{
			{"id", "id"},
			{"title", "title"},
			{"vote_average", "vote_average"},
			{"genre_ids_json", "genre_ids"},
			{"release_year", ""}, // a year is no release_date
			{"vote_count", ""},   // 0 in every row
			{"director_id", ""},  // in the credits
			{"director_name", ""},
			{"combined_rating", ""},
			{"imdb_rating", ""},
			{"metacritic_score", ""},
			{"rotten_tomatoes_score", ""},
			{"prestige_score", ""},
		},
	},
	{
		file: "credits", kind: fragment.KindMovie, list: "credits.cast", where: "department", is: "Acting",
		columns: []column{
			{"movie_id", "id"},
			{"person_id", ".id"},
			{"name", ".name"},
			{"character", ".character"},
			{"cast_order", ".order"},
		},
	},
	{
		file: "credits", kind: fragment.KindMovie, list: "credits.crew",
		columns: []column{
			{"movie_id", "id"},
			{"person_id", ".id"},
			{"name", ".name"},
			{"department", ".department"},
			{"job", ".job"},
		},
	},
	{
		file: "credits", kind: fragment.KindPerson, part: true,
		columns: []column{{"person_id", "id"}, {"name", "name"}},
	},
	{
		file: "persons", kind: fragment.KindPerson, part: true, // a row for each trade of a person
		columns: []column{
			{"id", "id"},
			{"name", "name"},
			{"profile_path", "profile_path"},
			{"entity_type", ""}, // of the ranking, not of the person
			{"batting_average", ""},
			{"sort_score", ""},
			{"film_count", ""},
			{"percentile", ""},
			{"known_for_0", ""}, // a title without its id
		},
	},
}

// tablesOf returns the mappings of a table.
func tablesOf(file string) []mapping {
	var out []mapping
	for _, m := range mappings {
		if m.file == strings.ToLower(file) {
			out = append(out, m)
		}
	}
	return out
}

// hasColumns reports whether a row of a file has all columns, and no others, that the
// mappings of its table know.
func hasColumns(file string, row []byte) bool {
	var have map[string]json.RawMessage
	if json.Unmarshal(row, &have) != nil {
		return false
	}
	known := knownColumns(tablesOf(file))
	for name := range have {
		if !slices.Contains(known, name) {
			return false
		}
	}
	return len(have) == len(known)
}

// knownColumns returns the names of all columns that mappings speak of.
func knownColumns(all []mapping) []string {
	var out []string
	for i := range all {
		for _, name := range append([]string{all[i].where}, namesOf(all[i].columns)...) {
			if name != "" && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

func namesOf(columns []column) []string {
	out := make([]string, len(columns))
	for i := range columns {
		out[i] = columns[i].name
	}
	return out
}

// tables is the layout of relational dumps: a table of records each, and tables of
// links between them.
type tables struct {
	tmdb    *tmdb // what the mapped rows are rows of
	dropped map[string]int64
}

func newTables(language string) *tables {
	return &tables{tmdb: newTMDB(language), dropped: map[string]int64{}}
}

func (t *tables) Counts() wire.Counts { return t.tmdb.Counts() }

// Dropped has every column that no mapping has a member for, by table and name.
func (t *tables) Dropped() map[string]int64 { return t.dropped }

// Records returns the records that a row is part of.
func (t *tables) Records(r Row) ([]Record, error) {
	all := tablesOf(r.File)
	if len(all) == 0 {
		return nil, fmt.Errorf("layout %s: no table %q: want one of %s", Tables, r.File, strings.Join(TableNames(), ", "))
	}
	var row map[string]json.RawMessage
	if err := json.Unmarshal([]byte(r.JSON), &row); err != nil {
		return nil, fmt.Errorf("parse JSON: %w", err)
	}
	var out []Record
	done := map[fragment.Kind]bool{}
	for i := range all {
		m := &all[i]
		if done[m.kind] || !m.applies(row) {
			continue
		}
		done[m.kind] = true
		recs, err := t.tmdb.Records(Row{JSON: m.document(row), Type: catalog.TypeOf(m.kind), Table: true})
		if err != nil {
			return nil, err
		}
		recs[0].Part = m.part || m.list != ""
		out = append(out, recs[0])
	}
	t.count(all, row)
	return out, nil
}

// IsTable reports whether a file of that name, without extensions, is a table that
// layout tables knows.
func IsTable(file string) bool { return len(tablesOf(file)) > 0 }

// TableNames lists those names.
func TableNames() []string {
	var out []string
	for _, m := range mappings {
		if !slices.Contains(out, m.file) {
			out = append(out, m.file)
		}
	}
	return out
}

// count counts the values of columns that no mapping has a member for, and of columns
// that are not known.
func (t *tables) count(all []mapping, row map[string]json.RawMessage) {
	used := map[string]bool{}
	for i := range all {
		used[all[i].where] = true
		for _, c := range all[i].columns {
			used[c.name] = used[c.name] || c.member != ""
		}
	}
	for name, raw := range row {
		if !used[name] && string(raw) != "null" {
			wire.Count(t.dropped, all[0].file+"."+name, 1)
		}
	}
}

func (m *mapping) applies(row map[string]json.RawMessage) bool {
	if m.where == "" {
		return true
	}
	var s string
	return json.Unmarshal(row[m.where], &s) == nil && s == m.is
}

// document returns the record of a row as an object of the API's members.
func (m *mapping) document(row map[string]json.RawMessage) string {
	record, element := object{}, object{}
	for _, c := range m.columns {
		raw := row[c.name]
		if raw == nil || c.member == "" || string(raw) == "null" {
			continue
		}
		if path, ok := strings.CutPrefix(c.member, "."); ok {
			element.set(path, raw)
		} else {
			record.set(c.member, raw)
		}
	}
	if m.list != "" {
		record.set(m.list, []object{element})
	}
	b, _ := json.Marshal(record) // it holds what was parsed, and nothing else
	return string(b)
}

// An object is a JSON object being put together.
type object map[string]any

// set sets the member at a path with dots.
func (o object) set(path string, v any) {
	name, rest, nested := strings.Cut(path, ".")
	if !nested {
		o[name] = v
		return
	}
	sub, ok := o[name].(object)
	if !ok {
		sub = object{}
		o[name] = sub
	}
	sub.set(rest, v)
}
