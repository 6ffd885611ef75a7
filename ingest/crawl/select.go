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
)

// A selection is what files and folders name: ids, and what has to be looked up.
type selection struct {
	titles []Title
	tasks  []task
}

// readSelection reads the files and folders of a Config.
func readSelection(ctx context.Context, cfg *Config, r *Report) (s selection, err error) {
	for _, path := range cfg.IDs {
		exported := false
		err := s.readFile(path, func(name string, in io.Reader) error {
			head := bufio.NewReaderSize(in, maxHead)
			first, _ := head.Peek(maxHead)
			switch {
			case bytes.HasPrefix(bytes.TrimSpace(first), []byte("<")) || strings.EqualFold(filepath.Ext(path), ".nfo"):
				return s.readOneNFO(name, cfg.Kind, head)
			case isExported(path, first):
				exported = true
				return nil
			}
			return s.readIDs(name, cfg.Kind, head)
		})
		if err == nil && exported {
			err = s.readExported(ctx, path, cfg.Kind, r)
		}
		if err != nil {
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
		if err := s.readFile(path, func(name string, in io.Reader) error {
			return s.readExport(kind, cfg.MinPopularity, name, in)
		}); err != nil {
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

// readFile hands the lines of a file on, which may be packed by gzip.
func (s *selection) readFile(path string, read func(name string, in io.Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("ids: %w: want a file with lines such as movie 550", err)
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<16)
	if magic, _ := in.Peek(2); !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return read(path, in)
	}
	unpacked, err := gzip.NewReader(in)
	if err != nil {
		return fmt.Errorf("ids %s: %w", path, err)
	}
	return read(path, unpacked)
}

// maxHead is how many bytes of a file of ids show what it is.
const maxHead = 4 << 10

// maxIDLine is the longest line of a file of ids, in bytes.
const maxIDLine = 1 << 20

// eachLine calls use with the number and text of each line that is not blank. Its errors name both.
func eachLine(name string, in io.Reader, use func(n int, line string) error) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxIDLine)
	n := 0
	for lines.Scan() {
		n++
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" {
			continue
		}
		if err := use(n, line); err != nil {
			return fmt.Errorf("ids %s: line %d: %w", name, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("ids %s: line %d: %w", name, n+1, err)
	}
	return nil
}

// readOneNFO reads the NFO file of a title.
func (s *selection) readOneNFO(name, kind string, in io.Reader) error {
	found := readNFO(in)
	if found.kind = cmp.Or(found.kind, kind); found.tmdb > 0 && found.kind == "" {
		return fmt.Errorf("ids %s: want a kind for TMDB's id %d: --kind movie or tv", name, found.tmdb)
	}
	named := found.of(found.kind)
	if named == (id{}) {
		return fmt.Errorf("ids %s: want an NFO file with an id, such as <uniqueid type=\"tmdb\">550</uniqueid>", name)
	}
	s.add(named, name)
	return nil
}

// readIDs reads a file with one id a line; kind is that of numbers alone. Text behind # is a remark.
func (s *selection) readIDs(name, kind string, in io.Reader) error {
	return eachLine(name, in, func(n int, line string) error {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			return nil
		}
		id, err := parseID(line, kind)
		if err != nil {
			return err
		}
		s.add(id, fmt.Sprintf("%s:%d: %s", name, n, line))
		return nil
	})
}

// An id is a resource's id, or its id elsewhere.
type id struct {
	title  Title  // with Kind "" for an id elsewhere
	source string // imdb_id or tvdb_id
	text   string
}

var (
	// plainID matches "movie 550", "tv/1399" and the end of an address of a page about either.
	plainID = regexp.MustCompile(`^(?:https?://[^\s?#]*/)?([a-z_]+)[ \t/]+(\d{1,18})(?:-[^\s/]*)?/?$`)
	bareID  = regexp.MustCompile(`^\d{1,18}$`)
	imdbID  = regexp.MustCompile(`^(?:tt|nm)\d{1,15}$`)
)

// parseID reads a line of a file of ids. kind is that of a number alone, "" refuses it.
func parseID(line, kind string) (id, error) {
	if m := imdbPage.FindStringSubmatch(line); m != nil {
		line = m[1]
	}
	if imdbID.MatchString(line) {
		return id{source: "imdb_id", text: line}, nil
	}
	if bareID.MatchString(line) {
		if kind == "" {
			return id{}, fmt.Errorf("want the kind of %s, such as movie %s, or --kind", line, line)
		}
		line = kind + " " + line
	}
	m := plainID.FindStringSubmatch(line)
	if m == nil || m[1] != "tvdb" && kindNamed(m[1]) == nil {
		return id{}, fmt.Errorf("want an id such as movie 550, tv 1399, person 287, tvdb 121361 or tt0137523, found %q", shorten(line))
	}
	n, err := strconv.ParseInt(m[2], 10, 64)
	if err != nil || n < 1 {
		return id{}, fmt.Errorf("want an id from 1 on, found %q", shorten(line))
	}
	if m[1] == "tvdb" {
		return id{source: "tvdb_id", text: strconv.FormatInt(n, 10)}, nil
	}
	return id{title: Title{m[1], n}}, nil
}

// shorten bounds a text for a message.
func shorten(text string) string {
	const most = 60
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// add adds an id; place says where it comes from.
func (s *selection) add(i id, place string) {
	if i.title.Kind != "" {
		s.titles = append(s.titles, i.title)
		return
	}
	s.tasks = append(s.tasks, task{what: findID, source: i.source, text: i.text, place: place})
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
func (s *selection) readExport(kind string, least float64, name string, in io.Reader) error {
	return eachLine(name, in, func(_ int, line string) error {
		var v struct {
			ID         int64
			Popularity *float64
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil || v.ID < 1 {
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
	case t.id.title.Kind != "" || t.id.source != "":
		s.add(t.id, t.path)
	case search && t.name != "" && t.year > 0:
		s.tasks = append(s.tasks, task{what: searchTitle, kind: t.kind, text: t.name, year: t.year, place: t.path})
	default:
		r.Unresolved = append(r.Unresolved, t.path)
	}
}
