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

// A category describes a value of title.principals.category. Its number is part of stored credit IDs, so it must never change
// or be reused.
type category struct {
	number     uint8 // 1 to 31
	cast       bool
	gender     int64  // gender that the category implies
	note       string // appended to the characters
	department string // crew only
	job        string // default job of the crew
}

// Genders in the API's numbering.
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

// secondaryDepartments maps common secondary professions. They are used if there is no other profession.
var secondaryDepartments = map[string]string{"soundtrack": "Sound", "miscellaneous": "Crew"}

// genderAndDepartment derives a person's gender and main department from their professions, the most important first. They
// are 0 and "" if unknown. For both actor and actress, the gender is 0.
func genderAndDepartment(list string) (gender int64, department string) {
	secondary, both := "", false
	for p := range items(list) {
		department = cmp.Or(department, departments[p])
		secondary = cmp.Or(secondary, secondaryDepartments[p])
		if c := categories[p]; c != nil && c.gender != 0 {
			both = both || gender != 0 && gender != c.gender
			gender = c.gender
		}
	}
	if both {
		gender = 0
	}
	return gender, cmp.Or(department, secondary)
}

// A part is the list of credits that a role belongs to.
type part uint8

const (
	crew part = iota
	cast
	creators // creators of a series
)

// A role is a credit in the API's terms.
type role struct {
	person    *person
	gender    int64
	part      part
	character string // cast only
	category  *category
	job       string // crew only
	id        string
}

// roles returns the credits of the title in order. number is the title in their IDs, which is the series for an episode, so
// that its episodes share the ID of a credit. Only a series has creators.
func (g *titleGroup) roles(number uint32, kind fragment.Kind) []role {
	out := make([]role, 0, len(g.credits))
	seen, usedIDs := map[credited]bool{}, map[creditID]bool{}
	for i := range g.credits {
		c := &g.credits[i]
		cat := categories[c.category]
		if cat == nil {
			g.j.dropName(titlePrincipals+".category.", c.category)
			continue
		}
		r := role{person: &c.person, gender: cmp.Or(c.person.gender, cat.gender), category: cat}
		if cat.cast {
			if r.part = cast; c.job != "" {
				g.j.drop(titlePrincipals+".job", 1)
			}
			characters, _ := parseCharacters(c.characters) // checked before
			r.character = strings.TrimSpace(characters + " " + cat.note)
		} else {
			g.crewRole(&r, c, kind == fragment.KindTV)
		}
		key := credited{c.person.number, c.category, r.detail()}
		if seen[key] {
			g.j.drop(titlePrincipals+": repeated", 1) // the same characters, or jobs that the API does not distinguish
			continue
		}
		seen[key] = true
		id := creditID{title: number, person: c.person.number, category: cat.number, hash: detailHash(r.detail())}
		for usedIDs[id] {
			id = id.next() // the hashes of two characters collide
		}
		usedIDs[id] = true
		r.id = id.String()
		out = append(out, r)
	}
	return out
}

// detail returns the text that distinguishes credits of a person in one category.
func (r *role) detail() string {
	switch {
	case r.part == creators:
		return "creator"
	case r.job == r.category.job:
		return r.character
	}
	return r.job
}

// crewRole sets the job of a crew credit.
func (g *titleGroup) crewRole(r *role, c *credit, series bool) {
	if c.characters != "" {
		g.j.drop(titlePrincipals+".characters", 1)
	}
	word := normalizeJob(c.job)
	switch job, ok := jobs()[r.category.department][word]; {
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

// creatorWords are jobs that make someone a creator of a series.
var creatorWords = []string{"creator", "co-creator", "created", "series creator"}

// jobWords maps jobs to the API's words.
var jobWords = map[string]string{
	"written": "writer", "directed": "director", "produced": "producer", "edited": "editor",
}

// normalizeJob normalises a job: "Screenplay by" becomes screenplay.
func normalizeJob(job string) string {
	word := strings.TrimSpace(strings.TrimSuffix(strings.ToLower(strings.TrimSpace(job)), " by"))
	if w, ok := jobWords[word]; ok {
		return w
	}
	return word
}

// jobs maps lower-case names to jobs, by department.
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

// parseCharacters converts a JSON list of characters to the API's form, "A / B", or returns false.
func parseCharacters(list string) (string, bool) {
	if list == "" {
		return "", true
	}
	// Fast path: one character without escapes.
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

// fill sets the fields of a credit, an empty record of any credit type. order is its index in the cast.
//
// Credits are never merged field by field, so fields that IMDb lacks get the API's empty value, which clients expect: no
// picture, not adult, popularity 0.
func (r *role) fill(dst record.Record, order int) {
	for i := range dst.Schema.Fields {
		switch f := &dst.Schema.Fields[i]; f.Name {
		case "adult":
			dst.Bool(f).Set = true
		case "popularity":
			dst.Float(f).Set = true
		case "gender":
			*dst.Int(f) = record.Number(r.gender)
		case "id":
			*dst.Int(f) = record.Number(r.person.id)
		case "name", "original_name":
			*dst.String(f) = record.Text(r.person.name) // IMDb has no separate name in the person's own language
		case "known_for_department":
			if r.person.department == "" {
				dst.Object().Unusual = f.Name // the API has null here
				continue
			}
			*dst.String(f) = record.Text(r.person.department)
		case "character":
			*dst.String(f) = record.Text(r.character)
		case "credit_id":
			*dst.String(f) = record.Text(r.id)
		case "order":
			*dst.Int(f) = record.Number(int64(order))
		case "department":
			*dst.String(f) = record.Text(r.category.department)
		case "job":
			*dst.String(f) = record.Text(r.job)
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
