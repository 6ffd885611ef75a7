package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// parseAs parses a record.
func parseAs[T any](tb testing.TB, row string) *T {
	tb.Helper()
	v := new(T)
	if err := record.NewParser().Parse(row, record.Of(v)); err != nil {
		tb.Fatalf("Parse(%.200s): %v", row, err)
	}
	markDetails(record.Of(v))
	return v
}

// markDetails marks the record of an API response, as ingest does.
func markDetails(rec record.Record) {
	for _, t := range catalog.Types() {
		if t.Schema == rec.Schema {
			t.MarkDetails(rec)
		}
	}
}

// parse parses a movie.
func parse(tb testing.TB, row string) *catalog.Movie {
	tb.Helper()
	return parseAs[catalog.Movie](tb, row)
}

// textOf writes the pieces of a fragment one after another, those without text in angle brackets.
func textOf(pieces []release.PieceSpec) string {
	var b strings.Builder
	for _, p := range pieces {
		switch p.Op {
		case release.OpSegment:
			b.Write(p.Literal)
		case release.OpIDMark:
			b.WriteString("<id>")
		case release.OpIDEnd:
			b.WriteString("<id end>")
		case release.OpPageMark:
			b.WriteString("<page>")
		case release.OpReference:
			fmt.Fprintf(&b, "<genres %s>", p.Shared[2:])
		case release.OpInclude:
			fmt.Fprintf(&b, "<%s>", includeName(p.Include))
		case release.OpName:
			fmt.Fprintf(&b, "<name %d %d>", p.Word, p.Number)
		default:
			fmt.Fprintf(&b, "<op %d>", p.Op)
		}
	}
	return b.String()
}

// includeName names the included fragment.
func includeName(i release.Include) string {
	return fragment.DescribeKey(i.AppendKey(nil)) + " " + i.Sub.String()
}

// texts maps the address of each fragment to its text.
func texts(tb testing.TB, list []release.FragmentSpec) map[string]string {
	tb.Helper()
	out := map[string]string{}
	for _, f := range list {
		name := f.Address.String()
		if _, ok := out[name]; ok {
			tb.Errorf("%s is there twice", name)
		}
		out[name] = textOf(f.Pieces)
	}
	return out
}

// fragmentIs checks one fragment; want "" means that it is absent.
func fragmentIs(tb testing.TB, all map[string]string, address, want string) {
	tb.Helper()
	if got := all[address]; got != want {
		tb.Errorf("fragment %q\n = %s\nwant %s", address, got, want)
	}
}

// A composer responds from fragments as the edge does.
type composer struct {
	list  []release.FragmentSpec
	wrong string // invalid pieces
	// included are the fragments that others include, by includeName.
	included map[string]string
	lang     fragment.Variant // language of names
	id       string           // id of the resource; 7 if not set
}

// find returns the first of the addresses that has a fragment.
func (c *composer) find(addresses ...fragment.Address) (release.FragmentSpec, bool) {
	for _, a := range addresses {
		if i := slices.IndexFunc(c.list, func(f release.FragmentSpec) bool { return f.Address == a }); i >= 0 {
			return c.list[i], true
		}
	}
	return release.FragmentSpec{}, false
}

// join writes a fragment, alone or appended.
func (c *composer) join(f release.FragmentSpec, alone bool) string {
	var b []byte
	for i, p := range f.Pieces {
		switch p.Op {
		case release.OpSegment:
			b = append(b, p.Literal...)
		case release.OpIDMark:
			if alone {
				b = append(b, `"id":`+cmp.Or(c.id, "7")+","...)
			}
		case release.OpIDEnd:
			if alone {
				b = append(b, `,"id":`+cmp.Or(c.id, "7")...)
			}
			b = append(b, '}')
			if i != len(f.Pieces)-1 {
				c.wrong = fmt.Sprintf("%s: the end is piece %d of %d", f.Address, i, len(f.Pieces))
			}
		case release.OpPageMark:
			b = append(b, fmt.Sprintf(`"page":%d,`, max(f.Address.Page, 1))...)
		case release.OpReference:
			b = append(b, c.genres(p)...)
		case release.OpName:
			lang := c.lang.Bare().String()
			name := map[release.Word]string{
				release.WordSeason:   reference.SeasonName(lang, "", int(p.Number)),
				release.WordEpisode:  reference.EpisodeName(lang, "", int(p.Number)),
				release.WordSpecials: reference.SeasonName(lang, "", 0),
			}[p.Word]
			b = record.AppendString(b, name)
		case release.OpInclude:
			text, ok := c.included[includeName(p.Include)]
			if !ok {
				text = fmt.Sprintf(`"included":%q`, includeName(p.Include))
			}
			b = append(b, text...)
		default:
			c.wrong = fmt.Sprintf("%s: piece %d has op %d", f.Address, i, p.Op)
		}
	}
	return string(b)
}

// genres returns the shared genres in the language.
func (c *composer) genres(p release.PieceSpec) []byte {
	var genreIDs []int64
	for id := range strings.SplitSeq(string(p.Shared[2:]), ",") {
		n, _ := strconv.ParseInt(id, 10, 64)
		genreIDs = append(genreIDs, n)
	}
	shared := composer{list: SharedGenres(fragment.Kind(p.Shared[1]), genreIDs)}
	f, _ := shared.find(fragment.Address{Sub: fragment.SubGenres, Variant: c.lang},
		fragment.Address{Sub: fragment.SubGenres, Variant: c.lang.Bare()}, fragment.Address{Sub: fragment.SubGenres})
	return f.Pieces[0].Literal
}

// inLanguage returns the response to a sub-request in the language.
func (c *composer) inLanguage(s fragment.Sub) string {
	f, _ := c.find(fragment.Address{Sub: s, Variant: c.lang}, fragment.Address{Sub: s, Variant: c.lang.OfAnyRegion()},
		fragment.Address{Sub: s, Variant: fragment.Untranslated}, fragment.Address{Sub: s})
	return c.answer(f, true)
}

// answer returns the object of a fragment, alone or appended.
func (c *composer) answer(f release.FragmentSpec, alone bool) string {
	text := c.join(f, alone)
	switch f.Address.Sub {
	case fragment.SubDetails:
		return text + "}"
	case fragment.SubRow, fragment.SubMediaRow, fragment.SubKnownFor, fragment.SubGenres:
		return "{" + text + "}"
	default:
		return "{" + text
	}
}

// allAreJSON checks that every fragment is a JSON object without repeated fields, alone and appended.
func allAreJSON(tb testing.TB, what string, list []release.FragmentSpec) {
	tb.Helper()
	if wrong := notJSON(list); wrong != "" {
		tb.Errorf("%s: %s", what, wrong)
	}
}

// notJSON describes a fragment that is not a JSON object or repeats a field; "" if all are valid.
func notJSON(list []release.FragmentSpec) string {
	c := composer{list: list}
	for _, f := range list {
		for _, alone := range []bool{true, false} {
			body := c.answer(f, alone)
			if c.wrong != "" {
				return c.wrong
			}
			if !json.Valid([]byte(body)) {
				return fmt.Sprintf("%s, alone %v = %.2000s, want JSON", f.Address, alone, body)
			}
			if field := twice(body); field != "" {
				return fmt.Sprintf("%s, alone %v: field %q is there twice: %.2000s", f.Address, alone, field, body)
			}
		}
	}
	return ""
}

// twice returns a repeated field of an object.
func twice(object string) string {
	d := json.NewDecoder(strings.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	seen := map[any]bool{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return ""
		}
		if seen[name] {
			return fmt.Sprint(name)
		}
		seen[name] = true
		var v json.RawMessage
		if d.Decode(&v) != nil {
			return ""
		}
	}
	return ""
}

// fieldNames returns the names of an object's fields, in order.
func fieldNames(tb testing.TB, object string) []string {
	tb.Helper()
	d := json.NewDecoder(strings.NewReader(object))
	if _, err := d.Token(); err != nil {
		tb.Fatal(err)
	}
	var names []string
	for d.More() {
		name, err := d.Token()
		sharedtest.NoError(tb, err)
		names = append(names, name.(string))
		var v json.RawMessage
		sharedtest.NoError(tb, d.Decode(&v))
	}
	return names
}

// fragmentsOf renders a record of any kind without derived data.
func fragmentsOf(rec record.Record, k fragment.Kind) []release.FragmentSpec {
	return fragmentsBy(New(), rec, k)
}

func fragmentsBy(r *Renderer, rec record.Record, k fragment.Kind) []release.FragmentSpec {
	switch k {
	case fragment.KindMovie:
		return movieOf(r, record.As[catalog.Movie](rec), TitleDerived{})
	case fragment.KindTV:
		return seriesOf(r, record.As[catalog.TV](rec), SeriesDerived{})
	case fragment.KindSeason:
		return seasonOf(r, record.As[catalog.Season](rec), SeasonDerived{})
	case fragment.KindEpisode:
		return episodeOf(r, record.As[catalog.Episode](rec), EpisodeDerived{})
	case fragment.KindPerson:
		return personOf(r, record.As[catalog.Person](rec), PersonDerived{})
	case fragment.KindCollection:
		return collectionOf(r, record.As[catalog.Collection](rec), CollectionDerived{})
	case fragment.KindCompany:
		return r.Company(complete.Of(complete.Base(record.As[catalog.Company](rec))), nil)
	case fragment.KindNetwork:
		return Plain(r, k, complete.Of(complete.Base(record.As[catalog.Network](rec))))
	case fragment.KindKeyword:
		return r.Keyword(complete.Of(complete.Base(record.As[catalog.KeywordRecord](rec))), nil, nil)
	case fragment.KindReview:
		return Plain(r, k, complete.Of(complete.Base(record.As[catalog.ReviewRecord](rec))))
	case fragment.KindCredit:
		return Plain(r, k, complete.Of(complete.Base(record.As[catalog.Credit](rec))))
	case fragment.KindEpisodeGroup:
		return Plain(r, k, complete.Of(complete.Base(record.As[catalog.EpisodeGroupRecord](rec))))
	}
	return nil
}

// Each of these completes and renders a record.

func movieOf(r *Renderer, m *catalog.Movie, d TitleDerived) []release.FragmentSpec {
	return r.Movie(complete.Of(complete.Base(m)), d)
}

func seriesOf(r *Renderer, t *catalog.TV, d SeriesDerived) []release.FragmentSpec {
	return r.Series(complete.Series(complete.Base(t), d.SeriesDerived), d)
}

func seasonOf(r *Renderer, s *catalog.Season, d SeasonDerived) []release.FragmentSpec {
	return r.Season(complete.Season(complete.Base(s), d.SeasonDerived), d)
}

func episodeOf(r *Renderer, e *catalog.Episode, d EpisodeDerived) []release.FragmentSpec {
	return r.Episode(complete.Episode(complete.Base(e), nil), d)
}

func personOf(r *Renderer, p *catalog.Person, d PersonDerived) []release.FragmentSpec {
	return r.Person(complete.Person(complete.Base(p), complete.PersonDerived{Credited: len(d.Credits) > 0}), d)
}

func collectionOf(r *Renderer, c *catalog.Collection, d CollectionDerived) []release.FragmentSpec {
	return r.Collection(complete.Of(complete.Base(c)), d)
}

// parseKind parses a record of any kind.
func parseKind(tb testing.TB, k fragment.Kind, row string) record.Record {
	tb.Helper()
	rec := catalog.TypeOf(k).New()
	if err := record.NewParser().Parse(row, rec); err != nil {
		tb.Fatalf("Parse(%.200s): %v", row, err)
	}
	markDetails(rec)
	return rec
}
