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
	columns []string // as published
	// lost marks the columns without a place in the API.
	lost  []bool
	check func(cells []cell) error
	// add puts the row in j.cells, which was checked, into the sorters.
	add func(j *Joiner, at place) error
}

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
		name:    titleBasics,
		columns: []string{"tconst", "titleType", "primaryTitle", "originalTitle", "isAdult", "startYear", "endYear", "runtimeMinutes", "genres"},
		lost:    []bool{basicsStart: true, basicsEnd: true},
		check:   checkBasics, add: addOf(rankBasics),
	},
	{
		name:    titleAkas,
		columns: []string{"titleId", "ordering", "title", "region", "language", "types", "attributes", "isOriginalTitle"},
		lost:    []bool{akasLanguage: true},
		check:   checkAkas, add: addOf(rankAkas),
	},
	{
		name:    titlePrincipals,
		columns: []string{"tconst", "ordering", "nconst", "category", "job", "characters"},
		check:   checkPrincipals, add: addPrincipal,
	},
	{
		name:    titleCrew,
		columns: []string{"tconst", "directors", "writers"},
		check:   checkCrew, add: addCrew,
	},
	{
		name:    titleEpisode,
		columns: []string{"tconst", "parentTconst", "seasonNumber", "episodeNumber"},
		check:   checkEpisode, add: addEpisode,
	},
	{
		name:    titleRatings,
		columns: []string{"tconst", "averageRating", "numVotes"},
		check:   checkRatings, add: addOf(rankRatings),
	},
	{
		name:    nameBasics,
		columns: []string{"nconst", "primaryName", "birthYear", "deathYear", "primaryProfession", "knownForTitles"},
		lost:    []bool{nameBirth: true, nameDeath: true, nameTitles: true},
		check:   checkName, add: addName,
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
		if _, ok := have[c]; !ok {
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
	if next < len(t.columns) && string(name) == t.columns[next] {
		return next
	}
	for i, c := range t.columns {
		if string(name) == c {
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
		out = append(record.AppendString(out, c), ':')
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

// A checker checks cells and keeps the first error.
type checker struct {
	cells []cell
	err   error
}

func (c *checker) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *checker) id(i int, column, prefix string) {
	if _, ok := parseID(c.cells[i], prefix); !ok {
		c.fail(wrong(column, "an id such as "+prefix+"0000001", c.cells[i]))
	}
}

// ids checks a list of ids of people.
func (c *checker) ids(i int, column string) {
	n := 0
	for id := range items(c.cells[i]) {
		if _, ok := parseID(id, namePrefix); !ok {
			c.fail(wrong(column, "ids such as nm0000001", id))
			return
		}
		n++
	}
	if n > maxOrdering {
		c.fail(wrong(column, fmt.Sprintf("at most %d ids", maxOrdering), []byte(strconv.Itoa(n))))
	}
}

// number checks an integer from 0 to most.
func (c *checker) number(i int, column string, most int64) {
	if c.cells[i] == nil {
		return
	}
	if n, ok := parseNumber(c.cells[i]); !ok || n > most {
		c.fail(wrong(column, fmt.Sprintf("an integer from 0 to %d", most), c.cells[i]))
	}
}

func (c *checker) needed(i int, column, what string) {
	if c.cells[i] == nil {
		c.fail(wrong(column, what, nil))
	}
}

// Limits of numbers. A row beyond them has cells in the wrong columns.
const (
	maxYear     = 9999
	maxMinutes  = 10_000_000
	maxOrdering = math.MaxUint16
	maxRating   = 10
)

func checkBasics(cells []cell) error {
	c := checker{cells: cells}
	c.id(basicsID, "tconst", titlePrefix)
	c.needed(basicsType, "titleType", "a type of title")
	c.number(basicsAdult, "isAdult", 1)
	c.number(basicsStart, "startYear", maxYear)
	c.number(basicsEnd, "endYear", maxYear)
	c.number(basicsRuntime, "runtimeMinutes", maxMinutes)
	return c.err
}

func checkAkas(cells []cell) error {
	c := checker{cells: cells}
	c.id(akasID, "titleId", titlePrefix)
	c.needed(akasOrdering, "ordering", "an integer")
	c.number(akasOrdering, "ordering", maxOrdering)
	c.number(akasOriginal, "isOriginalTitle", 1)
	return c.err
}

func checkPrincipals(cells []cell) error {
	c := checker{cells: cells}
	c.id(principalsID, "tconst", titlePrefix)
	c.needed(principalsOrdering, "ordering", "an integer")
	c.number(principalsOrdering, "ordering", maxOrdering)
	c.id(principalsName, "nconst", namePrefix)
	c.needed(principalsCategory, "category", "a category of credits")
	if _, ok := parseCharacters(string(cells[principalsCharacters])); !ok {
		c.fail(wrong("characters", `a list such as ["Self"]`, cells[principalsCharacters]))
	}
	return c.err
}

func checkCrew(cells []cell) error {
	c := checker{cells: cells}
	c.id(crewID, "tconst", titlePrefix)
	c.ids(crewDirectors, "directors")
	c.ids(crewWriters, "writers")
	return c.err
}

func checkEpisode(cells []cell) error {
	c := checker{cells: cells}
	c.id(episodeID, "tconst", titlePrefix)
	c.id(episodeParent, "parentTconst", titlePrefix)
	c.number(episodeSeason, "seasonNumber", math.MaxInt32)
	c.number(episodeNumber, "episodeNumber", math.MaxInt32)
	return c.err
}

func checkRatings(cells []cell) error {
	c := checker{cells: cells}
	c.id(ratingsID, "tconst", titlePrefix)
	if average := cells[ratingsAverage]; average != nil {
		// The negation is for NaN.
		if f, err := strconv.ParseFloat(string(average), 64); err != nil || !(f >= 0 && f <= maxRating) {
			c.fail(wrong("averageRating", "a number from 0 to 10", average))
		}
	}
	c.number(ratingsVotes, "numVotes", math.MaxInt32)
	return c.err
}

func checkName(cells []cell) error {
	c := checker{cells: cells}
	c.id(nameID, "nconst", namePrefix)
	c.number(nameBirth, "birthYear", maxYear)
	c.number(nameDeath, "deathYear", maxYear)
	return c.err
}
