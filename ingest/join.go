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
			ids := map[string]string{} // TMDB's IDs by MovieLens's
			r.detector.eachValid(ctx, input{File: links}, func(_ *input, row []byte) bool {
				if len(ids) == maxLinks {
					err = fmt.Errorf("%s: want at most %d rows, as the ids of a movies.csv of MovieLens", links.Name, maxLinks)
				}
				var link struct{ MovieID, TMDBID string }
				if json.Unmarshal(row, &link) == nil && link.TMDBID != "" {
					ids[link.MovieID] = link.TMDBID
				}
				return err == nil
			})
			movies.Join = func(row []byte) []byte {
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
		}
	}
	return err
}

// columns returns the columns of a table, or nil if it has no valid row.
func (r *run) columns(ctx context.Context, f source.File) (names []string) {
	r.detector.eachValid(ctx, input{File: f}, func(_ *input, row []byte) bool {
		names = layout.ColumnsOf(string(row))
		return false
	})
	return names
}

// joinFolders returns a function that adds the columns in a file's path to rows that lack them, nil for a path without columns.
// Names of folders hold columns as DuckDB and Spark write them: original_language=en.
func joinFolders(path string) func(row []byte) []byte {
	var columns record.RawFields
	for _, folder := range strings.Split(filepath.ToSlash(filepath.Dir(path)), "/") {
		name, value, ok := strings.Cut(folder, "=")
		if plain, err := url.PathUnescape(value); err == nil {
			value = plain
		}
		if ok && name != "" && value != "" && value != "__HIVE_DEFAULT_PARTITION__" {
			columns = append(columns, record.RawField{Name: name, Raw: string(record.AppendString(nil, value))})
		}
	}
	if columns == nil {
		return nil
	}
	return func(row []byte) []byte {
		fields, err := record.Fields(string(row))
		if err != nil {
			return row
		}
		for _, f := range columns {
			if !fields.Has(f.Name) {
				fields = append(fields, f)
			}
		}
		return []byte(fields.Object())
	}
}
