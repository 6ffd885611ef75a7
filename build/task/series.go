package task

import (
	"cmp"
	"context"
	"slices"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/build/derive"
	"github.com/reelsplice/reelsplice/build/index"
	"github.com/reelsplice/reelsplice/build/neighbours"
	"github.com/reelsplice/reelsplice/build/render"
	"github.com/reelsplice/reelsplice/build/work"
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
	near     neighbourFinder
	tvs      *work.Cursor[catalog.TV]
	seasons  *work.Cursor[catalog.Season]
	episodes *work.Cursor[catalog.Episode]
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
	episodes []*catalog.Episode // episodes with their own records, by number
}

// A seriesOutput is a completed series.
type seriesOutput struct {
	based     complete.Based[catalog.TV]
	completed complete.Record[catalog.TV]
	derived   render.SeriesDerived
	credits   []derive.Credit
	seasons   []seasonOutput
	aired     []string // air dates of the episodes
	runtimes  []int64  // minutes of the regular episodes
}

// A seasonOutput is a completed season with its episodes. Its derived.Series has the fields of the series that the
// season depends on.
type seasonOutput struct {
	based      complete.Based[catalog.Season]
	completed  complete.Record[catalog.Season]
	derived    render.SeasonDerived
	broadcasts []derive.Broadcast
	episodes   []complete.Record[catalog.Episode]
}

// series builds the series of a span.
func (t *titles) series(ctx context.Context, o *output, c *contributor, s work.Span) error {
	in := t.b.inputs
	m := &seriesBuilder{
		t: t, o: o, c: c, near: neighbourFinder{finder: t.near[fragment.KindTV].Finder()},
		tvs:      work.NewCursor[catalog.TV](in.Of(fragment.KindTV), s),
		seasons:  work.NewCursor[catalog.Season](in.Of(fragment.KindSeason), s),
		episodes: work.NewCursor[catalog.Episode](in.Of(fragment.KindEpisode), s),
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
		if err := m.write(in, completeSeries(in)); err != nil {
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
	belongs := func(k catalog.Key) bool { return k.Hi == key.Hi }
	if k, ok := m.tvs.Peek(); ok && belongs(k) {
		in.tv = readInput(m, in.id, m.tvs, m.dropSeasons)
	}
	for {
		next, ok := lowest(m.seasons.Peek, m.episodes.Peek)
		if !ok || !belongs(next) {
			return in, nil
		}
		s := seasonInput{number: next.Season()}
		if k, ok := m.seasons.Peek(); ok && belongs(k) && k.Season() == s.number {
			s.season = readInput(m, in.id, m.seasons, m.dropEpisodes)
		}
		for {
			k, ok := m.episodes.Peek()
			if !ok || !belongs(k) || k.Season() != s.number {
				break
			}
			s.episodes = append(s.episodes, readInput(m, in.id, m.episodes, nil))
		}
		in.seasons = append(in.seasons, s)
	}
}

// readInput reads the record at c, without the removed resources that drop finds in it; drop may be nil.
func readInput[T any](m *seriesBuilder, series int64, c *work.Cursor[T], drop func(series int64, given *T) *T) *T {
	v := c.Take()
	m.t.b.advance()
	if drop != nil && len(m.t.b.inputs.Removed) > 0 {
		v = drop(series, v)
	}
	return v
}

// completeSeries completes a series with its seasons and episodes.
func completeSeries(in *seriesInput) *seriesOutput {
	out := &seriesOutput{}
	if in.tv != nil {
		out.based = complete.Base(in.tv)
	}
	tv, credits := out.based.V(), derive.NewSeries(out.based.V())
	for i := range in.seasons {
		number := int64(in.seasons[i].number)
		s := completeSeason(in.id, tv, &in.seasons[i])
		credits.Season(number, s.based.V(), s.broadcasts)
		if number > 0 && s.derived.Credits != nil {
			out.derived.Credits = s.derived.Credits // the latest
		}
		v := s.completed.V()
		info := complete.SeasonInfo{Summary: catalog.SeasonSummary{
			AirDate: v.AirDate, EpisodeCount: record.Number(int64(len(s.broadcasts))), ID: v.ID, Name: v.Name, Overview: v.Overview,
			PosterPath: v.PosterPath, SeasonNumber: v.SeasonNumber, VoteAverage: v.VoteAverage,
		}}
		if v.Translations != nil {
			info.Translations = v.Translations.Translations
		}
		for i := range v.Localized {
			l := &v.Localized[i]
			info.Localized = append(info.Localized, complete.LocalizedName{Language: l.Language.V, Name: l.Name.V, Overview: l.Overview.V})
		}
		out.derived.Seasons = append(out.derived.Seasons, info)
		for _, c := range s.episodes {
			e := c.V()
			date := e.AirDate.V
			out.aired = append(out.aired, date)
			if e.SeasonNumber.V < 1 {
				continue // a special
			}
			if e.Runtime.V > 0 {
				out.runtimes = append(out.runtimes, e.Runtime.V)
			}
			// If the series has no last date, all dated episodes count as aired: a build must not depend on the clock.
			last, next := &out.derived.Last, &out.derived.Next
			switch {
			case date == "":
			case tv != nil && tv.LastAirDate.V != "" && date > tv.LastAirDate.V:
				if next.V() == nil || date < next.V().AirDate.V {
					*next = c
				}
			case last.V() == nil || date >= last.V().AirDate.V:
				*last = c
			}
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
	var out seasonOutput
	number := int64(in.number)
	var summaries []catalog.SeasonSummary // the season's rows in its series
	if tv != nil {
		for i := range tv.Seasons {
			if tv.Seasons[i].SeasonNumber.V == number {
				summaries = append(summaries, tv.Seasons[i])
			}
		}
		out.derived.Series = &catalog.TV{OriginalLanguage: tv.OriginalLanguage, Networks: tv.Networks, Credits: tv.Credits, Seasons: summaries}
	}
	given := in.season
	if given == nil {
		given = &catalog.Season{
			SeriesID: record.Number(series), SeasonNumber: record.Number(number),
			Name: record.Text(reference.SeasonName("en", "", int(number))),
		}
		for i := range summaries {
			t := &summaries[i]
			given.AirDate, given.Name, given.Overview, given.ID = t.AirDate, t.Name, t.Overview, t.ID
			given.PosterPath, given.VoteAverage = t.PosterPath, t.VoteAverage
		}
	}
	out.based = complete.Base(given)
	s := out.based.V()
	var episodes []*catalog.Episode // with their own records
	seen := map[int64]bool{}
	for _, e := range in.episodes {
		var listed *catalog.Episode
		if i := slices.IndexFunc(s.Episodes, func(o catalog.SeasonEpisode) bool { return o.EpisodeNumber.V == e.EpisodeNumber.V }); i >= 0 {
			listed = complete.Listed(s, i)
		}
		c := complete.Episode(complete.Base(e), listed)
		out.derived.Episodes, episodes = append(out.derived.Episodes, c), append(episodes, c.V())
		seen[c.V().EpisodeNumber.V] = true
	}
	out.broadcasts = derive.Broadcasts(s, episodes)
	out.derived.Credits = derive.Regulars(s, out.derived.Series, out.broadcasts)
	out.completed = complete.Season(out.based, out.derived.SeasonDerived)

	// Episodes are built from their own records, then from the season's rows. Both lists may have gaps.
	out.episodes = slices.Clone(out.derived.Episodes)
	for i := range s.Episodes {
		n := s.Episodes[i].EpisodeNumber
		if !derive.IsNumber(n) || seen[n.V] {
			continue // it has no path without a number
		}
		seen[n.V] = true
		e := complete.Listed(s, i)
		e.SeriesID, e.SeasonNumber = record.Number(series), s.SeasonNumber
		out.episodes = append(out.episodes, complete.Episode(complete.Base(e), nil))
	}
	return out
}

// write writes a completed series. A series without a record has no responses, so nothing may refer to it.
func (m *seriesBuilder) write(in *seriesInput, out *seriesOutput) error {
	inputs := &m.o.inputs
	if in.tv != nil {
		inputs.Record(record.Of(in.tv))
	}
	fingerprints := []uint64{inputs.Fingerprint()}
	for i := range in.seasons {
		// The fingerprint covers only the fields of the series that a season depends on: a change of votes, for
		// instance, does not affect it.
		inputs.Record(record.Of(out.seasons[i].derived.Series))
		inputs.Record(record.Of(in.seasons[i].season))
		for _, e := range in.seasons[i].episodes {
			inputs.Record(record.Of(e))
		}
		fingerprint := inputs.Fingerprint()
		fingerprints = append(fingerprints, fingerprint)
		if err := m.writeSeason(in.id, &in.seasons[i], &out.seasons[i], fingerprint); err != nil {
			return err
		}
	}
	tv := out.based.V()
	if tv == nil {
		return m.c.err
	}
	if err := m.near.find(lacksPages(tv.Recommendations), lacksPages(tv.Similar), func(t *neighbours.Title) { t.SetSeries(out.based) }); err != nil {
		return err
	}
	out.derived.TitleDerived = m.near.derived()

	title := derive.TVTitle(tv)
	m.c.credits(out.credits)
	refs(m.c, fragment.KindCompany, &title, tv.ProductionCompanies)
	refs(m.c, fragment.KindNetwork, &title, tv.Networks)
	if tv.Keywords != nil {
		for i := range tv.Keywords.Results {
			row := &tv.Keywords.Results[i]
			refs(m.c, fragment.KindKeyword, &title, []catalog.Keyword{{Object: row.Object, ID: row.ID, Name: row.Name}}) // the form of movies
		}
	}
	m.c.reviews(&title, tv.Name, tv.Reviews)
	m.c.externalIDs(record.Of(tv.ExternalIDs), "", release.Include{Kind: fragment.KindTV, ID: uint64(in.id)})

	for _, fingerprint := range fingerprints {
		inputs.AddFingerprint(fingerprint)
	}
	m.near.addTo(inputs)
	spec := m.o.spec(fragment.KindTV, catalog.NumberKey(in.id), uint64(in.id), inputs.Fingerprint())
	spec.Aliases = latestAlias(nil, fragment.KindTV, in.id, m.t.b.Plan.Latest[fragment.KindTV])
	err := m.o.add(spec, func() []release.FragmentSpec {
		if tv.AggregateCredits == nil {
			out.derived.Aggregate = derive.Aggregate(out.credits)
		}
		return m.o.render.Series(out.completed, out.derived)
	})
	if err != nil {
		return err
	}
	row := index.Series{TV: out.completed, Aired: out.aired}
	if n := len(out.runtimes); n > 0 {
		slices.Sort(out.runtimes)
		row.Runtime = out.runtimes[(n-1)/2]
	}
	for i := range out.credits {
		if c := &out.credits[i]; c.Role == derive.Cast {
			row.Cast = append(row.Cast, c.Person.ID)
		} else {
			row.Crew = append(row.Crew, c.Person.ID)
		}
	}
	return cmp.Or(m.c.rows.Series(row), m.c.err)
}

// writeSeason writes a season and its episodes, which share a fingerprint.
func (m *seriesBuilder) writeSeason(series int64, in *seasonInput, out *seasonOutput, fingerprint uint64) error {
	key, s := catalog.SeasonKey(series, int64(in.number)), out.based.V()
	spec := m.o.spec(fragment.KindSeason, key, uint64(max(s.ID.V, 0)), fingerprint)
	if in.season != nil { // the survey reads ids from records only
		spec.Aliases = m.t.owners.idAlias(fragment.KindSeason, s.ID.V, key)
	}
	err := m.o.add(spec, func() []release.FragmentSpec {
		if s.AggregateCredits == nil {
			out.derived.Aggregate = derive.SeasonAggregate(s, out.derived.Series, out.broadcasts)
		}
		return m.o.render.Season(out.completed, out.derived)
	})
	if err != nil {
		return err
	}
	m.c.externalIDs(record.Of(s.ExternalIDs), "", release.Include{Kind: fragment.KindSeason, ID: uint64(series), Season: in.number})
	d := render.EpisodeDerived{SeriesID: series}
	if out.derived.Credits != nil {
		d.Cast = out.derived.Credits.Cast
	}
	for _, c := range out.episodes {
		e := c.V()
		key := catalog.EpisodeKey(series, e.SeasonNumber.V, e.EpisodeNumber.V)
		spec := m.o.spec(fragment.KindEpisode, key, uint64(max(e.ID.V, 0)), fingerprint)
		spec.Aliases = m.t.owners.idAlias(fragment.KindEpisode, e.ID.V, key)
		m.c.externalIDs(record.Of(e.ExternalIDs), "", release.Include{
			Kind: fragment.KindEpisode, ID: uint64(series), Season: key.Season(), Episode: key.Episode(),
		})
		if err := m.o.add(spec, func() []release.FragmentSpec { return m.o.render.Episode(c, d) }); err != nil {
			return err
		}
	}
	return nil
}

// dropSeasons returns a series without its removed seasons.
func (m *seriesBuilder) dropSeasons(id int64, given *catalog.TV) *catalog.TV {
	present := func(list []catalog.SeasonSummary) []catalog.SeasonSummary {
		return slices.DeleteFunc(slices.Clone(list), func(s catalog.SeasonSummary) bool {
			return m.t.b.inputs.Removed.Has(fragment.KindSeason, catalog.SeasonKey(id, s.SeasonNumber.V))
		})
	}
	tv := *given
	tv.Seasons, tv.Localized = present(tv.Seasons), slices.Clone(tv.Localized)
	for i := range tv.Localized {
		tv.Localized[i].Seasons = present(tv.Localized[i].Seasons)
	}
	return &tv
}

// dropEpisodes returns a season without its removed episodes: episodes are built from its lists.
func (m *seriesBuilder) dropEpisodes(id int64, given *catalog.Season) *catalog.Season {
	present := func(list []catalog.SeasonEpisode) []catalog.SeasonEpisode {
		return slices.DeleteFunc(slices.Clone(list), func(e catalog.SeasonEpisode) bool {
			return m.t.b.inputs.Removed.Has(fragment.KindEpisode, catalog.EpisodeKey(id, given.SeasonNumber.V, e.EpisodeNumber.V))
		})
	}
	s := *given
	s.Episodes, s.Localized = present(s.Episodes), slices.Clone(s.Localized)
	for i := range s.Localized {
		s.Localized[i].Episodes = present(s.Localized[i].Episodes)
	}
	return &s
}
