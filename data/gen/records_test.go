package gen

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// line returns record i of a population without its line break.
func line(t *testing.T, w *world, p *population, i uint64) string {
	t.Helper()
	row, ok := strings.CutSuffix(string(w.appendLine(nil, p, i)), "\n")
	if !ok || strings.ContainsAny(row, "\n\t") || !utf8.ValidString(row) {
		t.Fatalf("%s %d = %s, want one line of UTF-8", p.name, i, row)
	}
	return row
}

type object = map[string]any

// parse checks that a row has the form of a record to the last field: parsed and appended again, it is the same row.
func parse(t *testing.T, typ *catalog.Type, row string) object {
	t.Helper()
	p, rec := record.NewParser(), typ.New()
	if err := p.Parse(row, rec); err != nil || string(record.Append(nil, rec)) != row {
		t.Fatalf("Parse: %v, appended again %s, want %s", err, record.Append(nil, rec), row)
	}
	var out object
	if err := json.Unmarshal([]byte(row), &out); err != nil {
		t.Fatal(err)
	}
	for path := range p.Counts.Unknown { // a series has its seasons
		if typ.Name() == "tv" && strings.HasPrefix(path, "season/") {
			delete(p.Counts.Unknown, path)
		}
	}
	if len(p.Counts.Unknown)+len(p.Counts.Coerced) > 0 {
		t.Errorf("counts = %+v, want none in %s", p.Counts, row)
	}
	return out
}

func typeOf(t *testing.T, p *population) *catalog.Type {
	t.Helper()
	name := map[string]string{"movies": "movie", "people": "person", "collections": "collection", "companies": "company", "networks": "network", "keywords": "keyword"}[p.name]
	typ, ok := catalog.TypeNamed(cmp.Or(name, p.name))
	if !ok {
		t.Fatalf("no kind of %s", p.name)
	}
	return typ
}

// A dump is all records by population and id.
type dump map[string]map[any]object

func dumpOf(t *testing.T, c *Config) dump {
	t.Helper()
	w, out := newWorld(c), dump{}
	for _, p := range w.populations {
		typ, records, last := typeOf(t, p), map[any]object{}, 0.0
		for i := range p.n {
			r := parse(t, typ, line(t, w, p, i))
			id := r["id"].(float64)
			if id <= last {
				t.Fatalf("%s: id %g after %g, want ascending ids", p.name, id, last)
			}
			records[id], last = r, id
		}
		out[p.name] = records
	}
	return out
}

// linked has the populations of references by the names of their lists.
var linked = map[string]string{
	"cast": "people", "crew": "people", "guest_stars": "people", "created_by": "people", "production_companies": "companies",
	"networks": "networks", "keywords": "keywords", "belongs_to_collection": "collections",
}

// TestRecords checks references, which lead to records of the dump and repeat their values, dates, ids and sizes.
func TestRecords(t *testing.T) {
	d := dumpOf(t, &Config{Movies: 500, TV: 120, Seed: 11})
	for name, records := range d {
		seen, refs := map[string]bool{}, map[string]int{}
		for id, r := range records {
			checkValue(t, d, fmt.Sprintf("%s %v", name, id), name, "", r, seen, refs)
		}
		want := map[string]int{"movies": 4, "tv": 4}[name]
		if len(refs) < want {
			t.Errorf("%s has references %v, want those to %d populations", name, refs, want)
		}
	}
	for id, m := range d["movies"] {
		if first := m["translations"].(object)["translations"].([]any)[0].(object); first["iso_639_1"] != "en" || first["data"].(object)["overview"] != m["overview"] {
			t.Errorf("movie %v: translations start with %v, want English with the overview", id, first)
		}
	}
	seasons, episodes := map[any]bool{}, map[any]bool{}
	for id, s := range d["tv"] {
		n := 0
		for key, v := range s {
			if !strings.HasPrefix(key, "season/") {
				continue
			}
			n++
			season := v.(object)
			if want := fmt.Sprintf("season/%v", season["season_number"]); key != want || seasons[season["id"]] {
				t.Errorf("tv %v: %s has id %v and number %v, want an id of its own", id, key, season["id"], season["season_number"])
			}
			seasons[season["id"]] = true
			last := ""
			for i, v := range season["episodes"].([]any) {
				e := v.(object)
				date, _ := e["air_date"].(string)
				regular := season["season_number"] != 0.0 // the sample's specials have gaps, and stand in the order of their numbers
				if e["show_id"] != id || e["season_number"] != season["season_number"] || episodes[e["id"]] || regular && (e["episode_number"] != float64(i+1) || date != "" && date < last) {
					t.Errorf("tv %v: episode %d of %s after %s is %v", id, i+1, key, last, e)
				}
				episodes[e["id"]], last = true, max(last, date)
			}
		}
		if n == 0 || s["seasons"] != nil || s["number_of_episodes"] != nil {
			t.Errorf("tv %v: %d seasons are appended, and the series has %v and %v, want those that the build derives", id, n, s["seasons"], s["number_of_episodes"])
		}
	}
}

// checkValue checks a value of a record. seen has the ids of credits, refs counts references by population.
func checkValue(t *testing.T, d dump, where, file, key string, v any, seen map[string]bool, refs map[string]int) {
	t.Helper()
	where += " " + key
	switch v := v.(type) {
	case string:
		day, _, _ := strings.Cut(v, "T")
		if isDay := strings.HasSuffix(key, "_date") || key == "birthday" || key == "deathday"; isDay && v != "" {
			if _, err := time.Parse(time.DateOnly, day); err != nil || day < "1870" || day > "2050" {
				t.Errorf("%s: date %q, %v", where, v, err)
			}
		}
		if key == "credit_id" && (len(v) != 24 || seen[v] && file == "movies") { // a series repeats the credits of its sample
			t.Errorf("%s: %q, want an id of its own", where, v)
		}
		if key == "credit_id" {
			seen[v] = true
		}
	case []any:
		for i, one := range v {
			if o, ok := one.(object); ok && key == "cast" && o["order"] != float64(i) {
				t.Errorf("%s: place %d has the order %v", where, i, o["order"])
			}
			checkValue(t, d, where, file, key, one, seen, refs)
		}
	case object:
		if to := linked[key]; to != "" && v["id"] != nil {
			refs[to]++
			r := d[to][v["id"]]
			for name, value := range v {
				if want, ok := r[name]; r == nil || ok && !reflect.DeepEqual(value, want) {
					t.Errorf("%s: %s %v of %v, want %v", where, name, value, v["id"], want)
				}
			}
		}
		if width, ok := v["width"].(float64); ok && file != "companies" && (width < 100 || v["height"].(float64) < 100) {
			t.Errorf("%s: image %v", where, v)
		}
		for name, value := range v {
			if name == "results" {
				name = key
			}
			checkValue(t, d, where, file, name, value, seen, refs)
		}
	}
}
