package variant

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/route"
)

// languageFilter keeps the rows of some languages; "" is no language.
func languageFilter(cr criterion, languages ...string) *Filter {
	f := &Filter{criterion: cr}
	if f.unnamed = fragment.NoLanguage; cr == byVideoLanguage {
		f.unnamed = english
	}
	for _, l := range languages {
		v := fragment.NoLanguage
		if l != "" {
			v = fragment.Language(l, "")
		}
		f.include = append(f.include, v)
	}
	return f
}

// filterOf reads a filter of testdata/filters.txt.
func filterOf(text string) *Filter {
	kind, value, _ := strings.Cut(text, "=")
	var p route.Params
	var f Filter
	switch kind {
	case "images", "videos":
		rows := byImageLanguage
		if kind == "videos" {
			rows = byVideoLanguage
		}
		return languageFilter(rows, strings.Split(strings.ReplaceAll(value, "-", ""), ",")...)
	case "country":
		copy(p.Country[:], value)
		f = countryFilter(&p)
	case "days":
		start, end, _ := strings.Cut(value, "..")
		p.Start, p.HasStart = day.Parse([]byte(start))
		p.End, p.HasEnd = day.Parse([]byte(end))
		f = dayFilter(&p)
	}
	return &f
}

func TestFilter(t *testing.T) {
	sharedtest.Cases(t, "testdata/filters.txt", func(input string) string {
		filter, text, _ := strings.Cut(input, " ")
		out, err := filterOf(filter).Append(nil, []byte(text))
		if err != nil {
			return err.Error()
		}
		return string(out)
	})
}

// FuzzFilter checks that arbitrary bytes give an error at most, and that what comes
// out of JSON is JSON, no longer than before.
func FuzzFilter(f *testing.F) {
	f.Add([]byte(`{"backdrops":[{"iso_639_1":"en"},{"iso_639_1":"fr"}],"id":1,"logos":[],"posters":[{"iso_639_1":null}]}`))
	f.Add([]byte(`{"results":[{"iso_639_1":"de","name":"a\"b\\"},1,null,[{}],"x"],"n":-1.5e3,"b":true}`))
	f.Add([]byte(`{"titles":[{"iso_3166_1":"DE"}],"changes":[{"items":[{"time":"2024-10-10"}]}]}`))
	f.Add([]byte(`"logos":[{"a":"\"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, name := range []string{"none", "images=-,en", "videos=de,en", "country=DE", "days=2024-10-04..2024-10-18"} {
			filter := filterOf(name)
			out, _ := filter.Append([]byte("x"), raw) // most is no JSON
			if len(out) == 0 || out[0] != 'x' || len(out) > 1+len(raw) {
				t.Fatalf("%s: Append(%q) = %q, want x and at most as much as there was", name, raw, out)
			}
			var b bytes.Buffer
			if json.Compact(&b, raw) != nil || b.Len() == 0 || b.Bytes()[0] != '{' {
				continue
			}
			out, err := filter.Append(nil, b.Bytes())
			if err != nil || !json.Valid(out) {
				t.Errorf("%s: Append(%s) = %s, %v, want JSON", name, b.Bytes(), out, err)
			}
		}
	})
}
