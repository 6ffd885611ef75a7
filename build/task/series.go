package task

import (
	"cmp"
	"context"

	"github.com/reelsplice/reelsplice/build/derive"
	"github.com/reelsplice/reelsplice/build/index"
	"github.com/reelsplice/reelsplice/build/neighbours"
	"github.com/reelsplice/reelsplice/build/records"
	"github.com/reelsplice/reelsplice/build/render"
	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A seriesBuilder builds series with their seasons and episodes. The records of all
// three are sorted by series, so that one series after another passes by; it holds no
// more than one season's records at a time, and a few fields of each for the series.
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

// oneSeries is the series at hand, as far as its records have passed by.
type oneSeries struct {
	id int64
	tv *catalog.TV // nil when only seasons or episodes are known
	// fingerprints are those of tv and then of each season with its episodes: the inputs of its
	// details.
	fingerprints []uint64
	credits      *derive.Series
	latest       *catalog.TVCredits // of the last season that has some, besides specials
	infos        []render.SeasonInfo
	aired        []string         // air dates of the episodes
	lasted       map[int64]int    // how many episodes have a runtime
	last         *catalog.Episode // on the air
	soon         *catalog.Episode // the next one
}

// series builds the series of a span.
func (t *titles) series(ctx context.Context, o *output, c *contributor, s records.Span) error {
	in := t.b.inputs
	m := &seriesBuilder{
		t: t, o: o, c: c, near: nearby{finder: t.near[fragment.KindTV].Finder()},
		tvs:      records.NewCursor[catalog.TV](in.Of(fragment.KindTV), s, t.b.skip(fragment.KindTV)),
		seasons:  records.NewCursor[catalog.Season](in.Of(fragment.KindSeason), s, t.b.skip(fragment.KindSeason)),
		episodes: records.NewCursor[catalog.Episode](in.Of(fragment.KindEpisode), s, t.b.skip(fragment.KindEpisode)),
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

// lowest returns the lowest of the keys that cursors stand at.
func lowest(peeks ...func() (catalog.Key, bool)) (low catalog.Key, found bool) {
	for _, peek := range peeks {
		if k, ok := peek(); ok && (!found || k.Compare(low) < 0) {
			low, found = k, true
		}
	}
	return low, found
}

// take reads the record that c stands at, and adds it to the inputs at hand.
func take[T any](m *seriesBuilder, c *records.Cursor[T]) (*T, error) {
	v, err := c.Take()
	if err != nil {
		return nil, err
	}
	m.t.b.advance(1)
	render.Base(c.Kind(), record.Of(v))
	switch v := any(v).(type) {
	case *catalog.TV:
		m.dropSeasons(v)
	case *catalog.Season:
		m.dropEpisodes(v)
	}
	m.o.inputs.Record(record.Of(v))
	return v, nil
}

// isOf reports whether a key belongs to the series at hand.
func (m *seriesBuilder) isOf(k catalog.Key) bool { return k.Hi == uint64(m.id) }

// series builds a series with its seasons and episodes.
func (m *seriesBuilder) series(id int64) error {
	m.oneSeries = oneSeries{id: id, lasted: map[int64]int{}}
	if k, ok := m.tvs.Peek(); ok && m.isOf(k) {
		var err error
		if m.tv, err = take(m, m.tvs); err != nil {
			return err
		}
	}
	m.fingerprints = append(m.fingerprints, m.o.inputs.Fingerprint())
	var lacks lacking
	if m.tv != nil {
		lacks = lackingOf(m.tv.Recommendations, m.tv.Similar)
	}
	if err := m.near.of(lacks, func(t *neighbours.Title) { t.OfSeries(m.tv) }); err != nil {
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
		return nil // nothing answers for the series, so nothing may refer to it
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
		if s, err = take(m, m.seasons); err != nil {
			return err
		}
	}
	known := s != nil
	if !known {
		m.o.inputs.Record(record.Of(s))
		s = unknownSeason(m.id, number, series)
	}
	var own []*catalog.Episode
	for {
		k, ok := m.episodes.Peek()
		if !ok || !m.isOf(k) || k.Season() != number {
			break
		}
		e, err := take(m, m.episodes)
		if err != nil {
			return err
		}
		own = append(own, e)
	}
	fingerprint := m.o.inputs.Fingerprint()
	m.fingerprints = append(m.fingerprints, fingerprint)
	fillEpisodes(own, s)
	shown := derive.Broadcasts(s, own)
	m.credits.Season(int64(number), s, shown)
	regulars := derive.Regulars(s, series, shown)
	if number > 0 && regulars != nil {
		m.latest = regulars
	}
	d := render.SeasonDerived{Series: series, Episodes: own, Credits: regulars}
	key := catalog.SeasonKey(m.id, int64(number))
	spec := m.o.spec(fragment.KindSeason, key, uint64(max(s.ID.V, 0)), fingerprint)
	if known { // the survey reads the ids of records alone
		spec.Aliases = m.t.owners.ownAlias(fragment.KindSeason, s.ID.V, key)
	}
	err := m.o.add(spec, func() []render.Fragment {
		if s.AggregateCredits == nil {
			d.Aggregate = derive.SeasonAggregate(s, series, shown)
		}
		return m.o.render.Season(s, d)
	})
	if err != nil {
		return err
	}
	render.CompleteSeason(s, d)
	m.remember(s, len(shown))
	m.c.externalIDs(record.Of(s.ExternalIDs), "", render.Hit{Kind: fragment.KindSeason, ID: uint64(m.id), Season: number})
	return m.allEpisodes(s, own, regulars, fingerprint)
}

// seriesOf returns what a season and its episodes get of their series, nil for nothing: if all else of
// it changes, such as its votes, their fingerprints stay.
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

// unknownSeason is a season of which only episodes have records: what the details of
// its series say of it, else its generic name.
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

// fillEpisodes gives episodes that a dump gave by themselves the details that only
// their season has: crawls of single sub-requests have none. What nobody knows becomes
// the API's empty values.
func fillEpisodes(own []*catalog.Episode, s *catalog.Season) {
	for _, e := range own {
		for i := range s.Episodes {
			if s.Episodes[i].EpisodeNumber.V != e.EpisodeNumber.V {
				continue
			}
			listed := render.EpisodeOf(s, i)
			dst, src := record.Of(e), record.Of(listed)
			for j := range dst.Schema.Subs {
				if f := &dst.Schema.Fields[j]; !record.Present(dst, f) && record.Present(src, f) {
					record.Copy(dst, src, f)
				}
			}
			if listed.Details.Set {
				e.Details = listed.Details
			}
			break
		}
		render.Complete(fragment.KindEpisode, record.Of(e))
	}
}

// allEpisodes builds the episodes of a season: each by its own record, else as the
// season has it. Both lists may have gaps. regulars may be nil. The fingerprint of the season is that
// of each episode too: they are made of the same records.
func (m *seriesBuilder) allEpisodes(s *catalog.Season, own []*catalog.Episode, regulars *catalog.TVCredits, fingerprint uint64) error {
	d := render.EpisodeDerived{SeriesID: m.id}
	if regulars != nil {
		d.Cast = regulars.Cast
	}
	done := map[int64]bool{}
	for _, e := range own {
		done[e.EpisodeNumber.V] = true
		if err := m.episode(e, d, fingerprint); err != nil {
			return err
		}
	}
	for i := range s.Episodes {
		n := s.Episodes[i].EpisodeNumber
		if !derive.IsNumber(n) || done[n.V] {
			continue // without a number there is no path to it
		}
		done[n.V] = true
		e := render.EpisodeOf(s, i)
		e.SeriesID, e.SeasonNumber = record.Number(m.id), s.SeasonNumber
		if err := m.episode(e, d, fingerprint); err != nil {
			return err
		}
	}
	return nil
}

func (m *seriesBuilder) episode(e *catalog.Episode, d render.EpisodeDerived, fingerprint uint64) error {
	key := catalog.EpisodeKey(m.id, e.SeasonNumber.V, e.EpisodeNumber.V)
	spec := m.o.spec(fragment.KindEpisode, key, uint64(max(e.ID.V, 0)), fingerprint)
	spec.Aliases = m.t.owners.ownAlias(fragment.KindEpisode, e.ID.V, key)
	m.c.externalIDs(record.Of(e.ExternalIDs), "", render.Hit{
		Kind: fragment.KindEpisode, ID: uint64(m.id), Season: key.Season(), Episode: key.Episode(),
	})
	m.airs(e)
	return m.o.add(spec, func() []render.Fragment { return m.o.render.Episode(e, d) })
}

// airs remembers when an episode was on the air, and the last one that was and the one
// after it: specials do not count there. Where the series says no last date, all episodes with a date count as
// aired: a build does not ask for the time, since equal catalogues give equal releases.
func (m *seriesBuilder) airs(e *catalog.Episode) {
	date := e.AirDate.V
	m.aired = append(m.aired, date)
	if e.Runtime.V > 0 {
		m.lasted[e.Runtime.V]++
	}
	if e.SeasonNumber.V < 1 || date == "" {
		return
	}
	switch {
	case m.tv != nil && m.tv.LastAirDate.V != "" && date > m.tv.LastAirDate.V:
		if m.soon == nil || date < m.soon.AirDate.V {
			m.soon = e
		}
	case m.last == nil || date >= m.last.AirDate.V:
		m.last = e
	}
}

// remember keeps the fields of a season that the details of the series have.
func (m *seriesBuilder) remember(s *catalog.Season, episodes int) {
	info := render.SeasonInfo{Summary: catalog.SeasonSummary{
		AirDate: s.AirDate, EpisodeCount: record.Number(int64(episodes)), ID: s.ID, Name: s.Name, Overview: s.Overview,
		PosterPath: s.PosterPath, SeasonNumber: s.SeasonNumber, VoteAverage: s.VoteAverage,
	}}
	if s.Translations != nil {
		info.Translations = s.Translations.Translations
	}
	for i := range s.Localized {
		l := &s.Localized[i]
		info.Localized = append(info.Localized, render.LocalizedName{Language: l.Language.V, Name: l.Name.V, Overview: l.Overview.V})
	}
	m.infos = append(m.infos, info)
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
			refs(m.c, fragment.KindKeyword, &t, []catalog.Keyword{{Object: row.Object, ID: row.ID, Name: row.Name}}) // as movies have it
		}
	}
	m.c.reviews(&t, m.tv.Name, m.tv.Reviews)
	m.c.externalIDs(record.Of(m.tv.ExternalIDs), "", render.Hit{Kind: fragment.KindTV, ID: uint64(m.id)})
	for _, e := range []*catalog.Episode{m.last, m.soon} {
		if e != nil {
			render.Complete(fragment.KindEpisode, record.Of(e))
		}
	}
	d := render.TVDerived{TitleDerived: m.near.derived(), Credits: m.latest, Seasons: m.infos, Last: m.last, Next: m.soon}
	for _, fingerprint := range m.fingerprints {
		m.o.inputs.Of(fingerprint)
	}
	m.near.addTo(&m.o.inputs)
	spec := m.o.spec(fragment.KindTV, catalog.NumberKey(m.id), uint64(m.id), m.o.inputs.Fingerprint())
	spec.Aliases = latestAlias(nil, fragment.KindTV, m.id, m.t.b.Plan.Latest[fragment.KindTV])
	err := m.o.add(spec, func() []render.Fragment {
		if m.tv.AggregateCredits == nil {
			d.Aggregate = derive.Aggregate(credits)
		}
		return m.o.render.TV(m.tv, d)
	})
	if err != nil {
		return err
	}
	render.CompleteTV(m.tv, d)
	row := index.Series{TV: m.tv, Aired: m.aired, Runtime: mostFrequent(m.lasted)}
	for i := range credits {
		if c := &credits[i]; c.Role == derive.Cast {
			row.Cast = append(row.Cast, c.Person.ID)
		} else {
			row.Crew = append(row.Crew, c.Person.ID)
		}
	}
	return m.c.rows.Series(row)
}

// mostFrequent returns the number that is counted most often, of several the lowest; 0 for
// none.
func mostFrequent(counts map[int64]int) int64 {
	var best int64
	for n, count := range counts {
		if count > counts[best] || count == counts[best] && n < best {
			best = n
		}
	}
	return best
}
