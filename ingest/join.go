package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// Columns of MovieLens tables: movies.csv has titles and genres, links.csv TMDB's IDs.
var (
	movieLensMovies = []string{"movieId", "title", "genres"}
	movieLensLinks  = []string{"movieId", "imdbId", "tmdbId"}
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
			if !slices.Equal(r.columns(ctx, *movies), movieLensMovies) || !slices.Equal(r.columns(ctx, links), movieLensLinks) {
				continue
			}
			ids := movieLensIDs{}
			r.detector.eachGood(ctx, input{File: links}, func(_ *input, row []byte) bool {
				if len(ids) == maxLinks {
					err = fmt.Errorf("%s: want at most %d rows, as the ids of a movies.csv of MovieLens", links.Name, maxLinks)
				}
				var link struct{ MovieID, TMDBID string }
				if json.Unmarshal(row, &link) == nil && link.TMDBID != "" {
					ids[link.MovieID] = link.TMDBID
				}
				return err == nil
			})
			movies.Join = ids.join
		}
	}
	return err
}

// movieLensIDs maps MovieLens IDs to TMDB's.
type movieLensIDs map[string]string

// join adds the column tmdbId.
func (ids movieLensIDs) join(row []byte) []byte {
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

// columns returns the columns of a table, or nil if it has no valid row.
func (r *run) columns(ctx context.Context, f source.File) (names []string) {
	r.detector.eachGood(ctx, input{File: f}, func(_ *input, row []byte) bool {
		names = layout.ColumnsOf(string(row))
		return false
	})
	return names
}

// A partition holds columns from folder names, as DuckDB and Spark write them: original_language=en.
type partition record.RawFields

// partitionOf returns the columns in a file's path, or nil.
func partitionOf(path string) (p partition) {
	for _, folder := range strings.Split(filepath.ToSlash(filepath.Dir(path)), "/") {
		name, value, ok := strings.Cut(folder, "=")
		if plain, err := url.PathUnescape(value); err == nil {
			value = plain
		}
		if ok && name != "" && value != "" && value != "__HIVE_DEFAULT_PARTITION__" {
			p = append(p, record.RawField{Name: name, Raw: string(record.AppendString(nil, value))})
		}
	}
	return p
}

// join adds the columns that the row lacks.
func (p partition) join(json []byte) []byte {
	fields, err := record.Fields(string(json))
	if err != nil {
		return json
	}
	for _, f := range p {
		if !fields.Has(f.Name) {
			fields = append(fields, f)
		}
	}
	return []byte(fields.Object())
}
