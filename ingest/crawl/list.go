package crawl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// listFields are the columns and fields by which exported lists name a title: those of IMDb, Letterboxd, Trakt, TMDB
// and of tables that people keep. Names are folded, see foldName.
var listFields = map[string]string{
	"const": "imdb", "tconst": "imdb", "nconst": "imdb", "imdb": "imdb", "imdbid": "imdb",
	"tmdb": "tmdb", "tmdbid": "tmdb", "tvdb": "tvdb", "tvdbid": "tvdb", "id": "id",
	"title": "title", "name": "title", "year": "year", "type": "type", "titletype": "type", "mediatype": "type",
}

// listKinds are the kinds of titles by the types and the nested objects of exported lists. Names are folded.
var listKinds = map[string]string{
	"movie": "movie", "film": "movie", "tvmovie": "movie", "person": "person",
	"tv": "tv", "show": "tv", "series": "tv", "tvseries": "tv", "tvminiseries": "tv",
}

// foldName returns a name in small letters, without blanks and dashes.
func foldName(name string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "").Replace(name))
}

// listExt matches the names of tables and of JSON.
var listExt = regexp.MustCompile(`(?i)\.(csv|tsv|json|jsonl|ndjson|parquet)(\.(gz|gzip|zst|zstd))?$`)

// isExported reports whether a file that starts with head is an exported list, and not one id a line. Lists are no
// pipes: they are opened twice.
func isExported(path string, head []byte) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(string(head), "\ufeff")), "\n")
	line, _, _ := strings.Cut(first, "#")
	if _, err := parseID(strings.TrimSpace(line), "movie"); err == nil || strings.HasPrefix(first, "# ") {
		return false
	}
	return listExt.MatchString(path) || strings.HasPrefix(first, "[") || strings.HasPrefix(first, "{")
}

// eachRow calls use with the rows of a file, good and bad. Errors begin with what the file is, those of use also with the row.
func eachRow(ctx context.Context, what, path string, use func(row source.Row) error) error {
	in, err := source.Open(source.File{Path: path}, source.Options{Context: ctx})
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer func() { _ = in.Close() }() // read side
	for {
		row, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", what, err)
		}
		if err := use(row); err != nil {
			return fmt.Errorf("%s %s: %w", what, row.Place, err)
		}
	}
}

// readExported reads an exported list. kind is that of ids of TMDB's whose row does not say it. Rows without a title
// are reported, and the others go on.
func (s *selection) readExported(ctx context.Context, path, kind string, r *Report) error {
	var lost []string
	var columns []string // of the last row that names none
	found := false
	err := eachRow(ctx, "ids", path, func(row source.Row) error {
		if row.Err != nil {
			lost = append(lost, row.Err.Error())
			return nil //nolint:nilerr // it is reported
		}
		v, err := decoded(row.JSON)
		if err != nil {
			return err
		}
		fields, _ := v.(map[string]any)
		says := listed(fields)
		named, err := s.addListed(says, kind, row.Place.String()+": "+cmp.Or(says["title"], says["imdb"], says["tmdb"], says["id"]))
		if found = found || named; err == nil && !named {
			lost = append(lost, strings.TrimSuffix(row.Place.String()+": "+says["title"], ": "))
			columns = slices.Sorted(maps.Keys(fields))
		}
		return err
	})
	if err == nil && !found && columns != nil {
		return fmt.Errorf("ids %s: want a column or field such as Const, imdb_id or tmdb_id, or a title with its year; found %s",
			path, record.Shown(strings.Join(columns, ", ")))
	}
	if err == nil {
		r.Unresolved = append(r.Unresolved, lost...)
	}
	return err
}

// listed returns what a row says of a title, by the values of listFields. Trakt nests it with its kind.
func listed(fields map[string]any) map[string]string {
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		folded := foldName(name)
		switch v := fields[name].(type) {
		case map[string]any:
			inner := listed(v)
			if listKinds[folded] != "" {
				inner["type"] = folded
				return inner
			}
			if folded == "ids" {
				maps.Copy(out, inner)
			}
		case string, json.Number:
			if field := listFields[folded]; field != "" {
				out[field] = cmp.Or(out[field], strings.TrimSpace(fmt.Sprint(v)))
			}
		}
	}
	return out
}

// addListed adds the title of a row: by its id, else by its name and year. It reports whether the row has either.
func (s *selection) addListed(v map[string]string, kind, place string) (bool, error) {
	i := ids{kind: cmp.Or(listKinds[foldName(v["type"])], kind)}
	for _, p := range [...]struct{ place, field string }{{"tmdb", "tmdb"}, {"imdb", "imdb"}, {"tvdb", "tvdb"}, {"imdb", "id"}, {"tmdb", "id"}} {
		if p.field != "id" || i == (ids{kind: i.kind}) {
			i.set(p.place, v[p.field])
		}
	}
	if i.tmdb > 0 && i.kind == "" {
		if i.imdb == "" {
			return false, fmt.Errorf("want a kind for TMDB's id %d: a column type with movie or tv, or --kind", i.tmdb)
		}
		i.tmdb = 0
	}
	if i != (ids{kind: i.kind}) {
		s.add(i, "", place)
		return true, nil
	}
	year, _ := strconv.Atoi(v["year"][:min(len(v["year"]), len("2006"))]) // of a series 2008–2013
	if v["title"] == "" || year < 1 {
		return false, nil
	}
	s.tasks = append(s.tasks, task{what: searchTitle, kind: cmp.Or(i.kind, "movie"), text: v["title"], year: year, place: place})
	return true, nil
}
