package imdb

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// Categories that occur in several tables.
const (
	categoryDirector = "director"
	categoryWriter   = "writer"
)

// A category is the meaning of a value of title.principals.category. Its number reaches files, in
// the ids of credits: it never changes, and is never used again.
type category struct {
	number     uint8 // 1 to 31
	cast       bool
	gender     int64  // of the word
	note       string // behind the characters
	department string // of crew
	job        string // of crew, unless the row has a better known one
}

// Genders as the API numbers them.
const (
	female = 1
	male   = 2
)

var categories = map[string]*category{
	"actor":               {number: 1, cast: true, gender: male},
	"actress":             {number: 2, cast: true, gender: female},
	"self":                {number: 3, cast: true},
	categoryDirector:      {number: 4, department: "Directing", job: "Director"},
	categoryWriter:        {number: 5, department: "Writing", job: "Writer"},
	"producer":            {number: 6, department: "Production", job: "Producer"},
	"composer":            {number: 7, department: "Sound", job: "Original Music Composer"},
	"cinematographer":     {number: 8, department: "Camera", job: "Director of Photography"},
	"editor":              {number: 9, department: "Editing", job: "Editor"},
	"production_designer": {number: 10, department: "Art", job: "Production Design"},
	"casting_director":    {number: 11, department: "Production", job: "Casting Director"},
	"archive_footage":     {number: 12, cast: true, note: "(archive footage)"},
	"archive_sound":       {number: 13, cast: true, note: "(archive sound)"},
}

// departments maps professions of name.basics to a person's main department.
var departments = map[string]string{
	"actor": "Acting", "actress": "Acting",
	"director": "Directing", "assistant_director": "Directing", "script_department": "Directing",
	"writer":   "Writing",
	"producer": "Production", "production_manager": "Production", "production_department": "Production",
	"casting_director": "Production", "casting_department": "Production", "location_management": "Production",
	"cinematographer": "Camera", "camera_department": "Camera",
	"electrical_department": "Lighting",
	"editor":                "Editing", "editorial_department": "Editing",
	"composer": "Sound", "music_department": "Sound", "sound_department": "Sound", "music_artist": "Sound",
	"production_designer": "Art", "art_director": "Art", "art_department": "Art", "set_decorator": "Art",
	"costume_designer": "Costume & Make-Up", "costume_department": "Costume & Make-Up", "make_up_department": "Costume & Make-Up",
	"visual_effects": "Visual Effects", "animation_department": "Visual Effects", "special_effects": "Visual Effects",
	"stunts": "Crew", "transportation_department": "Crew", "choreographer": "Crew",
}

// byDepartments maps professions that many people have on the side: they count if there is no
// other.
var byDepartments = map[string]string{"soundtrack": "Sound", "miscellaneous": "Crew"}

// ofProfessions returns a person's gender and main department by their professions, the most
// important one first; 0 and "" where these have none. A person who is both actor and actress has
// no gender here.
func ofProfessions(list string) (gender int64, department string) {
	aside, both := "", false
	for p := range items(list) {
		department = cmp.Or(department, departments[p])
		aside = cmp.Or(aside, byDepartments[p])
		if c := categories[p]; c != nil && c.gender != 0 {
			both = both || gender != 0 && gender != c.gender
			gender = c.gender
		}
	}
	if both {
		gender = 0
	}
	return gender, cmp.Or(department, aside)
}

// A part is the list that a role is on.
type part uint8

const (
	crew part = iota
	cast
	creators // of a series
)

// A role is a credit as the API has it.
type role struct {
	person    *person
	gender    int64
	part      part
	character string // of cast
	category  *category
	job       string // of crew
	id        string
}

// roles returns the credits of the title, in their order. of is the title that their
// ids name: the same credit in several episodes of a series is one. Only a series has
// creators.
func (g *titleGroup) roles(of uint32, kind fragment.Kind) []role {
	out := make([]role, 0, len(g.credits))
	g.used, g.done = emptied(g.used), emptied(g.done)
	for i := range g.credits {
		c := &g.credits[i]
		cat := categories[c.category]
		if cat == nil {
			g.j.dropName(titlePrincipals+".category.", c.category)
			continue
		}
		r := role{person: &c.person, gender: c.person.gender, category: cat}
		if r.gender == 0 {
			r.gender = cat.gender
		}
		if cat.cast {
			g.castRole(&r, c)
		} else {
			g.crewRole(&r, c, kind == fragment.KindTV)
		}
		if is := (credited{c.person.number, c.category, r.detail()}); g.done[is] {
			g.j.drop(titlePrincipals+": repeated", 1) // the same characters, or jobs that are one in the API
			continue
		} else {
			g.done[is] = true
		}
		id := creditID{title: of, person: c.person.number, category: cat.number, what: hashOf(r.detail())}
		for g.used[id] {
			id = id.next() // another character has the same hash
		}
		g.used[id] = true
		r.id = id.String()
		out = append(out, r)
	}
	return out
}

// detail returns the part of a role beyond its category, by which credits of one person differ.
func (r *role) detail() string {
	switch {
	case r.part == creators:
		return "creator"
	case r.job == r.category.job:
		return r.character
	}
	return r.job
}

// castRole sets whom a credit of the cast is of.
func (g *titleGroup) castRole(r *role, c *credit) {
	r.part = cast
	if c.job != "" {
		g.j.drop(titlePrincipals+".job", 1)
	}
	characters, _ := parseCharacters(c.characters) // was checked
	r.character = strings.TrimSpace(characters + " " + r.category.note)
}

// crewRole sets the job of a credit of the crew.
func (g *titleGroup) crewRole(r *role, c *credit, series bool) {
	if c.characters != "" {
		g.j.drop(titlePrincipals+".characters", 1)
	}
	word := jobWord(c.job)
	switch job, ok := jobNamed(r.category.department, word); {
	case ok:
		r.job = job
	case slices.Contains(creatorWords, word) && c.category == categoryWriter && series:
		r.part = creators
	default:
		r.job = r.category.job
		if word != "" && word != strings.ReplaceAll(c.category, "_", " ") {
			g.j.drop(titlePrincipals+".job", 1)
		}
	}
}

// creatorWords are jobs of those who created a series.
var creatorWords = []string{"creator", "co-creator", "created", "series creator"}

// jobWords are jobs that the API has under another word.
var jobWords = map[string]string{
	"written": "writer", "directed": "director", "produced": "producer", "edited": "editor",
}

// jobWord returns a job as it is looked up: "Screenplay by" is a screenplay.
func jobWord(job string) string {
	word := strings.TrimSpace(strings.TrimSuffix(strings.ToLower(strings.TrimSpace(job)), " by"))
	if w, ok := jobWords[word]; ok {
		return w
	}
	return word
}

// jobs holds the jobs of each department by their names in lower case.
var jobs = sync.OnceValue(func() map[string]map[string]string {
	out := map[string]map[string]string{}
	for _, d := range reference.Departments() {
		out[d.Name] = map[string]string{}
		for _, job := range d.Jobs {
			out[d.Name][strings.ToLower(job)] = job
		}
	}
	return out
})

// jobNamed returns the job of a department that has a name in lower case.
func jobNamed(department, name string) (string, bool) {
	job, ok := jobs()[department][name]
	return job, ok
}

// parseCharacters returns the characters of a credit as the API writes several, "A / B",
// from a JSON list of texts; false for anything else.
func parseCharacters(list string) (string, bool) {
	if list == "" {
		return "", true
	}
	// Fast path: one character, nothing escaped.
	if s, ok := strings.CutPrefix(list, `["`); ok {
		if s, ok := strings.CutSuffix(s, `"]`); ok && !strings.ContainsAny(s, `"\`) {
			return strings.TrimSpace(s), true
		}
	}
	var names []string
	if json.Unmarshal([]byte(list), &names) != nil {
		return "", false
	}
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return strings.Join(slices.DeleteFunc(names, func(n string) bool { return n == "" }), " / "), true
}

// name returns the name, empty for a person that name.basics lacks. IMDb has no other one in the
// person's own language.
func (r *role) name() record.String { return record.Text(r.person.name) }

// fill sets the fields of a credit, an empty record of any of the types of credits. order is its
// place among those of the cast.
//
// Lists of credits are never joined row by row, so fields that IMDb lacks have the API's empty value
// here, as clients expect in every row: no picture, no adult titles, popularity 0.
func (r *role) fill(to record.Record, order int) {
	for i := range to.Schema.Fields {
		switch f := &to.Schema.Fields[i]; f.Name {
		case "adult":
			to.Bool(f).Set = true
		case "popularity":
			to.Float(f).Set = true
		case "gender":
			*to.Int(f) = record.Number(r.gender)
		case "id":
			*to.Int(f) = record.Number(r.person.id)
		case "name", "original_name":
			*to.String(f) = r.name()
		case "known_for_department":
			if r.person.department == "" {
				to.Object().Unusual = f.Name // the API has null there
				continue
			}
			*to.String(f) = record.Text(r.person.department)
		case "character":
			*to.String(f) = record.Text(r.character)
		case "credit_id":
			*to.String(f) = record.Text(r.id)
		case "order":
			*to.Int(f) = record.Number(int64(order))
		case "department":
			*to.String(f) = record.Text(r.category.department)
		case "job":
			*to.String(f) = record.Text(r.job)
		}
	}
}

// appendRoles appends the roles of a part to a list of credits.
func appendRoles[T any](list []T, roles []role, part part) []T {
	for i := range roles {
		if roles[i].part == part {
			n := len(list)
			list = append(list, *new(T))
			roles[i].fill(record.Of(&list[n]), n)
		}
	}
	return list
}
