package imdb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"reelsplice/schemas/record"
)

// Names of the tables: of their files, without extensions.
const (
	titleBasics     = "title.basics"
	titleAkas       = "title.akas"
	titlePrincipals = "title.principals"
	titleCrew       = "title.crew"
	titleEpisode    = "title.episode"
	titleRatings    = "title.ratings"
	nameBasics      = "name.basics"
)

// A table is one of the published files.
type table struct {
	name    string
	columns []column // as published
	// add puts the row in j.cells, which was checked, into the sorters.
	add func(j *Joiner, at place) error
}

// A column is one of a table's.
type column struct {
	name  string
	check check // nil for any text
	lost  bool  // the API has no place for its values
}

// A check returns "" for a good cell, and otherwise a phrase for a good value and the bad one.
type check func(c cell) (want string, found cell)

// maxColumns is the most columns that a table has.
const maxColumns = 9

// Columns, by table.
const (
	basicsID, basicsType, basicsPrimary, basicsOriginal, basicsAdult, basicsStart, basicsEnd, basicsRuntime, basicsGenres = 0, 1, 2, 3, 4, 5, 6, 7, 8

	akasID, akasOrdering, akasTitle, akasRegion, akasLanguage, akasTypes, akasAttributes, akasOriginal = 0, 1, 2, 3, 4, 5, 6, 7

	principalsID, principalsOrdering, principalsName, principalsCategory, principalsJob, principalsCharacters = 0, 1, 2, 3, 4, 5

	crewID, crewDirectors, crewWriters = 0, 1, 2

	episodeID, episodeParent, episodeSeason, episodeNumber = 0, 1, 2, 3

	ratingsID, ratingsAverage, ratingsVotes = 0, 1, 2

	nameID, namePrimary, nameBirth, nameDeath, nameProfession, nameTitles = 0, 1, 2, 3, 4, 5
)

// tables are all of them. It is read only.
var tables = []*table{
	{
		name: titleBasics, add: addOf(rankBasics),
		columns: []column{
			{name: "tconst", check: id(titlePrefix)},
			{name: "titleType", check: needed("a type of title", nil)},
			{name: "primaryTitle"},
			{name: "originalTitle"},
			{name: "isAdult", check: integer(1)},
			{name: "startYear", check: integer(maxYear), lost: true},
			{name: "endYear", check: integer(maxYear), lost: true},
			{name: "runtimeMinutes", check: integer(maxMinutes)},
			{name: "genres"},
		},
	},
	{
		name: titleAkas, add: addOf(rankAkas),
		columns: []column{
			{name: "titleId", check: id(titlePrefix)},
			{name: "ordering", check: needed("an integer", integer(maxOrdering))},
			{name: "title"},
			{name: "region"},
			{name: "language", lost: true},
			{name: "types"},
			{name: "attributes"},
			{name: "isOriginalTitle", check: integer(1)},
		},
	},
	{
		name: titlePrincipals, add: addPrincipal,
		columns: []column{
			{name: "tconst", check: id(titlePrefix)},
			{name: "ordering", check: needed("an integer", integer(maxOrdering))},
			{name: "nconst", check: id(namePrefix)},
			{name: "category", check: needed("a category of credits", nil)},
			{name: "job"},
			{name: "characters", check: checkCharacters},
		},
	},
	{
		name: titleCrew, add: addCrew,
		columns: []column{
			{name: "tconst", check: id(titlePrefix)},
			{name: "directors", check: checkPeople},
			{name: "writers", check: checkPeople},
		},
	},
	{
		name: titleEpisode, add: addEpisode,
		columns: []column{
			{name: "tconst", check: id(titlePrefix)},
			{name: "parentTconst", check: id(titlePrefix)},
			{name: "seasonNumber", check: integer(math.MaxInt32)},
			{name: "episodeNumber", check: integer(math.MaxInt32)},
		},
	},
	{
		name: titleRatings, add: addOf(rankRatings),
		columns: []column{
			{name: "tconst", check: id(titlePrefix)},
			{name: "averageRating", check: checkAverage},
			{name: "numVotes", check: integer(math.MaxInt32)},
		},
	},
	{
		name: nameBasics, add: addName,
		columns: []column{
			{name: "nconst", check: id(namePrefix)},
			{name: "primaryName"},
			{name: "birthYear", check: integer(maxYear), lost: true},
			{name: "deathYear", check: integer(maxYear), lost: true},
			{name: "primaryProfession"},
			{name: "knownForTitles", lost: true},
		},
	},
}

// Tables returns the names of the tables, which are those of their files without
// extensions.
func Tables() []string {
	out := make([]string, len(tables))
	for i, t := range tables {
		out[i] = t.name
	}
	return out
}

// IsTable returns the table that a file holds: one with the name of a table, extensions
// taken off, whose rows have all columns of that table. row is a row as a JSON object.
func IsTable(base string, row []byte) (name string, ok bool) {
	t := tableNamed(base)
	if t == nil {
		return "", false
	}
	var have map[string]json.RawMessage
	if json.Unmarshal(row, &have) != nil {
		return "", false
	}
	for _, c := range t.columns {
		if _, ok := have[c.name]; !ok {
			return "", false
		}
	}
	return t.name, true
}

func tableNamed(name string) *table {
	for _, t := range tables {
		if t.name == name {
			return t
		}
	}
	return nil
}

// column returns the index of a column, -1 for none. next is where it is when rows have
// the columns in the published order.
func (t *table) column(name []byte, next int) int {
	if next < len(t.columns) && string(name) == t.columns[next].name {
		return next
	}
	for i, c := range t.columns {
		if string(name) == c.name {
			return i
		}
	}
	return -1
}

// json returns a row as an object of its columns.
func (t *table) json(cells []record.String) []byte {
	out := []byte("{")
	for i, c := range t.columns {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(record.AppendString(out, c.name), ':')
		if cells[i].Set {
			out = record.AppendString(out, cells[i].V)
		} else {
			out = append(out, "null"...)
		}
	}
	return append(out, '}')
}

// wrong is a bad cell.
func wrong(column, want string, found []byte) error {
	const most = 60
	if found == nil {
		return &record.FieldError{Field: column, What: fmt.Sprintf("want %s, found nothing", want)}
	}
	more := ""
	if len(found) > most {
		found, more = bytes.ToValidUTF8(found[:most], nil), "..."
	}
	return &record.FieldError{Field: column, What: fmt.Sprintf("want %s, found %q%s", want, found, more)}
}

// check returns the first bad cell of a row as an error.
func (t *table) check(cells []cell) error {
	for i := range t.columns {
		c := &t.columns[i]
		if c.check == nil {
			continue
		}
		if want, found := c.check(cells[i]); want != "" {
			return wrong(c.name, want, found)
		}
	}
	return nil
}

// Limits of numbers. A row beyond them has cells in the wrong columns.
const (
	maxYear     = 9999
	maxMinutes  = 10_000_000
	maxOrdering = math.MaxUint16
	maxRating   = 10
)

func id(prefix string) check {
	return func(c cell) (string, cell) {
		if _, ok := parseID(c, prefix); !ok {
			return "an id such as " + prefix + "0000001", c
		}
		return "", nil
	}
}

// integer checks an integer from 0 to most.
func integer(most int64) check {
	return func(c cell) (string, cell) {
		if n, ok := parseNumber(c); c != nil && (!ok || n > most) {
			return fmt.Sprintf("an integer from 0 to %d", most), c
		}
		return "", nil
	}
}

// needed checks a cell that must not be null, which others may be.
func needed(want string, more check) check {
	return func(c cell) (string, cell) {
		switch {
		case c == nil:
			return want, nil
		case more != nil:
			return more(c)
		}
		return "", nil
	}
}

// checkPeople checks a list of ids of people.
func checkPeople(c cell) (string, cell) {
	n := 0
	for id := range items(c) {
		if _, ok := parseID(id, namePrefix); !ok {
			return "ids such as nm0000001", id
		}
		n++
	}
	if n > maxOrdering {
		return fmt.Sprintf("at most %d ids", maxOrdering), cell(strconv.Itoa(n))
	}
	return "", nil
}

func checkCharacters(c cell) (string, cell) {
	if _, ok := parseCharacters(string(c)); !ok {
		return `a list such as ["Self"]`, c
	}
	return "", nil
}

func checkAverage(c cell) (string, cell) {
	// The negation is for NaN.
	if f, err := strconv.ParseFloat(string(c), 64); c != nil && (err != nil || !(f >= 0 && f <= maxRating)) {
		return "a number from 0 to 10", c
	}
	return "", nil
}
