package render

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// texts with a special meaning somewhere in the program.
var oddTexts = []string{
	"", "T", `"`, `\`, "\x01", "\x01S12\x01", ":null", "{", "[", ",", "a,b", "<id>", "\u2028", "é", "movie", "tv",
}

var (
	oddLanguages = []string{"de", "en", "fr", "zz", "", "x", "~\x01", "DE"}
	oddRegions   = []string{"DE", "US", "AT", "", "~\x01", "x"}
	oddTags      = []string{"de-DE", "fr", "en-GB", "en-US", "de-AT", "", "-----", "zz"}
)

// drawObject draws an object of a schema: any field may be absent or null.
func drawObject(t *rapid.T, p *record.Schema, depth int) string {
	var b strings.Builder
	b.WriteByte('{')
	field := func(name, value string) {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(record.AppendString(nil, name))
		b.WriteByte(':')
		b.WriteString(value)
	}
	for i := range p.Fields {
		f := &p.Fields[i]
		state := rapid.IntRange(0, 9).Draw(t, f.Name)
		switch {
		case i == p.Key, state < 3 && f.Name != "id", depth == 0 && f.Elem != nil:
		case f.Name == "*":
			field("flatrate", "[]")
		case state == 3 && f.Name != "id":
			field(f.Name, "null")
		default:
			field(f.Name, drawValue(t, f, depth))
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "extra") == 0 {
		field("unheard_of", `{"x":[1]}`)
	}
	b.WriteByte('}')
	return b.String()
}

func drawValue(t *rapid.T, f *record.Field, depth int) string {
	switch f.Shape {
	case record.ShapeString:
		if f.Day {
			return rapid.SampledFrom([]string{`""`, `"1999-10-15"`, `"2024-02-29"`, `"0001-01-01"`, `"9999-12-31"`}).Draw(t, "day")
		}
		if f.IMDb {
			return rapid.SampledFrom([]string{`""`, `"tt0137523"`, `"nm0000093"`}).Draw(t, "imdb id")
		}
		return string(record.AppendString(nil, drawText(t, f.Name)))
	case record.ShapeInt:
		return strconv.Itoa(rapid.IntRange(-1, 501).Draw(t, "n"))
	case record.ShapeFloat:
		return "1.5"
	case record.ShapeBool:
		return "true"
	case record.ShapeRaw:
		return `[{"any":null}]`
	case record.ShapeObject:
		return drawObject(t, f.Elem, depth-1)
	case record.ShapeKeyed:
		return `{"US":` + drawObject(t, f.Elem, depth-1) + `}`
	case record.ShapeStrings:
		return `["a"]`
	case record.ShapeInts:
		return "[1]"
	}
	var list []string
	for range rapid.IntRange(0, 3).Draw(t, "len") {
		list = append(list, drawObject(t, f.Elem, depth-1))
	}
	return "[" + strings.Join(list, ",") + "]"
}

func drawText(t *rapid.T, name string) string {
	switch name {
	case "original_language":
		return rapid.SampledFrom([]string{"en", "de", "xx", "zxx", ""}).Draw(t, "code")
	case "iso_639_1":
		return rapid.SampledFrom(oddLanguages).Draw(t, "code")
	case "iso_3166_1":
		return rapid.SampledFrom(oddRegions).Draw(t, "code")
	case "language":
		return rapid.SampledFrom(oddTags).Draw(t, "tag")
	case "site":
		return "YouTube"
	}
	return rapid.SampledFrom(oddTexts).Draw(t, "text")
}

// drawn are the records that drawRecord has drawn for the next check, with their original values.
var drawn []struct {
	rec record.Record
	was string
}

// drawRecord draws a record of a kind.
func drawRecord[T any](t *rapid.T) *T {
	row := drawObject(t, record.SchemaOf[T](), 3)
	v := new(T)
	if err := record.NewParser().Parse(row, record.Of(v)); err != nil {
		t.Fatalf("Parse(%s): %v", row, err)
	}
	drawn = append(drawn, struct {
		rec record.Record
		was string
	}{record.Of(v), string(record.AppendBinary(nil, record.Of(v)))})
	return v
}

// TestAnyRecord: for any record, each fragment is JSON, alone and appended, addresses are unique, and details in
// another variant have a base.
func TestAnyRecord(t *testing.T) {
	r := New() // a shared one, to find state left by the previous record
	ids := rapid.SliceOfN(rapid.Int64Range(1, 9), 0, 45)
	titles := func(t *rapid.T) TitleDerived {
		return TitleDerived{Recommendations: ids.Draw(t, "recommendations"), Similar: ids.Draw(t, "similar")}
	}
	for name, draw := range map[string]func(*rapid.T) []release.FragmentSpec{
		"movie": func(t *rapid.T) []release.FragmentSpec { return movieOf(r, drawRecord[catalog.Movie](t), titles(t)) },
		"tv": func(t *rapid.T) []release.FragmentSpec {
			d := SeriesDerived{TitleDerived: titles(t)}
			for range rapid.IntRange(0, 2).Draw(t, "seasons") {
				s := drawRecord[catalog.Season](t)
				info := complete.SeasonInfo{Summary: catalog.SeasonSummary{SeasonNumber: s.SeasonNumber, Name: s.Name}}
				if s.Translations != nil {
					info.Translations = s.Translations.Translations
				}
				d.Seasons = append(d.Seasons, info)
			}
			return seriesOf(r, drawRecord[catalog.TV](t), d)
		},
		"season": func(t *rapid.T) []release.FragmentSpec {
			d := complete.SeasonDerived{Series: drawRecord[catalog.TV](t)}
			for range rapid.IntRange(0, 2).Draw(t, "episodes") {
				d.Episodes = append(d.Episodes, complete.Of(complete.Base(drawRecord[catalog.Episode](t))))
			}
			return seasonOf(r, drawRecord[catalog.Season](t), SeasonDerived{SeasonDerived: d})
		},
		"episode": func(t *rapid.T) []release.FragmentSpec {
			e := drawRecord[catalog.Episode](t)
			if s := drawRecord[catalog.Season](t); len(s.Episodes) > 0 {
				e = complete.Listed(s, 0)
			}
			return episodeOf(r, e, EpisodeDerived{SeriesID: 1})
		},
		"person": func(t *rapid.T) []release.FragmentSpec {
			return personOf(r, drawRecord[catalog.Person](t), PersonDerived{})
		},
		"collection": func(t *rapid.T) []release.FragmentSpec {
			return collectionOf(r, drawRecord[catalog.Collection](t), CollectionDerived{Parts: ids.Draw(t, "parts")})
		},
		"company": func(t *rapid.T) []release.FragmentSpec {
			return r.Company(complete.Of(complete.Base(drawRecord[catalog.Company](t))), ids.Draw(t, "movies"))
		},
		"network": drawPlain[catalog.Network](r, fragment.KindNetwork),
		"keyword": func(t *rapid.T) []release.FragmentSpec {
			movies := ids.Draw(t, "movies")
			return r.Keyword(complete.Of(complete.Base(drawRecord[catalog.KeywordRecord](t))), movies, append(movies, ids.Draw(t, "adult")...))
		},
		"review": drawPlain[catalog.ReviewRecord](r, fragment.KindReview),
		"credit": drawPlain[catalog.Credit](r, fragment.KindCredit),
		"group":  drawPlain[catalog.EpisodeGroupRecord](r, fragment.KindEpisodeGroup),
	} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) { checkFragments(t, draw(t)) }))
	}
}

func drawPlain[T any](r *Renderer, k fragment.Kind) func(*rapid.T) []release.FragmentSpec {
	return func(t *rapid.T) []release.FragmentSpec {
		return Plain(r, k, complete.Of(complete.Base(drawRecord[T](t))))
	}
}

func checkFragments(t *rapid.T, list []release.FragmentSpec) {
	for _, d := range drawn {
		if now := record.AppendBinary(nil, d.rec); string(now) != d.was {
			t.Fatalf("rendering changed a record: it is %s", record.Append(nil, d.rec))
		}
	}
	drawn = nil
	seen := map[fragment.Address]bool{}
	for _, f := range list {
		if seen[f.Address] {
			t.Fatalf("%s is there twice", f.Address)
		}
		seen[f.Address] = true
	}
	for _, f := range list {
		if f.Address.Sub == fragment.SubDetails && !seen[fragment.Address{Sub: fragment.SubDetails}] {
			t.Fatalf("%s is there without a base", f.Address)
		}
	}
	if msg := notJSON(list); msg != "" {
		t.Fatal(msg)
	}
}

// TestLanguageChain: a version that is not stored equals its language's fallback.
func TestLanguageChain(t *testing.T) {
	for name, draw := range map[string]func(*rapid.T) (fragment.Kind, record.Record){
		"movie": func(t *rapid.T) (fragment.Kind, record.Record) {
			return fragment.KindMovie, record.Of(complete.Base(drawRecord[catalog.Movie](t)).V())
		},
		"tv": func(t *rapid.T) (fragment.Kind, record.Record) {
			return fragment.KindTV, record.Of(complete.Base(drawRecord[catalog.TV](t)).V())
		},
		"season": func(t *rapid.T) (fragment.Kind, record.Record) {
			return fragment.KindSeason, record.Of(complete.Base(drawRecord[catalog.Season](t)).V())
		},
		"episode": func(t *rapid.T) (fragment.Kind, record.Record) {
			return fragment.KindEpisode, record.Of(complete.Base(drawRecord[catalog.Episode](t)).V())
		},
		"person": func(t *rapid.T) (fragment.Kind, record.Record) {
			return fragment.KindPerson, record.Of(complete.Base(drawRecord[catalog.Person](t)).V())
		},
		"collection": func(t *rapid.T) (fragment.Kind, record.Record) {
			return fragment.KindCollection, record.Of(complete.Base(drawRecord[catalog.Collection](t)).V())
		},
		"credit": func(t *rapid.T) (fragment.Kind, record.Record) {
			return fragment.KindCredit, record.Of(complete.Base(drawRecord[catalog.Credit](t)).V())
		},
	} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			k, rec := draw(t)
			if g := rapid.IntRange(0, 2).Draw(t, "genres"); g > 0 && models()[k].genres != nil {
				*models()[k].GenresOf(rec) = complete.Genres(k, []catalog.Genre{{ID: record.Number(18)}, {ID: record.Number(int64(34 + g))}}, "en", "")
			}
			checkChain(t, k, rec)
		}))
	}
}

// TestCutsDoNotShow: however an episode is cut, its details and credits equal its record.
func TestCutsDoNotShow(t *testing.T) {
	r := New()
	rapid.Check(t, func(t *rapid.T) {
		e := drawRecord[catalog.Episode](t)
		crew := record.Text(strings.Repeat("c", rapid.IntRange(0, 2*minApart).Draw(t, "crew")))
		guest := record.Text(strings.Repeat("g", rapid.IntRange(0, 2*minApart).Draw(t, "guest")))
		e.Crew, e.GuestStars = append(e.Crew, catalog.EpisodeCrew{Credited: catalog.Credited{Name: crew}}), append(e.GuestStars, catalog.GuestStar{Credited: catalog.Credited{Name: guest}})
		e.Credits, e.Localized = nil, nil // only the crew and the guest stars determine the credits
		rec := record.Of(e)
		if rapid.Bool().Draw(t, "generic") {
			e.EpisodeNumber, e.Name, e.Overview = record.Number(4), record.Text("Episode 4"), record.Text("")
		}
		e.Details = record.Bool{V: true, Set: true}
		drawn = nil
		c := composer{list: episodeOf(r, e, EpisodeDerived{})}
		credits := &catalog.EpisodeCredits{Cast: []catalog.TVCastCredit{}, Crew: e.Crew, GuestStars: e.GuestStars}
		for _, w := range []struct {
			sub  fragment.Sub
			rec  record.Record
			to   int
			tail string
		}{
			{fragment.SubDetails, rec, rec.Schema.Subs, "}"},
			{fragment.SubCredits, record.Of(credits), len(record.SchemaOf[catalog.EpisodeCredits]().Fields), `,"id":7}`},
		} {
			var f fragments
			f.begin()
			f.buf = record.AppendFields(f.buf, w.rec, 0, w.to)
			f.extra(w.rec)
			if got, want := c.inLanguage(w.sub), string(f.buf)+w.tail; got != want {
				t.Fatalf("%s = %s\nwant %s", w.sub, got, want)
			}
		}
	})
}

func checkChain(t *rapid.T, k fragment.Kind, rec record.Record) {
	r := New()
	drawn = nil
	m := r.start(k)
	r.record(m, rec)
	c := composer{list: r.out.list}
	for i := range r.detail.langs {
		l := &r.detail.langs[i]
		if l.lang == "en" { // empty text falls back to English
			continue
		}
		v := r.detail.translated(m, rec, l)
		r.detail.detail(m, &v)
		c.lang = l.variant
		details := release.FragmentSpec{Address: fragment.Address{Sub: fragment.SubDetails}, Pieces: r.out.end()}
		if got, want := c.inLanguage(fragment.SubDetails), c.answer(details, true); got != want {
			t.Fatalf("details in %s\n = %s\nwant %s", l.variant, got, want)
		}
		for j := range m.rows {
			r.detail.row(m, &m.rows[j], &v)
			row := release.FragmentSpec{Address: fragment.Address{Sub: m.rows[j].sub}, Pieces: r.out.end()}
			if got, want := c.inLanguage(row.Address.Sub), c.answer(row, true); got != want {
				t.Fatalf("%s in %s\n = %s\nwant %s", row.Address, l.variant, got, want)
			}
		}
	}
}
