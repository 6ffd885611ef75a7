package build

import (
	"cmp"
	"context"

	"reelsplice/build/derive"
	"reelsplice/build/index"
	"reelsplice/build/neighbours"
	"reelsplice/build/render"
	"reelsplice/data/reference"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// A seriesMapper builds series with their seasons and episodes. The records of all
// three are sorted by series, so that one series after another passes by; it holds no
// more than one season's records at a time, beside what the series needs of each.
type seriesMapper struct {
	b        *builder
	o        *output
	e        *emitter
	near     titleNear
	tvs      *cursor[catalog.TV]
	seasons  *cursor[catalog.Season]
	episodes *cursor[catalog.Episode]

	// Of the series at hand:
	id      int64
	tv      *catalog.TV // nil when only seasons or episodes are known
	credits *derive.Series
	latest  *catalog.TVCredits // of the last season that has some, but for specials
	infos   []render.SeasonInfo
	aired   []string         // air dates of the episodes
	lasted  map[int64]int    // how many episodes have a runtime
	last    *catalog.Episode // on the air
	soon    *catalog.Episode // the next one
}

// mapSeries builds a shard of series and sends what they say of other resources.
func (b *builder) mapSeries(ctx context.Context, o *output, s span) error {
	m := &seriesMapper{
		b: b, o: o, e: b.newEmitter(), near: titleNear{finder: b.plan.neighbours[fragment.KindTV].Finder()},
		tvs:      newCursor[catalog.TV](b.inputs[fragment.KindTV], s),
		seasons:  newCursor[catalog.Season](b.inputs[fragment.KindSeason], s),
		episodes: newCursor[catalog.Episode](b.inputs[fragment.KindEpisode], s),
	}
	m.tvs.skip, m.seasons.skip, m.episodes.skip = b.skips(fragment.KindTV), b.skips(fragment.KindSeason), b.skips(fragment.KindEpisode)
	defer m.tvs.close()
	defer m.seasons.close()
	defer m.episodes.close()
	m.e.keep(m.all(ctx))
	return m.e.close()
}

func (m *seriesMapper) all(ctx context.Context) error {
	for {
		id, ok := m.next()
		if !ok {
			return cmp.Or(m.tvs.err, m.seasons.err, m.episodes.err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := m.series(int64(id)); err != nil {
			return err
		}
		if m.e.err != nil {
			return m.e.err
		}
	}
}

// next returns the lowest series that any record is of.
func (m *seriesMapper) next() (id uint64, found bool) {
	least := func(k catalog.Key, ok bool) {
		if ok && (!found || k.Hi < id) {
			id, found = k.Hi, true
		}
	}
	least(m.tvs.peek())
	least(m.seasons.peek())
	least(m.episodes.peek())
	return id, found
}

// take reads the record that c stands at.
func take[T any](m *seriesMapper, c *cursor[T]) (*T, error) {
	v, err := c.take()
	if err != nil {
		return nil, err
	}
	m.b.advance(1)
	render.Base(c.in.typ.Kind, record.Of(v))
	switch v := any(v).(type) {
	case *catalog.TV:
		m.dropSeasons(v)
	case *catalog.Season:
		m.dropEpisodes(v)
	}
	return v, nil
}

// isOf tells whether a key is of the series at hand.
func (m *seriesMapper) isOf(k catalog.Key) bool { return k.Hi == uint64(m.id) }

// series builds a series with its seasons and episodes.
func (m *seriesMapper) series(id int64) error {
	m.id = id
	m.tv, m.latest, m.infos, m.aired, m.last, m.soon = nil, nil, nil, m.aired[:0], nil, nil
	m.lasted = map[int64]int{}
	if k, ok := m.tvs.peek(); ok && m.isOf(k) {
		var err error
		if m.tv, err = take(m, m.tvs); err != nil {
			return err
		}
	}
	var lacks lacking
	if m.tv != nil {
		lacks = lackingOf(m.tv.Recommendations, m.tv.Similar)
	}
	if err := m.near.of(lacks, func(t *neighbours.Title) { t.OfSeries(m.tv) }); err != nil {
		return err
	}
	m.credits = derive.NewSeries(m.tv)
	for {
		number, ok := m.nextSeason()
		if !ok {
			break
		}
		if err := m.season(number); err != nil {
			return err
		}
	}
	if m.tv == nil {
		return nil // nothing answers for the series, so nothing may refer to it
	}
	return m.details()
}

// nextSeason returns the lowest season of the series that any record is of.
func (m *seriesMapper) nextSeason() (number uint32, found bool) {
	least := func(k catalog.Key, ok bool) {
		if ok && k.Hi == uint64(m.id) && (!found || k.Season() < number) {
			number, found = k.Season(), true
		}
	}
	least(m.seasons.peek())
	least(m.episodes.peek())
	return number, found
}

// season builds a season and its episodes.
func (m *seriesMapper) season(number uint32) error {
	var s *catalog.Season
	if k, ok := m.seasons.peek(); ok && m.isOf(k) && k.Season() == number {
		var err error
		if s, err = take(m, m.seasons); err != nil {
			return err
		}
	}
	var own []*catalog.Episode
	for {
		k, ok := m.episodes.peek()
		if !ok || !m.isOf(k) || k.Season() != number {
			break
		}
		e, err := take(m, m.episodes)
		if err != nil {
			return err
		}
		own = append(own, e)
	}
	known := s != nil
	if !known {
		s = m.unknownSeason(number)
	}
	fillEpisodes(own, s)
	shown := derive.Broadcasts(s, own)
	m.credits.Season(int64(number), s, shown)
	regulars := derive.Regulars(s, m.tv, shown)
	if number > 0 && regulars != nil {
		m.latest = regulars
	}
	d := render.SeasonDerived{Series: m.tv, Episodes: own, Credits: regulars}
	if s.AggregateCredits == nil {
		d.Aggregate = derive.SeasonAggregate(s, m.tv, shown)
	}
	key := catalog.SeasonKey(m.id, int64(number))
	spec := m.o.spec(fragment.KindSeason, key, uint64(max(s.ID.V, 0)))
	if known { // the plan knows the ids of records alone
		spec.Aliases = m.b.plan.ownAlias(fragment.KindSeason, s.ID.V, key)
	}
	if err := m.o.add(spec, m.o.render.Season(s, d)); err != nil {
		return err
	}
	m.remember(s, len(shown)) // rendering has completed it
	m.e.externalIDs(record.Of(s.ExternalIDs), "", hit{kind: fragment.KindSeason, id: uint64(m.id), season: number})
	return m.allEpisodes(s, own, regulars)
}

// unknownSeason is a season of which only episodes have records: what the details of
// its series say of it, else its generic name.
func (m *seriesMapper) unknownSeason(number uint32) *catalog.Season {
	s := &catalog.Season{
		SeriesID: record.Number(m.id), SeasonNumber: record.Number(int64(number)),
		Name: record.Text(reference.SeasonName("en", "", int(number))),
	}
	if m.tv == nil {
		return s
	}
	for i := range m.tv.Seasons {
		t := &m.tv.Seasons[i]
		if t.SeasonNumber.V == int64(number) {
			s.AirDate, s.Name, s.Overview, s.ID = t.AirDate, t.Name, t.Overview, t.ID
			s.PosterPath, s.VoteAverage = t.PosterPath, t.VoteAverage
		}
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
		render.CompleteEpisode(e)
	}
}

// allEpisodes builds the episodes of a season: each by its own record, else as the
// season has it. Both lists may have gaps. regulars may be nil.
func (m *seriesMapper) allEpisodes(s *catalog.Season, own []*catalog.Episode, regulars *catalog.TVCredits) error {
	d := render.EpisodeDerived{SeriesID: m.id}
	if regulars != nil {
		d.Cast = regulars.Cast
	}
	done := map[int64]bool{}
	for _, e := range own {
		done[e.EpisodeNumber.V] = true
		if err := m.episode(e, d); err != nil {
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
		if err := m.episode(e, d); err != nil {
			return err
		}
	}
	return nil
}

func (m *seriesMapper) episode(e *catalog.Episode, d render.EpisodeDerived) error {
	key := catalog.EpisodeKey(m.id, e.SeasonNumber.V, e.EpisodeNumber.V)
	spec := m.o.spec(fragment.KindEpisode, key, uint64(max(e.ID.V, 0)))
	spec.Aliases = m.b.plan.ownAlias(fragment.KindEpisode, e.ID.V, key)
	m.e.externalIDs(record.Of(e.ExternalIDs), "", hit{
		kind: fragment.KindEpisode, id: uint64(m.id), season: key.Season(), episode: key.Episode(),
	})
	m.airs(e)
	return m.o.add(spec, m.o.render.Episode(e, d))
}

// airs remembers when an episode was on the air, and the last one that was and the one
// after it: specials do not count there. Where the series says no last date, all episodes with a date count as
// aired: a build does not ask for the time, since equal catalogues give equal releases.
func (m *seriesMapper) airs(e *catalog.Episode) {
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

// remember keeps what the details of the series say of a season.
func (m *seriesMapper) remember(s *catalog.Season, episodes int) {
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
func (m *seriesMapper) details() error {
	t := derive.TVTitle(m.tv)
	credits := m.credits.Credits()
	m.e.credits(credits)
	m.e.companies(&t, m.tv.ProductionCompanies)
	for i := range m.tv.Networks {
		n := &m.tv.Networks[i]
		m.e.ref(fragment.KindNetwork, n.ID.V, &t, record.Of(n))
	}
	if m.tv.Keywords != nil {
		for i := range m.tv.Keywords.Results {
			k := &m.tv.Keywords.Results[i]
			m.e.ref(fragment.KindKeyword, k.ID.V, &t, record.Of(k))
		}
	}
	m.e.reviews(&t, m.tv.Name, m.tv.Reviews)
	m.e.externalIDs(record.Of(m.tv.ExternalIDs), "", hit{kind: fragment.KindTV, id: uint64(m.id)})
	d := render.TVDerived{TitleDerived: m.near.derived(), Credits: m.latest, Seasons: m.infos, Last: m.last, Next: m.soon}
	if m.tv.AggregateCredits == nil {
		d.Aggregate = derive.Aggregate(credits)
	}
	spec := m.o.spec(fragment.KindTV, catalog.NumberKey(m.id), uint64(m.id))
	spec.Aliases = m.b.latestAlias(nil, fragment.KindTV, m.id)
	if err := m.o.add(spec, m.o.render.TV(m.tv, d)); err != nil {
		return err
	}
	row := index.Series{TV: m.tv, Aired: m.aired, Runtime: mostFrequent(m.lasted)}
	for i := range credits {
		if c := &credits[i]; c.Role == derive.Cast {
			row.Cast = append(row.Cast, c.Person.ID)
		} else {
			row.Crew = append(row.Crew, c.Person.ID)
		}
	}
	return m.e.rows.Series(row)
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
