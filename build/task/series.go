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

// A seriesBuilder builds series with their seasons and episodes. All three record streams are sorted by series. It
// holds the records of at most one season at a time, and a few fields of each for the series.
type seriesBuilder struct {
	t        *titles
	o        *output
	c        *contributor
	near     nearby
	tvs      *records.Cursor[catalog.TV]
	seasons  *records.Cursor[catalog.Season]
	episodes *records.Cursor[catalog.Episode]
	oneSeries
}

// oneSeries is the state of the current series.
type oneSeries struct {
	id int64
	tv *catalog.TV // after complete.Base; nil when only seasons or episodes are known
	// fingerprints has the fingerprint of tv, then of each season with its episodes: the inputs of its details.
	fingerprints []uint64
	credits      *derive.Series
	latest       *catalog.TVCredits // from the last season that has credits, except specials
	infos        []complete.SeasonInfo
	aired        []string                         // air dates of the episodes
	runtimes     []int64                          // minutes of the regular episodes
	last         complete.Record[catalog.Episode] // last aired
	soon         complete.Record[catalog.Episode] // next to air
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
	return m.all(ctx)
}

func (m *seriesBuilder) all(ctx context.Context) error {
	for {
		key, ok := lowest(m.tvs.Peek, m.seasons.Peek, m.episodes.Peek)
		if !ok {
			return cmp.Or(m.tvs.Err(), m.seasons.Err(), m.episodes.Err())
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := m.series(int64(key.Hi)); err != nil {
			return err
		}
		if m.c.err != nil {
			return m.c.err
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

// readInput reads the record at c and adds it to the current inputs, filtered by left unless that is nil.
func readInput[T any](m *seriesBuilder, c *records.Cursor[T], left func(*T) *T) (*T, error) {
	v, err := c.Take()
	if err != nil {
		return nil, err
	}
	m.t.b.advance(1)
	if left != nil && len(m.t.b.inputs.Removed) > 0 {
		v = left(v)
	}
	m.o.inputs.Record(record.Of(v))
	return v, nil
}

// isOf reports whether a key belongs to the current series.
func (m *seriesBuilder) isOf(k catalog.Key) bool { return k.Hi == uint64(m.id) }

// series builds a series with its seasons and episodes.
func (m *seriesBuilder) series(id int64) error {
	m.oneSeries = oneSeries{id: id}
	if k, ok := m.tvs.Peek(); ok && m.isOf(k) {
		given, err := readInput(m, m.tvs, m.seasonsLeft)
		if err != nil {
			return err
		}
		m.tv = complete.Base(given)
	}
	m.fingerprints = append(m.fingerprints, m.o.inputs.Fingerprint())
	var lacks lacking
	if m.tv != nil {
		lacks = lackingOf(m.tv.Recommendations, m.tv.Similar)
	}
	if err := m.near.find(lacks, func(t *neighbours.Title) { t.OfSeries(m.tv) }); err != nil {
		return err
	}
	m.credits = derive.NewSeries(m.tv)
	for {
		key, ok := lowest(m.seasons.Peek, m.episodes.Peek)
		if !ok || !m.isOf(key) {
			break
		}
		if err := m.season(key.Season()); err != nil {
			return err
		}
	}
	if m.tv == nil {
		return nil // the series has no responses, so nothing may refer to it
	}
	return m.details()
}

// season builds a season and its episodes.
func (m *seriesBuilder) season(number uint32) error {
	series := m.seriesOf(number)
	m.o.inputs.Record(record.Of(series))
	var s *catalog.Season
	if k, ok := m.seasons.Peek(); ok && m.isOf(k) && k.Season() == number {
		var err error
		if s, err = readInput(m, m.seasons, m.episodesLeft); err != nil {
			return err
		}
	}
	known := s != nil
	if !known {
		m.o.inputs.Record(record.Of(s))
		s = unknownSeason(m.id, number, series)
	}
	s = complete.Base(s)
	d := render.SeasonDerived{SeasonDerived: complete.SeasonDerived{Series: series}}
	var own []*catalog.Episode
	for {
		k, ok := m.episodes.Peek()
		if !ok || !m.isOf(k) || k.Season() != number {
			break
		}
		e, err := readInput(m, m.episodes, nil)
		if err != nil {
			return err
		}
		var listed *catalog.Episode
		if i := slices.IndexFunc(s.Episodes, func(o catalog.SeasonEpisode) bool { return o.EpisodeNumber.V == e.EpisodeNumber.V }); i >= 0 {
			listed = complete.Listed(s, i)
		}
		d.Episodes = append(d.Episodes, complete.Episode(e, listed))
		own = append(own, d.Episodes[len(own)].V())
	}
	fingerprint := m.o.inputs.Fingerprint()
	m.fingerprints = append(m.fingerprints, fingerprint)
	shown := derive.Broadcasts(s, own)
	m.credits.Season(int64(number), s, shown)
	d.Credits = derive.Regulars(s, series, shown)
	if number > 0 && d.Credits != nil {
		m.latest = d.Credits
	}
	completed := complete.Season(s, d.SeasonDerived)
	key := catalog.SeasonKey(m.id, int64(number))
	spec := m.o.spec(fragment.KindSeason, key, uint64(max(s.ID.V, 0)), fingerprint)
	if known { // the survey reads ids from records only
		spec.Aliases = m.t.owners.ownAlias(fragment.KindSeason, s.ID.V, key)
	}
	err := m.o.Add(spec, func() []release.FragmentSpec {
		if s.AggregateCredits == nil {
			d.Aggregate = derive.SeasonAggregate(s, series, shown)
		}
		return m.o.render.Season(completed, d)
	})
	if err != nil {
		return err
	}
	v := completed.V()
	info := complete.SeasonInfo{Summary: catalog.SeasonSummary{
		AirDate: v.AirDate, EpisodeCount: record.Number(int64(len(shown))), ID: v.ID, Name: v.Name, Overview: v.Overview,
		PosterPath: v.PosterPath, SeasonNumber: v.SeasonNumber, VoteAverage: v.VoteAverage,
	}}
	if v.Translations != nil {
		info.Translations = v.Translations.Translations
	}
	for i := range v.Localized {
		l := &v.Localized[i]
		info.Localized = append(info.Localized, complete.LocalizedName{Language: l.Language.V, Name: l.Name.V, Overview: l.Overview.V})
	}
	m.infos = append(m.infos, info)
	m.c.externalIDs(record.Of(s.ExternalIDs), "", render.Hit{Kind: fragment.KindSeason, ID: uint64(m.id), Season: number})
	return m.allEpisodes(v, d, fingerprint)
}

// seriesOf returns the fields of the series that a season and its episodes depend on, nil for none. Other changes,
// such as of votes, leave their fingerprints alone.
func (m *seriesBuilder) seriesOf(number uint32) *catalog.TV {
	if m.tv == nil {
		return nil
	}
	of := &catalog.TV{OriginalLanguage: m.tv.OriginalLanguage, Networks: m.tv.Networks, Credits: m.tv.Credits}
	for i := range m.tv.Seasons {
		if m.tv.Seasons[i].SeasonNumber.V == int64(number) {
			of.Seasons = append(of.Seasons, m.tv.Seasons[i])
		}
	}
	return of
}

// unknownSeason returns a season of which only episodes have records: its summary in the series, else a generic name.
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

// allEpisodes builds the episodes of a season, each from its own record, else from the season's row. Both lists may
// have gaps. Episodes share the fingerprint of the season, because they are made of the same records.
func (m *seriesBuilder) allEpisodes(s *catalog.Season, season render.SeasonDerived, fingerprint uint64) error {
	d := render.EpisodeDerived{SeriesID: m.id}
	if season.Credits != nil {
		d.Cast = season.Credits.Cast
	}
	done := map[int64]bool{}
	for _, c := range season.Episodes {
		done[c.V().EpisodeNumber.V] = true
		if err := m.episode(c, d, fingerprint); err != nil {
			return err
		}
	}
	for i := range s.Episodes {
		n := s.Episodes[i].EpisodeNumber
		if !derive.IsNumber(n) || done[n.V] {
			continue // it has no path without a number
		}
		done[n.V] = true
		e := complete.Listed(s, i)
		e.SeriesID, e.SeasonNumber = record.Number(m.id), s.SeasonNumber
		if err := m.episode(complete.Episode(e, nil), d, fingerprint); err != nil {
			return err
		}
	}
	return nil
}

func (m *seriesBuilder) episode(c complete.Record[catalog.Episode], d render.EpisodeDerived, fingerprint uint64) error {
	e := c.V()
	key := catalog.EpisodeKey(m.id, e.SeasonNumber.V, e.EpisodeNumber.V)
	spec := m.o.spec(fragment.KindEpisode, key, uint64(max(e.ID.V, 0)), fingerprint)
	spec.Aliases = m.t.owners.ownAlias(fragment.KindEpisode, e.ID.V, key)
	m.c.externalIDs(record.Of(e.ExternalIDs), "", render.Hit{
		Kind: fragment.KindEpisode, ID: uint64(m.id), Season: key.Season(), Episode: key.Episode(),
	})
	m.airs(c)
	return m.o.Add(spec, func() []release.FragmentSpec { return m.o.render.Episode(c, d) })
}

// airs adds an episode to the air dates and, unless it is a special, to the runtimes. It keeps the last aired episode
// and the next one. If the series has no last date, all dated episodes count as aired: a build must not depend on the
// clock.
func (m *seriesBuilder) airs(c complete.Record[catalog.Episode]) {
	e := c.V()
	date := e.AirDate.V
	m.aired = append(m.aired, date)
	if e.SeasonNumber.V < 1 {
		return
	}
	if e.Runtime.V > 0 {
		m.runtimes = append(m.runtimes, e.Runtime.V)
	}
	if date == "" {
		return
	}
	switch {
	case m.tv != nil && m.tv.LastAirDate.V != "" && date > m.tv.LastAirDate.V:
		if next := m.soon.V(); next == nil || date < next.AirDate.V {
			m.soon = c
		}
	case m.last.V() == nil || date >= m.last.V().AirDate.V:
		m.last = c
	}
}

// details builds the series itself.
func (m *seriesBuilder) details() error {
	t := derive.TVTitle(m.tv)
	credits := m.credits.Credits()
	m.c.credits(credits)
	refs(m.c, fragment.KindCompany, &t, m.tv.ProductionCompanies)
	refs(m.c, fragment.KindNetwork, &t, m.tv.Networks)
	if m.tv.Keywords != nil {
		for i := range m.tv.Keywords.Results {
			row := &m.tv.Keywords.Results[i]
			refs(m.c, fragment.KindKeyword, &t, []catalog.Keyword{{Object: row.Object, ID: row.ID, Name: row.Name}}) // the form of movies
		}
	}
	m.c.reviews(&t, m.tv.Name, m.tv.Reviews)
	m.c.externalIDs(record.Of(m.tv.ExternalIDs), "", render.Hit{Kind: fragment.KindTV, ID: uint64(m.id)})
	d := render.SeriesDerived{
		TitleDerived: m.near.derived(), Credits: m.latest,
		SeriesDerived: complete.SeriesDerived{Seasons: m.infos, Last: m.last, Next: m.soon},
	}
	completed := complete.Series(m.tv, d.SeriesDerived)
	for _, fingerprint := range m.fingerprints {
		m.o.inputs.Of(fingerprint)
	}
	m.near.addTo(&m.o.inputs)
	spec := m.o.spec(fragment.KindTV, catalog.NumberKey(m.id), uint64(m.id), m.o.inputs.Fingerprint())
	spec.Aliases = latestAlias(nil, fragment.KindTV, m.id, m.t.b.Plan.Latest[fragment.KindTV])
	err := m.o.Add(spec, func() []release.FragmentSpec {
		if m.tv.AggregateCredits == nil {
			d.Aggregate = derive.Aggregate(credits)
		}
		return m.o.render.Series(completed, d)
	})
	if err != nil {
		return err
	}
	row := index.Series{TV: completed, Aired: m.aired}
	if n := len(m.runtimes); n > 0 {
		slices.Sort(m.runtimes)
		row.Runtime = m.runtimes[(n-1)/2]
	}
	for i := range credits {
		if c := &credits[i]; c.Role == derive.Cast {
			row.Cast = append(row.Cast, c.Person.ID)
		} else {
			row.Crew = append(row.Crew, c.Person.ID)
		}
	}
	return m.c.rows.Series(row)
}

// seasonsLeft returns a series without its removed seasons.
func (m *seriesBuilder) seasonsLeft(given *catalog.TV) *catalog.TV {
	left := func(list []catalog.SeasonSummary) []catalog.SeasonSummary {
		return slices.DeleteFunc(slices.Clone(list), func(s catalog.SeasonSummary) bool {
			return m.t.b.inputs.Removed.Has(fragment.KindSeason, catalog.SeasonKey(m.id, s.SeasonNumber.V))
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
func (m *seriesBuilder) episodesLeft(given *catalog.Season) *catalog.Season {
	left := func(list []catalog.SeasonEpisode) []catalog.SeasonEpisode {
		return slices.DeleteFunc(slices.Clone(list), func(e catalog.SeasonEpisode) bool {
			return m.t.b.inputs.Removed.Has(fragment.KindEpisode, catalog.EpisodeKey(m.id, given.SeasonNumber.V, e.EpisodeNumber.V))
		})
	}
	s := *given
	s.Episodes, s.Localized = left(s.Episodes), slices.Clone(s.Localized)
	for i := range s.Localized {
		s.Localized[i].Episodes = left(s.Localized[i].Episodes)
	}
	return &s
}
