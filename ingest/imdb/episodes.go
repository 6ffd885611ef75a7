package imdb

import (
	"context"

	"github.com/reelsplice/reelsplice/schemas/encoding"
)

// addEpisode adds a row of title.episode by series, season and number. Rows without a number are sorted last.
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
	// Of several episodes with one number, the IDs decide, not the order of rows.
	return j.sort(j.episodes, rowKey{parent, lo, uint64(title)}, j.payload)
}

// unnumbered is the position of episodes without a season or a number, after all others.
const unnumbered = 1<<64 - 1

// joinEpisodes moves the rows of title.episode to their titles. Each gets a byte that is 1 if another episode has its number.
func (j *Joiner) joinEpisodes(ctx context.Context) error {
	var last uint64   // position of the previous episode
	var holder uint32 // episode that has the number
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
