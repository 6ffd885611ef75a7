package imdb

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// Names of the tables, which are their files' names without extensions.
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
	columns []column // in the published order
	// add adds the checked row in j.cells to the sorters.
	add func(j *Joiner, t *table, from place) error
}

// A column is a column of a table.
type column struct {
	name  string
	check check // nil for any text
	// required rejects the row if the cell is bad.
	required  bool
	repair    func(c string) string // repairs a bad cell; nil empties it
	droppedAs string                // path that counts its values if the API has no field for them; else ""
}

// A check returns "" for a good cell, which may be empty. Otherwise it returns a description of a good value, and the bad
// value.
type check func(c string) (want, found string)

// maxColumns is the largest number of columns of a table.
const maxColumns = 9

// Indices of columns, by table.
const (
	basicsID, basicsType, basicsPrimary, basicsOriginal, basicsAdult, basicsStart, basicsEnd, basicsRuntime, basicsGenres = 0, 1, 2, 3, 4, 5, 6, 7, 8

	akasID, akasOrdering, akasTitle, akasRegion, akasLanguage, akasTypes, akasAttributes, akasOriginal = 0, 1, 2, 3, 4, 5, 6, 7

	principalsID, principalsOrdering, principalsName, principalsCategory, principalsJob, principalsCharacters = 0, 1, 2, 3, 4, 5

	crewID, crewDirectors, crewWriters = 0, 1, 2

	episodeID, episodeParent, episodeSeason, episodeNumber = 0, 1, 2, 3

	ratingsID, ratingsAverage, ratingsVotes = 0, 1, 2

	nameID, namePrimary, nameBirth, nameDeath, nameProfession, nameTitles = 0, 1, 2, 3, 4, 5
)

// tables lists all tables. It is read-only.
var tables = []*table{
	{
		name: titleBasics, add: addToTitle(rankBasics),
		columns: []column{
			{name: "tconst", check: id(titlePrefix), required: true},
			{name: "titleType", check: required("a type of title", nil), required: true},
			{name: "primaryTitle"},
			{name: "originalTitle"},
			{name: "isAdult", check: integer(1)},
			{name: "startYear", check: integer(maxYear), droppedAs: titleBasics + ".startYear"},
			{name: "endYear", check: integer(maxYear), droppedAs: titleBasics + ".endYear"},
			{name: "runtimeMinutes", check: integer(maxMinutes)},
			{name: "genres"},
		},
	},
	{
		name: titleAkas, add: addToTitle(rankAkas),
		columns: []column{
			{name: "titleId", check: id(titlePrefix), required: true},
			{name: "ordering", check: required("an integer", integer(maxOrdering)), required: true},
			{name: "title"},
			{name: "region"},
			{name: "language", droppedAs: titleAkas + ".language"},
			{name: "types"},
			{name: "attributes"},
			{name: "isOriginalTitle", check: integer(1)},
		},
	},
	{
		name: titlePrincipals, add: addPrincipal,
		columns: []column{
			{name: "tconst", check: id(titlePrefix), required: true},
			{name: "ordering", check: required("an integer", integer(maxOrdering)), required: true},
			{name: "nconst", check: id(namePrefix), required: true},
			{name: "category", check: required("a category of credits", nil), required: true},
			{name: "job"},
			{name: "characters", check: checkCharacters},
		},
	},
	{
		name: titleCrew, add: addCrew,
		columns: []column{
			{name: "tconst", check: id(titlePrefix), required: true},
			{name: "directors", check: checkPeople, repair: validPeople},
			{name: "writers", check: checkPeople, repair: validPeople},
		},
	},
	{
		name: titleEpisode, add: addEpisode,
		columns: []column{
			{name: "tconst", check: id(titlePrefix), required: true},
			{name: "parentTconst", check: id(titlePrefix), required: true},
			{name: "seasonNumber", check: integer(math.MaxInt32)},
			{name: "episodeNumber", check: integer(math.MaxInt32)},
		},
	},
	{
		name: titleRatings, add: addToTitle(rankRatings),
		columns: []column{
			{name: "tconst", check: id(titlePrefix), required: true},
			{name: "averageRating", check: checkAverage},
			{name: "numVotes", check: integer(math.MaxInt32)},
		},
	},
	{
		name: nameBasics, add: addName,
		columns: []column{
			{name: "nconst", check: id(namePrefix), required: true},
			{name: "primaryName"},
			{name: "birthYear", check: integer(maxYear), droppedAs: nameBasics + ".birthYear"},
			{name: "deathYear", check: integer(maxYear), droppedAs: nameBasics + ".deathYear"},
			{name: "primaryProfession"},
			{name: "knownForTitles", droppedAs: nameBasics + ".knownForTitles"},
		},
	},
}

// Tables returns the names of the tables, which are their files' names without extensions.
func Tables() (names []string) {
	for _, t := range tables {
		names = append(names, t.name)
	}
	return names
}

// IsTable returns the table in a file if base is a table's name and row, a JSON object, has all of its columns.
func IsTable(base string, row []byte) (name string, ok bool) {
	t := tableNamed(base)
	if t == nil {
		return "", false
	}
	fields, err := record.Fields(string(row))
	isMissing := func(c column) bool { return !fields.Has(c.name) }
	if err != nil || slices.ContainsFunc(t.columns, isMissing) {
		return "", false
	}
	return t.name, true
}

func tableNamed(name string) *table {
	if i := slices.IndexFunc(tables, func(t *table) bool { return t.name == name }); i >= 0 {
		return tables[i]
	}
	return nil
}

// check empties or repairs bad cells. A bad cell of a required column is an error, and so is any bad cell if values is nil.
func (t *table) check(cells *[maxColumns]string, values *record.Values) error {
	for i, c := range t.columns {
		if c.check == nil {
			continue
		}
		want, found := c.check(cells[i])
		if want == "" {
			continue
		}
		e := &record.FieldError{Field: c.name, What: fmt.Sprintf("want %s, found nothing", want)}
		if cells[i] != "" {
			e.Value = strconv.Quote(record.Shown(found))
			e.What = fmt.Sprintf("want %s, found %s", want, e.Value)
		}
		if c.required {
			return e
		}
		if err := values.Reject(e); err != nil {
			return err
		}
		repaired := ""
		if c.repair != nil {
			repaired = c.repair(cells[i])
		}
		cells[i] = repaired
	}
	return nil
}

// Limits of numbers. Larger ones suggest cells in the wrong columns.
const (
	maxYear     = 9999
	maxMinutes  = 10_000_000
	maxOrdering = math.MaxUint16
	maxRating   = 10
)

func id(prefix string) check {
	return func(c string) (string, string) {
		if _, ok := parseID(c, prefix); !ok {
			return "an id such as " + prefix + "0000001", c
		}
		return "", ""
	}
}

// integer checks an integer from 0 to limit.
func integer(limit int64) check {
	return func(c string) (string, string) {
		if n, ok := parseNumber(c); c != "" && (!ok || n > limit) {
			return fmt.Sprintf("an integer from 0 to %d", limit), c
		}
		return "", ""
	}
}

// required checks a cell that must not be empty.
func required(want string, next check) check {
	return func(c string) (string, string) {
		switch {
		case c == "":
			return want, c
		case next != nil:
			return next(c)
		}
		return "", ""
	}
}

// checkPeople checks a list of person IDs.
func checkPeople(c string) (string, string) {
	n := 0
	for id := range items(c) {
		if _, ok := parseID(id, namePrefix); !ok {
			return "ids such as nm0000001", id
		}
		n++
	}
	if n > maxOrdering {
		return fmt.Sprintf("at most %d ids", maxOrdering), strconv.Itoa(n)
	}
	return "", ""
}

// validPeople returns the valid IDs of a list.
func validPeople(c string) string {
	var valid []string
	for id := range items(c) {
		if _, ok := parseID(id, namePrefix); ok && len(valid) < maxOrdering {
			valid = append(valid, id)
		}
	}
	return strings.Join(valid, ",")
}

func checkCharacters(c string) (string, string) {
	if _, ok := parseCharacters(c); !ok {
		return `a list such as ["Self"]`, c
	}
	return "", ""
}

func checkAverage(c string) (string, string) {
	// The negation rejects NaN.
	if f, err := strconv.ParseFloat(c, 64); c != "" && (err != nil || !(f >= 0 && f <= maxRating)) {
		return "a number from 0 to 10", c
	}
	return "", ""
}
