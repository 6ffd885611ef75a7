package render

import (
	"slices"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/build/derive"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// Person returns the fragments of a person.
func (r *Renderer) Person(c complete.Record[catalog.Person], d PersonDerived) []release.FragmentSpec {
	m := r.start(fragment.KindPerson)
	v := *c.V()
	p := &v
	r.detail.baseName = p.Name.V
	if p.ExternalIDs == nil && p.IMDbID.V != "" {
		p.ExternalIDs = &catalog.PersonExternalIDs{IMDbID: p.IMDbID}
	}
	// The lists of credits are made consistent: the combined one has the movie credits, then the series credits.
	movies, series, all := p.MovieCredits, p.TVCredits, p.CombinedCredits
	switch {
	case all != nil:
		if movies == nil {
			p.MovieCredits = creditsOf(all, "movie")
		}
		if series == nil {
			p.TVCredits = creditsOf(all, "tv")
		}
	case movies != nil && series != nil:
		p.CombinedCredits = &catalog.PersonCredits{
			Cast: slices.Concat(withMediaType(movies.Cast, "movie"), withMediaType(series.Cast, "tv")),
			Crew: slices.Concat(withMediaType(movies.Crew, "movie"), withMediaType(series.Crew, "tv")),
		}
	}
	derived := p.MovieCredits == nil && p.TVCredits == nil && p.CombinedCredits == nil
	r.record(m, record.Of(p))
	for _, s := range []struct {
		sub      fragment.Sub
		recorded *catalog.PersonCredits
		kind     fragment.Kind // 0 for both
	}{
		{fragment.SubMovieCredits, p.MovieCredits, fragment.KindMovie},
		{fragment.SubTVCredits, p.TVCredits, fragment.KindTV},
		{fragment.SubCombinedCredits, p.CombinedCredits, 0},
	} {
		// If all credits are derived, the edge selects one kind.
		if s.recorded == nil && (s.kind == 0 || !derived) {
			r.out.filmography(m.sub(s.sub), s.kind, d.Credits, p)
		}
	}
	r.knownFor(p, d.KnownFor)
	return r.out.list
}

// withMediaType returns rows with their media type.
func withMediaType(rows []catalog.PersonCredit, media string) []catalog.PersonCredit {
	out := append([]catalog.PersonCredit{}, rows...)
	for i := range out {
		out[i].MediaType = record.Text(media)
	}
	return out
}

// creditsOf returns the combined credits of one media type, in the form of that type's list.
func creditsOf(all *catalog.PersonCredits, media string) *catalog.PersonCredits {
	only := func(rows []catalog.PersonCredit) []catalog.PersonCredit {
		out := []catalog.PersonCredit{}
		for i := range rows {
			if rows[i].MediaType.V == media {
				credit := rows[i]
				credit.MediaType = record.String{}
				out = append(out, credit)
			}
		}
		return out
	}
	return &catalog.PersonCredits{Cast: only(all.Cast), Crew: only(all.Crew)}
}

// filmography adds derived credits in titles of one kind, or of both for 0: movies, then series. The rows of the
// titles are included. Recorded credits of one kind replace the derived ones in the combined list.
func (f *fragments) filmography(s *sub, kind fragment.Kind, credits []derive.Credit, p *catalog.Person) {
	var movies, series *catalog.PersonCredits
	if kind == 0 {
		movies, series = p.MovieCredits, p.TVCredits
	}
	f.begin()
	remaining := maxIncludes
	for _, list := range [...]struct {
		open string
		cast bool
	}{{`"cast":[`, true}, {`],"crew":[`, false}} {
		f.text(list.open)
		f.recordedCredits(movies, list.cast, "movie")
		for i := range credits {
			c := &credits[i]
			if kind != 0 && c.Title.Kind != kind || (c.Role == derive.Cast) != list.cast || remaining == 0 {
				continue
			}
			if c.Title.Kind == fragment.KindMovie && movies != nil || c.Title.Kind == fragment.KindTV && series != nil {
				continue
			}
			remaining--
			f.comma()
			f.credit(c)
			if kind == 0 {
				f.string(`,"media_type":`, fragment.MediaTypeOf(c.Title.Kind))
			}
			f.text("}")
		}
		f.recordedCredits(series, list.cast, "tv")
	}
	f.text("]")
	f.cut()
	f.pieces = append(f.pieces, release.PieceSpec{Op: release.OpIDEnd})
	f.addUnlessEmpty(s, fragment.Base)
}

// recordedCredits writes the rows of a recorded list as rows of the combined one.
func (f *fragments) recordedCredits(c *catalog.PersonCredits, cast bool, media string) {
	if c == nil {
		return
	}
	rows := c.Crew
	if cast {
		rows = c.Cast
	}
	rows = withMediaType(rows, media)
	for i := range rows {
		f.comma()
		f.buf = record.Append(f.buf, record.Of(&rows[i]))
	}
}

// credit writes a title and a person's credit in it, without the media type. Creators are crew, without a number of
// episodes.
func (f *fragments) credit(c *derive.Credit) {
	f.row(release.Include{Kind: c.Title.Kind, ID: uint64(c.Title.ID), Sub: fragment.SubRow})
	series := c.Title.Kind == fragment.KindTV && c.Role != derive.Creator
	if c.Role == derive.Cast {
		f.string(`,"character":`, c.Character)
	}
	f.string(`,"credit_id":`, c.ID)
	if c.Role == derive.Cast && c.Title.Kind != fragment.KindTV {
		f.int(`,"order":`, c.Order)
	}
	if c.Role != derive.Cast {
		f.string(`,"department":`, c.Department)
	}
	if series {
		f.int(`,"episode_count":`, c.EpisodeCount)
		f.stringOrNull(`,"first_credit_air_date":`, c.FirstAirDate)
	}
	if c.Role != derive.Cast {
		f.string(`,"job":`, c.Job)
	}
}

// knownFor adds the field known_for of the person's rows. Every person has it, because other resources include it.
func (r *Renderer) knownFor(p *catalog.Person, derived []derive.Title) {
	f := &r.out
	f.begin()
	if p.KnownFor == nil {
		f.text(`"known_for":[`)
		for _, t := range derived {
			f.comma()
			f.row(release.Include{Kind: t.Kind, ID: uint64(t.ID), Sub: fragment.SubMediaRow})
			f.text("}")
		}
		f.text("]")
	} else {
		f.writeKnownFor(p.KnownFor)
	}
	f.add(fragment.Address{Sub: fragment.SubKnownFor}, f.end())
	for i := range r.detail.langs {
		l := &r.detail.langs[i]
		if l.crawl.IsNil() {
			continue
		}
		if rows := record.As[catalog.LocalizedPerson](l.crawl).KnownFor; rows != nil {
			f.begin()
			f.writeKnownFor(rows)
			f.addTo(fragment.Address{Sub: fragment.SubKnownFor}, l.variants(), f.end())
		}
	}
}

// writeKnownFor writes the field known_for from the record.
func (f *fragments) writeKnownFor(rows []catalog.MediaRow) {
	f.text(`"known_for":[`)
	for i := range rows {
		f.comma()
		f.buf = record.Append(f.buf, record.Of(&rows[i]))
	}
	f.text("]")
}
