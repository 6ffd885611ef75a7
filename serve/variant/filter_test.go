package variant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/serve/route"
)

// languageFilter keeps the rows of some languages; "" is no language.
func languageFilter(rows by, languages ...string) *Filter {
	f := &Filter{by: rows}
	if f.unnamed = fragment.NoLanguage; rows == byVideoLanguage {
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

func TestFilterLanguages(t *testing.T) {
	images := func(in, want string, languages ...string) {
		t.Helper()
		check(t, languageFilter(byImageLanguage, languages...), in, want)
	}
	videos := func(in, want string, languages ...string) {
		t.Helper()
		check(t, languageFilter(byVideoLanguage, languages...), in, want)
	}
	images(`"backdrops":[],`, `"backdrops":[],`, "en", "de")
	images(`"backdrops":[{"iso_639_1":"en","v":1},{"iso_639_1":"fr","v":2},{"iso_639_1":"de","v":3}],`,
		`"backdrops":[{"iso_639_1":"en","v":1},{"iso_639_1":"de","v":3}],`, "en", "de")
	images(`"backdrops":[{"iso_639_1":"fr","v":2}],`, `"backdrops":[],`, "en", "de")
	images(`"logos":[{"iso_639_1":null}],"posters":[{"iso_639_1":"de"},{"iso_639_1":null}]}`,
		`"logos":[{"iso_639_1":null}],"posters":[{"iso_639_1":null}]}`, "", "en")
	// Images without the field, or with one that is no language, have none.
	images(`"logos":[{"v":1},{"iso_639_1":""},{"iso_639_1":"mul"},{"iso_639_1":"1a"},{}]}`,
		`"logos":[{"v":1},{"iso_639_1":""},{"iso_639_1":"mul"},{"iso_639_1":"1a"},{}]}`, "", "en")
	images(`"logos":[{"v":1},{"iso_639_1":""}]}`, `"logos":[]}`, "en", "de")
	// Videos without it are English.
	videos(`"results":[{"v":1},{"iso_639_1":"de"},{"iso_639_1":"fr"}]}`, `"results":[{"v":1},{"iso_639_1":"de"}]}`, "en", "de")
	// Brackets, commas and the field's name inside of text mean nothing.
	images(`"posters":[{"file_path":"/]},{[\"iso_639_1\":\"fr\"","iso_639_1":"en"},{"file_path":"\\","iso_639_1":"fr"}]}`,
		`"posters":[{"file_path":"/]},{[\"iso_639_1\":\"fr\"","iso_639_1":"en"}]}`, "en", "de")
	// A field of a nested object is none of the row's.
	images(`"posters":[{"x":{"iso_639_1":"fr"},"y":[{"iso_639_1":"fr"}],"iso_639_1":"en"}]}`,
		`"posters":[{"x":{"iso_639_1":"fr"},"y":[{"iso_639_1":"fr"}],"iso_639_1":"en"}]}`, "en", "de")
	// Arrays that the filter does not know stay whole, as in the stored groups.
	images(`"logos":[{"iso_639_1":"fr"}],"others":[{"iso_639_1":"fr"}],"n":1,"o":{"logos":[{"iso_639_1":"fr"}]}}`,
		`"logos":[],"others":[{"iso_639_1":"fr"}],"n":1,"o":{"logos":[{"iso_639_1":"fr"}]}}`, "en", "de")
}

func TestFilterCountry(t *testing.T) {
	f := byCountry(&route.Params{Country: route.Country{'F', 'R'}})
	check(t, &f, `"titles":[{"iso_3166_1":"US","title":"A"},{"iso_3166_1":"FR","title":"B"},{"title":"C"}]}`,
		`"titles":[{"iso_3166_1":"FR","title":"B"}]}`)
	check(t, &f, `"titles":[]}`, `"titles":[]}`)
	if f := byCountry(&route.Params{}); !f.IsZero() {
		t.Error("byCountry of no country is a filter, want none")
	}
}

func TestFilterDays(t *testing.T) {
	const in = `"changes":[{"key":"title","items":[{"id":"1","time":"2024-12-01 23:59:59 UTC","value":{"time":"2024-12-02"}},` +
		`{"id":"2","time":"2024-12-02 00:00:00 UTC"}]},{"key":"images","items":[{"id":"3","time":"2024-12-04 10:00:00 UTC"}]},` +
		`{"key":"odd","items":[{"id":"4"}]}]}`
	f := func(start, end, want string) {
		t.Helper()
		var p route.Params
		p.Start, p.HasStart = day.Parse([]byte(start))
		p.End, p.HasEnd = day.Parse([]byte(end))
		filter := byDay(&p)
		check(t, &filter, in, want)
	}
	f("", "", in)
	f("2024-12-02", "2024-12-03",
		`"changes":[{"key":"title","items":[{"id":"2","time":"2024-12-02 00:00:00 UTC"}]},{"key":"odd","items":[{"id":"4"}]}]}`)
	f("2024-12-03", "",
		`"changes":[{"key":"images","items":[{"id":"3","time":"2024-12-04 10:00:00 UTC"}]},{"key":"odd","items":[{"id":"4"}]}]}`)
	f("", "2024-11-30", `"changes":[{"key":"odd","items":[{"id":"4"}]}]}`)
}

func check(tb testing.TB, f *Filter, in, want string) {
	tb.Helper()
	got, err := f.Append([]byte("x"), []byte(in))
	if err != nil || string(got) != "x"+want {
		tb.Errorf("Append(%s)\n = %s, %v\nwant x%s", in, got, err, want)
	}
}

func TestFilterErrors(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		_, err := languageFilter(byImageLanguage, "en").Append(nil, []byte(in))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Append(%s) = %v, want an error with %q", in, err, want)
		}
	}
	f(`x`, "byte 0")
	f(`"logos`, "field without a name")
	f(`"logos"`, "field without a name")
	f(`"logos":`, "value without an end")
	f(`"logos":[{"a":1}`, "value without an end")
	f(`"logos":[{"a":"]`, "value without an end")
	f(`"logos":[,]`, "row at byte 0")
}

// filters is one of each kind.
func filters() map[string]*Filter {
	country := byCountry(&route.Params{Country: route.Country{'D', 'E'}})
	days := byDay(&route.Params{Start: 20000, HasStart: true, End: 20014, HasEnd: true})
	return map[string]*Filter{
		"none": {}, "images": languageFilter(byImageLanguage, "", "en"), "videos": languageFilter(byVideoLanguage, "de", "en"),
		"country": &country, "days": &days,
	}
}

// FuzzFilter checks that arbitrary bytes give an error at most, and that what comes
// out of JSON is JSON, no longer than before.
func FuzzFilter(f *testing.F) {
	f.Add([]byte(`{"backdrops":[{"iso_639_1":"en"},{"iso_639_1":"fr"}],"id":1,"logos":[],"posters":[{"iso_639_1":null}]}`))
	f.Add([]byte(`{"results":[{"iso_639_1":"de","name":"a\"b\\"},1,null,[{}],"x"],"n":-1.5e3,"b":true}`))
	f.Add([]byte(`{"titles":[{"iso_3166_1":"DE"}],"changes":[{"items":[{"time":"2024-10-10"}]}]}`))
	f.Add([]byte(`"logos":[{"a":"\"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for name, filter := range filters() {
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

// imageText returns JSON like that of a movie with n images, in some ten languages.
func imageText(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	languages := []string{`"en"`, "null", `"de"`, `"fr"`, `"ja"`, `"es"`, `"pt"`, `"it"`, `"ru"`, `"ko"`}
	b := []byte(`"logos":[],"posters":[`)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"aspect_ratio":0.667,"height":%d,"iso_3166_1":null,"iso_639_1":%s,"file_path":"/%x.jpg","vote_average":%d.%d,"vote_count":%d,"width":%d}`,
			1000+r.IntN(2000), languages[r.IntN(len(languages))], r.Uint64(), r.IntN(10), r.IntN(1000), r.IntN(50), 1000+r.IntN(1000))
	}
	return append(b, "]}"...)
}

func BenchmarkFilter(b *testing.B) {
	for _, n := range []int{20, 1000} {
		b.Run(fmt.Sprintf("images=%d", n), func(b *testing.B) {
			raw := imageText(n)
			f := languageFilter(byImageLanguage, "", "en")
			var dst []byte
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				var err error
				if dst, err = f.Append(dst[:0], raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
