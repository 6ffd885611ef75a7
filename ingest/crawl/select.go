package crawl

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A selection is what files and folders name: ids, and what has to be looked up.
type selection struct {
	titles []Title
	tasks  []task
}

// readSelection reads the files and folders of a Config.
func readSelection(ctx context.Context, cfg *Config, r *Report) (s selection, err error) {
	for _, path := range cfg.IDs {
		if err := s.readFile(ctx, path, cfg.Kind, r); err != nil {
			return s, err
		}
	}
	for _, path := range cfg.DailyIDs {
		kind, err := exportKind(path)
		if err != nil {
			return s, err
		}
		if !cfg.wants(kind) {
			continue
		}
		if err := s.readExport(ctx, kind, cfg.MinPopularity, path); err != nil {
			return s, err
		}
	}
	for _, dir := range cfg.Library {
		titles, err := readLibrary(ctx, dir)
		if err != nil {
			return s, err
		}
		for _, t := range titles {
			s.addLibrary(t, cfg.Search, r)
		}
	}
	return s, nil
}

// readFile reads an NFO file, an exported list or a file of ids, which may be packed by gzip. kind is that of ids that
// stand alone.
func (s *selection) readFile(ctx context.Context, path, kind string, r *Report) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("ids: %w: want a file with lines such as movie 550", err)
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<16)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			return fmt.Errorf("ids %s: %w", path, err)
		}
		in = bufio.NewReaderSize(unpacked, maxHead)
	}
	head, _ := in.Peek(maxHead)
	switch {
	case bytes.HasPrefix(bytes.TrimSpace(head), []byte("<")) || strings.EqualFold(filepath.Ext(path), ".nfo"):
		return s.readOneNFO(path, kind, in)
	case isExported(path, head):
		return s.readExported(ctx, path, kind, r)
	}
	return s.readIDs(path, kind, in)
}

// maxHead is how many bytes of a file of ids show what it is.
const maxHead = 4 << 10

// readOneNFO reads the NFO file of a title.
func (s *selection) readOneNFO(name, kind string, in io.Reader) error {
	found := readNFO(in)
	if found.kind = cmp.Or(found.kind, kind); found.tmdb > 0 && found.kind == "" {
		return fmt.Errorf("ids %s: want a kind for TMDB's id %d: --kind movie or tv", name, found.tmdb)
	}
	if found == (ids{kind: found.kind}) {
		return fmt.Errorf("ids %s: want an NFO file with an id, such as <uniqueid type=\"tmdb\">550</uniqueid>", name)
	}
	s.add(found, "", name)
	return nil
}

// maxIDLine is the longest line of a file of ids, in bytes.
const maxIDLine = 1 << 20

// readIDs reads a file with one id a line; kind is that of numbers alone. Text after # is a remark.
func (s *selection) readIDs(name, kind string, in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxIDLine)
	n := 1
	for ; lines.Scan(); n++ {
		line, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "\ufeff"), "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		i, err := parseID(line, kind)
		if err != nil {
			return fmt.Errorf("ids %s: line %d: %w", name, n, err)
		}
		s.add(i, "", fmt.Sprintf("%s:%d: %s", name, n, line))
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("ids %s: line %d: %w", name, n, err)
	}
	return nil
}

var (
	// plainID matches "movie 550", "tv/1399" and the end of an address of a page about either.
	plainID = regexp.MustCompile(`^(?:https?://[^\s?#]*/)?([a-z_]+)[ \t/]+(\d{1,18})(?:-[^\s/]*)?/?$`)
	bareID  = regexp.MustCompile(`^\d{1,18}$`)
	imdbID  = regexp.MustCompile(`^(?:tt|nm)\d{1,15}$`)
)

// parseID reads a line of a file of ids. kind is that of a number alone, "" refuses it.
func parseID(line, kind string) (i ids, err error) {
	if m := imdbPage.FindStringSubmatch(line); m != nil {
		line = m[1]
	}
	if imdbID.MatchString(line) {
		return ids{imdb: line}, nil
	}
	if bareID.MatchString(line) {
		if kind == "" {
			return i, fmt.Errorf("want the kind of %s, such as movie %s, or --kind", line, line)
		}
		line = kind + " " + line
	}
	m := plainID.FindStringSubmatch(line)
	if m == nil || m[1] != "tvdb" && kindNamed(m[1]) == nil {
		return i, fmt.Errorf("want an id such as movie 550, tv 1399, person 287, tvdb 121361 or tt0137523, found %q", record.Shown(line))
	}
	if m[1] == "tvdb" {
		i.set("tvdb", m[2])
	} else if i.set("tmdb", m[2]); i.tmdb > 0 {
		i.kind = m[1]
	}
	if i == (ids{}) {
		return i, fmt.Errorf("want an id from 1 on, found %q", record.Shown(line))
	}
	return i, nil
}

// add adds the best of some ids. kind is that of TMDB's where its place does not say; place is where they come from.
func (s *selection) add(i ids, kind, place string) {
	one := task{what: findID, source: "imdb_id", text: i.imdb, place: place}
	switch {
	case i.tmdb > 0:
		s.titles = append(s.titles, Title{cmp.Or(i.kind, kind), i.tmdb})
		return
	case i.imdb == "":
		one.source, one.text = "tvdb_id", strconv.FormatInt(i.tvdb, 10)
	}
	s.tasks = append(s.tasks, one)
}

// exportName matches the names of daily id exports.
var exportName = regexp.MustCompile(`^(?:adult_)?(movie|tv_series|person|collection|tv_network|keyword|production_company)_ids`)

// exportKind returns the kind that a daily id export is about.
func exportKind(path string) (string, error) {
	m := exportName.FindStringSubmatch(filepath.Base(path))
	if m == nil {
		return "", fmt.Errorf("daily ids %s: want the name of an export, such as movie_ids_11_20_2026.json.gz", path)
	}
	switch m[1] {
	case "tv_series":
		return "tv", nil
	case "tv_network":
		return "network", nil
	case "production_company":
		return "company", nil
	}
	return m[1], nil
}

// readExport reads a daily id export. Rows without a popularity are all taken.
func (s *selection) readExport(ctx context.Context, kind string, least float64, path string) error {
	return eachRow(ctx, "daily ids", path, func(row source.Row) error {
		var v struct {
			ID         int64
			Popularity *float64
		}
		if err := json.Unmarshal(row.JSON, &v); err != nil || row.Err != nil || v.ID < 1 {
			return errors.New(`want a row of a daily id export, such as {"id":550,"popularity":61.4}`)
		}
		if v.Popularity == nil || *v.Popularity >= least {
			s.titles = append(s.titles, Title{kind, v.ID})
		}
		return nil
	})
}

// addLibrary adds a title of a library. Without an id it is searched for, or reported.
func (s *selection) addLibrary(t libraryTitle, search bool, r *Report) {
	switch {
	case t.ids != (ids{}):
		s.add(t.ids, t.kind, t.path)
	case search && t.name != "" && t.year > 0:
		s.tasks = append(s.tasks, task{what: searchTitle, kind: t.kind, text: t.name, year: t.year, place: t.path})
	default:
		r.Unresolved = append(r.Unresolved, t.path)
	}
}
