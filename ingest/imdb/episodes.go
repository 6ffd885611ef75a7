package imdb

import (
	"context"

	"reelsplice/ingest/runs"
)

// addEpisode adds a row of title.episode by series, season and number; without those, to
// its title at once.
func addEpisode(j *Joiner, at place) error {
	title, _ := parseID(j.cells[episodeID], titlePrefix)
	parent, _ := parseID(j.cells[episodeParent], titlePrefix)
	j.payload = appendRow(append(j.payload[:0], 0), at, j.cells)
	season, ok := parseNumber(j.cells[episodeSeason])
	number, ok2 := parseNumber(j.cells[episodeNumber])
	lo := uint64(unnumbered)
	if ok && ok2 {
		lo = uint64(season)<<32 | uint64(number)
	}
	// Among the episodes of one number, their own ids decide, not where they stood.
	return j.episodes.Add(runs.Key{Hi: uint64(parent), Lo: lo}, uint64(title), j.payload)
}

// unnumbered is Lo of episodes without a season or a number, behind all others.
const unnumbered = 1<<64 - 1

// joinEpisodes moves the rows of title.episode to their titles, each with a byte that
// says whether another episode has its number, and tells each series that it is one.
func (j *Joiner) joinEpisodes(ctx context.Context) error {
	var last runs.Key
	var holder uint32 // that has the number of last
	var parent uint32
	var count uint64 // of its episodes
	var mark []byte
	closeSeries := func() error {
		if count == 0 {
			return nil
		}
		mark = appendMark(mark[:0], count)
		return j.titles.Add(titleKey(parent, rankSeries, 0), 0, mark)
	}
	err := each(ctx, j.episodes, func(key runs.Key, _ uint64, payload []byte) error {
		u := unpacker{rest: string(payload[1:])}
		r := u.row(tableNamed(titleEpisode))
		if u.err != nil {
			return u.err
		}
		title, _ := parseID(cell(r.cells[episodeID].V), titlePrefix)
		if uint32(key.Hi) != parent {
			if err := closeSeries(); err != nil {
				return err
			}
			parent, count = uint32(key.Hi), 0
		}
		count++
		if key != last || holder == 0 {
			last, holder = key, title
		}
		payload[0] = 0
		if key.Lo != unnumbered && title != holder {
			payload[0] = 1
		}
		return j.titles.Add(titleKey(title, rankEpisode, 0), r.seq(), payload)
	})
	if err != nil {
		return err
	}
	return closeSeries()
}
