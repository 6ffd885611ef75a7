package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/reelsplice/reelsplice/ingest/source"
)

// Headers of MovieLens tables: movies.csv has titles and genres, links.csv TMDB's IDs.
const (
	movieLensMovies = "movieId,title,genres"
	movieLensLinks  = "movieId,imdbId,tmdbId"
)

// maxLinks bounds the IDs in memory. MovieLens has 88,000.
const maxLinks = 2_000_000

// joinMovieLens joins the two tables if they are in one folder: rows of movies.csv get a column tmdbId, which a built-in
// mapping reads.
func (r *run) joinMovieLens(ctx context.Context, files []source.File) (err error) {
	for i := range files {
		movies := &files[i]
		if movies.Base() != "movies" {
			continue
		}
		for _, links := range files {
			if links.Base() != "links" || filepath.Dir(movies.Path) != filepath.Dir(links.Path) || movies.Bytes == 0 || links.Bytes == 0 {
				continue // a pipe can be read only once
			}
			if r.header(ctx, *movies) != movieLensMovies || r.header(ctx, links) != movieLensLinks {
				continue
			}
			ids := movieLensIDs{}
			r.eachGood(ctx, input{File: links}, func(_ *input, row []byte) bool {
				if len(ids) == maxLinks {
					err = fmt.Errorf("%s: want at most %d rows, as the ids of a movies.csv of MovieLens", links.Name, maxLinks)
				}
				var link struct{ MovieID, TMDBID string }
				if json.Unmarshal(row, &link) == nil && link.TMDBID != "" {
					ids[link.MovieID] = link.TMDBID
				}
				return err == nil
			})
			movies.Join = ids
		}
	}
	return err
}

// movieLensIDs maps MovieLens IDs to TMDB's.
type movieLensIDs map[string]string

// Join adds the column tmdbId.
func (ids movieLensIDs) Join(row []byte) []byte {
	var movie struct{ MovieID string }
	if err := json.Unmarshal(row, &movie); err != nil {
		return row
	}
	id := "null"
	if known := ids[movie.MovieID]; known != "" {
		id = strconv.Quote(known)
	}
	return fmt.Appendf(nil, `%s,"tmdbId":%s}`, bytes.TrimSuffix(row, []byte("}")), id)
}

// header returns the first line of a table, or "" if it cannot be read, which is reported later.
func (r *run) header(ctx context.Context, f source.File) string {
	src, found, err := r.open(ctx, input{File: f})
	if err != nil {
		return ""
	}
	defer func() { _ = src.Close() }() // read side
	return found.header
}
