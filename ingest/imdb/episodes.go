package imdb

import (
	"context"

	"github.com/reelsplice/reelsplice/schemas/encoding"
)

// addEpisode adds a row of title.episode by series, season and number; without those, to
// its title at once.
func addEpisode(j *Joiner, t *table, at place) error {
	title, _ := parseID(j.cells[episodeID], titlePrefix)
	parent, _ := parseID(j.cells[episodeParent], titlePrefix)
	j.payload = j.appendRow(append(j.payload[:0], 0), t, at)
	season, ok := parseNumber(j.cells[episodeSeason])
	number, ok2 := parseNumber(j.cells[episodeNumber])
	lo := uint64(unnumbered)
	if ok && ok2 {
		lo = uint64(season)<<32 | uint64(number)
	}
	// Among the episodes of one number, their own ids decide, not where they stood.
	return j.sort(j.episodes, rowKey{parent, lo, uint64(title)}, j.payload)
}

// unnumbered is the place of episodes without a season or a number, behind all others.
const unnumbered = 1<<64 - 1

// joinEpisodes moves the rows of title.episode to their titles, each with a byte that
// is 1 if another episode has its number.
func (j *Joiner) joinEpisodes(ctx context.Context) error {
	var last uint64   // place of the episode before
	var holder uint32 // that has the number of last
	var parent uint32
	var buf []byte
	return each(ctx, j.episodes, func(key rowKey, payload []byte) error {
		in := encoding.NewReader(payload[1:])
		r, err := readRow(&in, tableNamed(titleEpisode))
		if err != nil {
			return err
		}
		title, _ := parseID(r.cells[episodeID], titlePrefix)
		if key.id != parent || key.at != last {
			parent, last, holder = key.id, key.at, title
		}
		row := append(buf[:0], 0)
		if key.at != unnumbered && title != holder {
			row[0] = 1
		}
		buf = append(row, payload[1:]...)
		return j.sort(j.titles, titleKey(title, rankEpisode, 0, r.seq()), buf)
	})
}
