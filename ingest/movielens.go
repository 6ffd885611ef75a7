package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/reelsplice/reelsplice/ingest/source"
)

// The headers of MovieLens's tables: movies.csv has titles and genres, links.csv TMDB's ids.
const (
	movieLensMovies = "movieId,title,genres"
	movieLensLinks  = "movieId,imdbId,tmdbId"
)

// maxLinks bounds the ids that are held. MovieLens has 88,000.
const maxLinks = 2_000_000

// joinMovieLens joins the two tables where they lie in one folder: rows of the first get a column tmdbId, by which a
// mapping of the program takes them.
func joinMovieLens(files []source.File, o source.Options) error {
	for i := range files {
		movies := &files[i]
		if movies.Base() != "movies" {
			continue
		}
		for _, links := range files {
			if links.Base() != "links" || filepath.Dir(movies.Path) != filepath.Dir(links.Path) || movies.Bytes == 0 || links.Bytes == 0 {
				continue // a pipe is read once
			}
			if header(*movies, o) != movieLensMovies || header(links, o) != movieLensLinks {
				continue
			}
			ids, err := readLinks(links, o)
			if err != nil {
				return err
			}
			movies.Join = ids
		}
	}
	return nil
}

// movieLensIDs are the ids of TMDB's by those of MovieLens.
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

// header returns the first line of a table; "" for a file that is none, which is reported when it is read.
func header(f source.File, o source.Options) string {
	in, err := source.Open(f, o)
	if err != nil {
		return ""
	}
	defer func() { _ = in.Close() }() // read side
	return in.Header()
}

// readLinks returns the ids of TMDB's by those of MovieLens. Bad rows, and the damage that ends a file, are reported when
// the file is read for its own records.
func readLinks(links source.File, o source.Options) (movieLensIDs, error) {
	in, err := source.Open(links, o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // read side
	ids := movieLensIDs{}
	for {
		row, err := in.Next()
		var damage *source.FileError
		switch {
		case errors.Is(err, io.EOF), errors.As(err, &damage):
			return ids, nil
		case err != nil:
			return nil, err
		case row.Err != nil:
			continue
		case len(ids) == maxLinks:
			return nil, fmt.Errorf("%s: want at most %d rows, as the ids of a movies.csv of MovieLens", links.Name, maxLinks)
		}
		var link struct{ MovieID, TMDBID string }
		if err := json.Unmarshal(row.JSON, &link); err == nil && link.TMDBID != "" {
			ids[link.MovieID] = link.TMDBID
		}
	}
}
