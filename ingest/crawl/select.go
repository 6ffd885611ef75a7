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

// A selection is the contents of all input files and folders: IDs, and tasks that look up IDs.
type selection struct {
	resources  []resource
	origins    map[resource]origin // places of titles, except in daily ID exports
	tasks      []task
	unresolved []string // titles without a usable ID or search, with their place and the reason
}

// An origin is the place where a title was found.
type origin struct {
	place   string
	guessed bool // the kind is guessed
}

// A candidate is a title from a line, a row, a file or the name of a file or folder.
type candidate struct {
	ids
	title   string // "" for none
	year    int    // 0 for none
	place   string // for the report
	guessed bool   // the kind is guessed
}

// readSelection reads the files and folders of a Config.
func readSelection(ctx context.Context, cfg *Config) (s selection, err error) {
	for _, path := range cfg.IDs {
		if err := s.readFile(ctx, path, cfg.Kind); err != nil {
			return s, err
		}
	}
	for _, path := range cfg.DailyIDs {
		kind, err := exportKind(path)
		if err != nil {
			return s, err
		}
		if !cfg.selects(kind) {
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
			s.addLibrary(t, cfg.Search)
		}
	}
	return s, nil
}

// readFile reads an NFO file, an exported list or a file of IDs, which may be gzipped. kind is the default kind of IDs.
func (s *selection) readFile(ctx context.Context, path, kind string) error {
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
		return s.readNFOFile(path, kind, in)
	case isExported(path, head):
		return s.readExported(ctx, path, kind)
	}
	return s.readIDs(path, kind, in)
}

// maxHead is how many bytes are read to detect the type of a file.
const maxHead = 4 << 10

// maxNFOs bounds a file with the NFOs of a whole library, in bytes.
const maxNFOs = 64 << 20

// readNFOFile reads the NFO file of a title, or of a library as Kodi exports it.
func (s *selection) readNFOFile(name, kind string, in io.Reader) error {
	limited := io.LimitedReader{R: in, N: maxNFOs}
	found, err := readNFO(&limited)
	if len(found) == 0 {
		return fmt.Errorf("ids %s: want an NFO file with an id, such as <uniqueid type=\"tmdb\">550</uniqueid>", name)
	}
	if limited.N == 0 {
		err = fmt.Errorf("want at most %d bytes", maxNFOs)
	}
	if err != nil {
		s.unresolved = append(s.unresolved, fmt.Sprintf("%s: after %d titles: %v", name, len(found), err))
	}
	for _, c := range found {
		c.kind, c.place = cmp.Or(c.kind, kind), name
		if len(found) > 1 {
			c.place += ": " + record.Shown(c.name())
		}
		s.add(&c, true)
	}
	return nil
}

// maxIDLine is the longest line of a file of IDs, in bytes.
const maxIDLine = 1 << 20

// readIDs reads a file with one ID per line. kind applies to plain numbers. Text after # is a comment. Bad lines are reported,
// but a file with only bad lines is an error.
func (s *selection) readIDs(name, kind string, in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxIDLine)
	var reasons []string
	number, parsed := 1, false
	for ; lines.Scan(); number++ {
		line, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "\ufeff"), "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		i, err := parseID(line)
		if err != nil {
			reasons = append(reasons, fmt.Sprintf("%s:%d: %v", name, number, err))
			continue
		}
		i.kind, parsed = cmp.Or(i.kind, kind), true
		s.add(&candidate{ids: i, place: fmt.Sprintf("%s:%d: %s", name, number, record.Shown(line))}, false)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("ids %s: line %d: %w", name, number, err)
	}
	if !parsed && len(reasons) > 0 {
		return fmt.Errorf("ids %s", reasons[0])
	}
	s.unresolved = append(s.unresolved, reasons...)
	return nil
}

var (
	// plainID matches "movie 550", "tv/1399" and their addresses at TMDB or below an API version.
	plainID = regexp.MustCompile(`^(?:https?://(?:[^\s/?#]*\.)?themoviedb\.org/|https?://[^\s?#]*/[34]/)?([a-z_]+)[ \t/]+(\d{1,18})(?:-[^\s/?#]*)?/?(?:[?#]\S*)?$`)
	bareID  = regexp.MustCompile(`^\d{1,18}$`)
	imdbID  = regexp.MustCompile(`^(?:tt|nm)\d{1,15}$`)
	// guid matches Plex's IDs, such as imdb://tt0137523. The older form of an episode has the series' ID before the season and
	// episode numbers: com.plexapp.agents.thetvdb://81189/1/1?lang=en.
	guid = regexp.MustCompile(`(?:^|[^a-z])(com\.plexapp\.agents\.)?(?:the)?(imdb|tmdb|tvdb|moviedb):(?://)?(tt\d{1,15}|\d{1,18})\b((?:/\d+)*)`)
)

// parseID parses a line of a file of IDs. The kind of a plain number is "".
func parseID(line string) (i ids, err error) {
	if found := addressesIn(line); len(found) == 1 {
		return found[0], nil
	}
	if imdbID.MatchString(line) {
		return ids{imdb: line}, nil
	}
	m := plainID.FindStringSubmatch(line)
	switch {
	case bareID.MatchString(line):
		i.set("tmdb", line)
	case m == nil || m[1] != "tvdb" && kindNamed(m[1]) == nil:
		return i, fmt.Errorf("want an id such as movie 550, tv 1399, person 287, tvdb 121361 or tt0137523, found %q", record.Shown(line))
	case m[1] == "tvdb":
		i.kind = "tv"
		i.set("tvdb", m[2])
	default:
		i.kind = m[1]
		i.set("tmdb", m[2])
	}
	if !i.hasID() {
		return i, fmt.Errorf("want an id of 1 or more, found %q", record.Shown(line))
	}
	return i, nil
}

// addressesIn returns the IDs in addresses of IMDb, TMDB and Plex.
func addressesIn(text string) (out []ids) {
	if m := imdbPage.FindStringSubmatch(text); m != nil {
		return []ids{{imdb: m[1]}}
	}
	if m := plainID.FindStringSubmatch(text); m != nil && strings.Contains(text, "://") && kindNamed(m[1]) != nil {
		i := ids{kind: m[1]}
		i.set("tmdb", m[2])
		return []ids{i}
	}
	for _, m := range guid.FindAllStringSubmatch(text, -1) {
		var i ids
		if m[4] != "" || m[1] != "" && m[2] == "tvdb" {
			i.kind = "tv"
		}
		if i.set(strings.Replace(m[2], "moviedb", "tmdb", 1), m[3]); i.hasID() {
			out = append(out, i)
		}
	}
	return out
}

// name returns the name of a candidate: its title, or else an ID.
func (c *candidate) name() string {
	switch {
	case c.title != "" || c.imdb != "":
		return cmp.Or(c.title, c.imdb)
	case c.hasID():
		return strconv.FormatInt(cmp.Or(c.tmdb, c.tvdb), 10)
	}
	return ""
}

// External sources of /find.
const (
	fromIMDb = "imdb_id"
	fromTVDB = "tvdb_id"
)

// add adds a candidate by its best ID, or else, if search allows it, by title and year. If it has neither, it is
// reported with the reason.
func (s *selection) add(c *candidate, search bool) {
	t := task{action: findID, kind: c.kind, place: c.place}
	switch isKind := kindNamed(c.kind) != nil; {
	case c.tmdb > 0 && isKind:
		res := resource{c.kind, c.tmdb}
		s.resources = append(s.resources, res)
		if s.origins == nil {
			s.origins = map[resource]origin{}
		}
		if s.origins[res].place == "" {
			s.origins[res] = origin{c.place, c.guessed}
		}
		return
	case c.imdb != "":
		if t.source, t.text = fromIMDb, c.imdb; !isKind {
			t.kind = ""
		}
	case c.tvdb > 0 && (c.kind == "tv" || c.kind == "season" || c.kind == "episode"):
		t.source, t.text = fromTVDB, strconv.FormatInt(c.tvdb, 10)
	case c.tvdb > 0 && c.kind == "" && (c.title != "" || c.tmdb > 0):
		t.source, t.text = fromTVDB, strconv.FormatInt(c.tvdb, 10)
		t.id, t.title = c.tmdb, c.title
	case search && c.title != "" && c.year > 0 && (c.kind == "movie" || c.kind == "tv" || c.kind == "" && c.tmdb == 0):
		t = task{action: searchTitle, kind: cmp.Or(c.kind, "movie"), text: c.title, year: c.year, place: c.place}
	default:
		s.unresolved = append(s.unresolved, c.place+": "+c.reason())
		return
	}
	s.tasks = append(s.tasks, t)
}

// reason returns why a candidate is unresolved.
func (c *candidate) reason() string {
	switch {
	case c.kind == "season" || c.kind == "episode":
		return "want an id of the series, or the " + c.kind + "'s IMDb id"
	case c.kind != "" && kindNamed(c.kind) == nil:
		return fmt.Sprintf("type %q: want one such as movie or tv, or an IMDb id", record.Shown(c.kind))
	case c.kind == "" && c.tmdb > 0:
		return fmt.Sprintf("want the kind of %d: a type such as movie or tv, or --kind", c.tmdb)
	case c.tvdb > 0:
		return "only series are found by TVDB id: want another id, or a title with its year"
	}
	return "want an id, or a title with its year"
}

// exportKinds maps the names of daily ID exports, up to _ids, to kinds.
var exportKinds = map[string]string{
	"movie": "movie", "tv_series": "tv", "person": "person", "collection": "collection", "tv_network": "network", "keyword": "keyword",
	"production_company": "company",
}

// exportKind returns the kind of a daily ID export.
func exportKind(path string) (string, error) {
	name, _, ok := strings.Cut(strings.TrimPrefix(filepath.Base(path), "adult_"), "_ids")
	kind := exportKinds[name]
	if !ok || kind == "" {
		return "", fmt.Errorf("daily ids %s: want the name of an export, such as movie_ids_11_20_2026.json.gz", path)
	}
	return kind, nil
}

// readExport reads a daily ID export. Rows without a popularity are all included.
func (s *selection) readExport(ctx context.Context, kind string, minPopularity float64, path string) error {
	return eachRow(ctx, "daily ids", path, func(row source.Row) error {
		var v struct {
			ID         int64
			Popularity *float64
		}
		if err := json.Unmarshal(row.JSON, &v); err != nil || row.Err != nil || v.ID < 1 {
			return errors.New(`want a row of a daily id export, such as {"id":550,"popularity":61.4}`)
		}
		if v.Popularity == nil || *v.Popularity >= minPopularity {
			s.resources = append(s.resources, resource{kind, v.ID})
		}
		return nil
	})
}

// addLibrary adds a title of a library. If it has no ID, it is searched for or reported.
func (s *selection) addLibrary(c candidate, search bool) {
	if !c.hasID() && (!search || c.title == "" || c.year < 1) {
		s.unresolved = append(s.unresolved, c.place)
		return
	}
	s.add(&c, search)
}
