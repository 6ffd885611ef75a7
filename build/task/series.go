package task

import (
	"cmp"
	"context"
	"slices"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/build/derive"
	"github.com/reelsplice/reelsplice/build/index"
	"github.com/reelsplice/reelsplice/build/neighbours"
	"github.com/reelsplice/reelsplice/build/records"
	"github.com/reelsplice/reelsplice/build/render"
	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// A seriesBuilder builds series with their seasons and episodes, one series at a time in three passes: read takes its
// records, completeSeries completes them, write writes its fragments, contributions and rows. The streams of all three
// kinds of records are sorted by series.
type seriesBuilder struct {
	t        *titles
	o        *output
	c        *contributor
	near     nearby
	tvs      *records.Cursor[catalog.TV]
	seasons  *records.Cursor[catalog.Season]
	episodes *records.Cursor[catalog.Episode]
}

// A seriesInput is the given records of a series.
type seriesInput struct {
	id      int64
	tv      *catalog.TV // nil when only seasons or episodes have records
	seasons []seasonInput
}

// A seasonInput is the given records of a season.
type seasonInput struct {
	number   uint32
	season   *catalog.Season    // nil when only episodes have records
	episodes []*catalog.Episode // episodes with records of their own, by number
}

// A seriesOutput is a completed series.
type seriesOutput struct {
	id        int64
	based     complete.Based[catalog.TV]
	completed complete.Record[catalog.TV]
	derived   render.SeriesDerived
	credits   []derive.Credit
	seasons   []seasonOutput
	aired     []string // air dates of the episodes
	runtimes  []int64  // minutes of the regular episodes
}

// A seasonOutput is a completed season with its episodes.
type seasonOutput struct {
	number    uint32
	known     bool        // it has a record
	of        *catalog.TV // the fields of the series that the season depends on
	based     complete.Based[catalog.Season]
	completed complete.Record[catalog.Season]
	derived   render.SeasonDerived
	shown     []derive.Broadcast
	episodes  []complete.Record[catalog.Episode]
}

// series builds the series of a span.
func (t *titles) series(ctx context.Context, o *output, c *contributor, s records.Span) error {
	in := t.b.inputs
	m := &seriesBuilder{
		t: t, o: o, c: c, near: nearby{finder: t.near[fragment.KindTV].Finder()},
		tvs:      records.NewCursor[catalog.TV](in.Of(fragment.KindTV), s),
		seasons:  records.NewCursor[catalog.Season](in.Of(fragment.KindSeason), s),
		episodes: records.NewCursor[catalog.Episode](in.Of(fragment.KindEpisode), s),
	}
	defer m.tvs.Close()
	defer m.seasons.Close()
	defer m.episodes.Close()
	for {
		in, err := m.read()
		if in == nil || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		out := completeSeries(in)
		if err := m.write(out, m.fingerprints(in, out)); err != nil {
			return err
		}
	}
}

// lowest returns the lowest key of several cursors.
func lowest(peeks ...func() (catalog.Key, bool)) (low catalog.Key, found bool) {
	for _, peek := range peeks {
		if k, ok := peek(); ok && (!found || k.Compare(low) < 0) {
			low, found = k, true
		}
	}
	return low, found
}

// read reads the next series; nil at the end.
func (m *seriesBuilder) read() (*seriesInput, error) {
	key, ok := lowest(m.tvs.Peek, m.seasons.Peek, m.episodes.Peek)
	if !ok {
		return nil, cmp.Or(m.tvs.Err(), m.seasons.Err(), m.episodes.Err())
	}
	in := &seriesInput{id: int64(key.Hi)}
	isOf := func(k catalog.Key) bool { return k.Hi == key.Hi }
	if k, ok := m.tvs.Peek(); ok && isOf(k) {
		in.tv = readInput(m, in.id, m.tvs, m.seasonsLeft)
	}
	for {
		next, ok := lowest(m.seasons.Peek, m.episodes.Peek)
		if !ok || !isOf(next) {
			return in, nil
		}
		s := seasonInput{number: next.Season()}
		if k, ok := m.seasons.Peek(); ok && isOf(k) && k.Season() == s.number {
			s.season = readInput(m, in.id, m.seasons, m.episodesLeft)
		}
		for {
			k, ok := m.episodes.Peek()
			if !ok || !isOf(k) || k.Season() != s.number {
				break
			}
			s.episodes = append(s.episodes, readInput(m, in.id, m.episodes, nil))
		}
		in.seasons = append(in.seasons, s)
	}
}

// readInput reads the record at c, filtered by left unless that is nil.
func readInput[T any](m *seriesBuilder, series int64, c *records.Cursor[T], left func(series int64, given *T) *T) *T {
	v := c.Take()
	m.t.b.advance(1)
	if left != nil && len(m.t.b.inputs.Removed) > 0 {
		v = left(series, v)
	}
	return v
}

// seriesFingerprints are the fingerprints of the inputs of a series.
type seriesFingerprints struct {
	tv      uint64   // the record of the series
	seasons []uint64 // each season with its episodes, which share it
}

// fingerprints returns the fingerprints of a series. A season's covers only the fields of the series that it depends
// on: a change of votes, for instance, leaves it alone.
func (m *seriesBuilder) fingerprints(in *seriesInput, out *seriesOutput) (f seriesFingerprints) {
	if in.tv != nil {
		m.o.inputs.Record(record.Of(in.tv))
	}
	f.tv = m.o.inputs.Fingerprint()
	for i := range in.seasons {
		s := &in.seasons[i]
		m.o.inputs.Record(record.Of(out.seasons[i].of))
		m.o.inputs.Record(record.Of(s.season))
		for _, e := range s.episodes {
			m.o.inputs.Record(record.Of(e))
		}
		f.seasons = append(f.seasons, m.o.inputs.Fingerprint())
	}
	return f
}

// completeSeries completes a series with its seasons and episodes.
func completeSeries(in *seriesInput) *seriesOutput {
	out := &seriesOutput{id: in.id}
	if in.tv != nil {
		out.based = complete.Base(in.tv)
	}
	tv, credits := out.based.V(), derive.NewSeries(out.based.V())
	for i := range in.seasons {
		s := completeSeason(in.id, tv, &in.seasons[i])
		credits.Season(int64(s.number), s.based.V(), s.shown)
		if s.number > 0 && s.derived.Credits != nil {
			out.derived.Credits = s.derived.Credits // the latest
		}
		out.derived.Seasons = append(out.derived.Seasons, seasonInfo(&s))
		for _, e := range s.episodes {
			out.airs(e)
		}
		out.seasons = append(out.seasons, s)
	}
	if tv != nil {
		out.credits = credits.Credits()
		out.completed = complete.Series(out.based, out.derived.SeriesDerived)
	}
	return out
}

// completeSeason completes a season with its episodes. tv is nil for a series without a record.
func completeSeason(series int64, tv *catalog.TV, in *seasonInput) seasonOutput {
	out := seasonOutput{number: in.number, known: in.season != nil, of: seriesOf(tv, in.number)}
	given := in.season
	if given == nil {
		given = unknownSeason(series, in.number, out.of)
	}
	out.based = complete.Base(given)
	s := out.based.V()
	out.derived.Series = out.of
	var own []*catalog.Episode
	have := map[int64]bool{}
	for _, e := range in.episodes {
		var listed *catalog.Episode
		if i := slices.IndexFunc(s.Episodes, func(o catalog.SeasonEpisode) bool { return o.EpisodeNumber.V == e.EpisodeNumber.V }); i >= 0 {
			listed = complete.Listed(s, i)
		}
		c := complete.Episode(complete.Base(e), listed)
		out.derived.Episodes, own = append(out.derived.Episodes, c), append(own, c.V())
		have[c.V().EpisodeNumber.V] = true
	}
	out.shown = derive.Broadcasts(s, own)
	out.derived.Credits = derive.Regulars(s, out.of, out.shown)
	out.completed = complete.Season(out.based, out.derived.SeasonDerived)

	// Episodes are built from their own records, then from the season's rows. Both lists may have gaps.
	out.episodes = slices.Clone(out.derived.Episodes)
	for i := range s.Episodes {
		n := s.Episodes[i].EpisodeNumber
		if !derive.IsNumber(n) || have[n.V] {
			continue // it has no path without a number
		}
		have[n.V] = true
		e := complete.Listed(s, i)
		e.SeriesID, e.SeasonNumber = record.Number(series), s.SeasonNumber
		out.episodes = append(out.episodes, complete.Episode(complete.Base(e), nil))
	}
	return out
}

// seriesOf returns the fields of a series that a season and its episodes depend on; nil for nil.
func seriesOf(tv *catalog.TV, number uint32) *catalog.TV {
	if tv == nil {
		return nil
	}
	of := &catalog.TV{OriginalLanguage: tv.OriginalLanguage, Networks: tv.Networks, Credits: tv.Credits}
	for i := range tv.Seasons {
		if tv.Seasons[i].SeasonNumber.V == int64(number) {
			of.Seasons = append(of.Seasons, tv.Seasons[i])
		}
	}
	return of
}

// unknownSeason returns a season without a record of its own: its summary in the series, else a generic name.
func unknownSeason(series int64, number uint32, of *catalog.TV) *catalog.Season {
	s := &catalog.Season{
		SeriesID: record.Number(series), SeasonNumber: record.Number(int64(number)),
		Name: record.Text(reference.SeasonName("en", "", int(number))),
	}
	if of == nil {
		return s
	}
	for i := range of.Seasons {
		t := &of.Seasons[i]
		s.AirDate, s.Name, s.Overview, s.ID = t.AirDate, t.Name, t.Overview, t.ID
		s.PosterPath, s.VoteAverage = t.PosterPath, t.VoteAverage
	}
	return s
}

// seasonInfo returns the fields of a season that the details of its series have.
func seasonInfo(s *seasonOutput) complete.SeasonInfo {
	v := s.completed.V()
	info := complete.SeasonInfo{Summary: catalog.SeasonSummary{
		AirDate: v.AirDate, EpisodeCount: record.Number(int64(len(s.shown))), ID: v.ID, Name: v.Name, Overview: v.Overview,
		PosterPath: v.PosterPath, SeasonNumber: v.SeasonNumber, VoteAverage: v.VoteAverage,
	}}
	if v.Translations != nil {
		info.Translations = v.Translations.Translations
	}
	for i := range v.Localized {
		l := &v.Localized[i]
		info.Localized = append(info.Localized, complete.LocalizedName{Language: l.Language.V, Name: l.Name.V, Overview: l.Overview.V})
	}
	return info
}

// airs adds an episode to the air dates and, unless it is a special, to the runtimes. It keeps the last aired episode
// and the next one. If the series has no last date, all dated episodes count as aired: a build must not depend on the
// clock.
func (s *seriesOutput) airs(c complete.Record[catalog.Episode]) {
	e := c.V()
	date := e.AirDate.V
	s.aired = append(s.aired, date)
	if e.SeasonNumber.V < 1 {
		return
	}
	if e.Runtime.V > 0 {
		s.runtimes = append(s.runtimes, e.Runtime.V)
	}
	if date == "" {
		return
	}
	d, tv := &s.derived.SeriesDerived, s.based.V()
	switch {
	case tv != nil && tv.LastAirDate.V != "" && date > tv.LastAirDate.V:
		if next := d.Next.V(); next == nil || date < next.AirDate.V {
			d.Next = c
		}
	case d.Last.V() == nil || date >= d.Last.V().AirDate.V:
		d.Last = c
	}
}

// write writes a completed series. A series without a record has no responses, so nothing may refer to it.
func (m *seriesBuilder) write(s *seriesOutput, f seriesFingerprints) error {
	for i := range s.seasons {
		if err := m.writeSeason(s.id, &s.seasons[i], f.seasons[i]); err != nil {
			return err
		}
	}
	if s.based.V() == nil {
		return m.c.err
	}
	if err := m.writeDetails(s, f); err != nil {
		return err
	}
	return m.c.err
}

func (m *seriesBuilder) writeSeason(series int64, s *seasonOutput, fingerprint uint64) error {
	key, v := catalog.SeasonKey(series, int64(s.number)), s.based.V()
	spec := m.o.spec(fragment.KindSeason, key, uint64(max(v.ID.V, 0)), fingerprint)
	if s.known { // the survey reads ids from records only
		spec.Aliases = m.t.owners.ownAlias(fragment.KindSeason, v.ID.V, key)
	}
	err := m.o.Add(spec, func() []release.FragmentSpec {
		if v.AggregateCredits == nil {
			s.derived.Aggregate = derive.SeasonAggregate(v, s.of, s.shown)
		}
		return m.o.render.Season(s.completed, s.derived)
	})
	if err != nil {
		return err
	}
	m.c.externalIDs(record.Of(v.ExternalIDs), "", release.Include{Kind: fragment.KindSeason, ID: uint64(series), Season: s.number})
	d := render.EpisodeDerived{SeriesID: series}
	if s.derived.Credits != nil {
		d.Cast = s.derived.Credits.Cast
	}
	for _, c := range s.episodes {
		e := c.V()
		key := catalog.EpisodeKey(series, e.SeasonNumber.V, e.EpisodeNumber.V)
		spec := m.o.spec(fragment.KindEpisode, key, uint64(max(e.ID.V, 0)), fingerprint)
		spec.Aliases = m.t.owners.ownAlias(fragment.KindEpisode, e.ID.V, key)
		m.c.externalIDs(record.Of(e.ExternalIDs), "", release.Include{
			Kind: fragment.KindEpisode, ID: uint64(series), Season: key.Season(), Episode: key.Episode(),
		})
		if err := m.o.Add(spec, func() []release.FragmentSpec { return m.o.render.Episode(c, d) }); err != nil {
			return err
		}
	}
	return nil
}

// writeDetails writes the series itself.
func (m *seriesBuilder) writeDetails(s *seriesOutput, f seriesFingerprints) error {
	tv := s.based.V()
	if err := m.near.find(lackingOf(tv.Recommendations, tv.Similar), func(t *neighbours.Title) { t.OfSeries(s.based) }); err != nil {
		return err
	}
	s.derived.TitleDerived = m.near.derived()
	m.contribute(s)
	m.o.inputs.Of(f.tv)
	for _, fingerprint := range f.seasons {
		m.o.inputs.Of(fingerprint)
	}
	m.near.addTo(&m.o.inputs)
	spec := m.o.spec(fragment.KindTV, catalog.NumberKey(s.id), uint64(s.id), m.o.inputs.Fingerprint())
	spec.Aliases = latestAlias(nil, fragment.KindTV, s.id, m.t.b.Plan.Latest[fragment.KindTV])
	err := m.o.Add(spec, func() []release.FragmentSpec {
		if tv.AggregateCredits == nil {
			s.derived.Aggregate = derive.Aggregate(s.credits)
		}
		return m.o.render.Series(s.completed, s.derived)
	})
	if err != nil {
		return err
	}
	row := index.Series{TV: s.completed, Aired: s.aired}
	if n := len(s.runtimes); n > 0 {
		slices.Sort(s.runtimes)
		row.Runtime = s.runtimes[(n-1)/2]
	}
	for i := range s.credits {
		if c := &s.credits[i]; c.Role == derive.Cast {
			row.Cast = append(row.Cast, c.Person.ID)
		} else {
			row.Crew = append(row.Crew, c.Person.ID)
		}
	}
	return m.c.rows.Series(row)
}

// contribute adds a series to the resources that it refers to.
func (m *seriesBuilder) contribute(s *seriesOutput) {
	tv := s.based.V()
	t := derive.TVTitle(tv)
	m.c.credits(s.credits)
	refs(m.c, fragment.KindCompany, &t, tv.ProductionCompanies)
	refs(m.c, fragment.KindNetwork, &t, tv.Networks)
	if tv.Keywords != nil {
		for i := range tv.Keywords.Results {
			row := &tv.Keywords.Results[i]
			refs(m.c, fragment.KindKeyword, &t, []catalog.Keyword{{Object: row.Object, ID: row.ID, Name: row.Name}}) // the form of movies
		}
	}
	m.c.reviews(&t, tv.Name, tv.Reviews)
	m.c.externalIDs(record.Of(tv.ExternalIDs), "", release.Include{Kind: fragment.KindTV, ID: uint64(s.id)})
}

// seasonsLeft returns a series without its removed seasons.
func (m *seriesBuilder) seasonsLeft(id int64, given *catalog.TV) *catalog.TV {
	left := func(list []catalog.SeasonSummary) []catalog.SeasonSummary {
		return slices.DeleteFunc(slices.Clone(list), func(s catalog.SeasonSummary) bool {
			return m.t.b.inputs.Removed.Has(fragment.KindSeason, catalog.SeasonKey(id, s.SeasonNumber.V))
		})
	}
	tv := *given
	tv.Seasons, tv.Localized = left(tv.Seasons), slices.Clone(tv.Localized)
	for i := range tv.Localized {
		tv.Localized[i].Seasons = left(tv.Localized[i].Seasons)
	}
	return &tv
}

// episodesLeft returns a season without its removed episodes: episodes are built from its lists.
func (m *seriesBuilder) episodesLeft(id int64, given *catalog.Season) *catalog.Season {
	left := func(list []catalog.SeasonEpisode) []catalog.SeasonEpisode {
		return slices.DeleteFunc(slices.Clone(list), func(e catalog.SeasonEpisode) bool {
			return m.t.b.inputs.Removed.Has(fragment.KindEpisode, catalog.EpisodeKey(id, given.SeasonNumber.V, e.EpisodeNumber.V))
		})
	}
	s := *given
	s.Episodes, s.Localized = left(s.Episodes), slices.Clone(s.Localized)
	for i := range s.Localized {
		s.Localized[i].Episodes = left(s.Localized[i].Episodes)
	}
	return &s
}
