package crawl

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/file"
)

// Files of the working folder inside the dump. Ingest ignores hidden files.
const (
	workDir     = ".crawl"
	journalFile = "journal"
	lockFile    = "lock"
	nextDir     = "next"     // compact writes its files here
	completeDir = "complete" // nextDir, renamed once all of its files are complete and synced
)

// journalHead is the first line of a journal.
const journalHead = `{"journal":"reelsplice crawl","version":1}` + "\n"

// syncEvery bounds how long rows exist only in the page cache, where they survive a killed process but not a power failure.
const syncEvery = 5 * time.Second

// An entry is a line of the journal: a response that was used, and its consequences.
type entry struct {
	Key  string  `json:"k"`
	Day  day.Day `json:"d"`           // day of the response
	Data day.Day `json:"a,omitempty"` // date of its data, if the server reports an older one
	File string  `json:"f,omitempty"` // file of its rows, or ""
	Rows int64   `json:"r,omitempty"` // size of its rows in bytes
	End  int64   `json:"e,omitempty"` // end offset of its rows in the file

	Gone   bool               `json:"g,omitempty"`
	Into   int64              `json:"m,omitempty"` // ID that replaced the resource
	Named  map[string][]int64 `json:"n,omitempty"` // IDs in the response, by kind
	Pages  int                `json:"p,omitempty"` // pages of a list
	Mode   seasonMode         `json:"s,omitempty"` // mode of a season
	Videos []string           `json:"v,omitempty"` // requested video languages besides the base
}

// age returns the date of the data.
func (e *entry) age() day.Day { return cmp.Or(e.Data, e.Day) }

// removed reports whether the resource was removed or merged.
func (e *entry) removed() bool { return e.Gone || e.Into > 0 }

// A place locates the entry of a key in the journal.
type place struct {
	off      int64
	day, age day.Day // copies from the entry
	removed  bool
	row      bool // the entry has rows
}

// keepChanges is how many days entries of change lists are kept. Later, a list is fetched again.
const keepChanges = 30

// A store is the folder of a dump: files of rows, and the journal of responses. A row counts only if its entry is in the
// journal. Rows are written first, and openStore removes rows without an entry. A store is for one goroutine and one process.
type store struct {
	dir     string
	log     *slog.Logger
	lock    *flock.Flock
	journal *os.File
	end     int64                  // size of the journal
	files   map[string]*os.File    // files of rows, open for appending
	done    map[xxh3.Uint128]place // by the 128-bit hash of the key
	ends    map[string]int64       // sizes of the files of rows
	entries int64                  // all entries, replaced ones included
	// languages lists the languages of entries. Titles are updated in all of them.
	languages map[string]bool
	// doubled is set if a replaced row has the same date as its replacement: ingest would quarantine the later row.
	doubled bool
	expired day.Day // entries of change lists before this day have expired
	synced  time.Time
	dirty   bool
}

// openStore opens the folder of a dump, and creates it if needed.
func openStore(dir string, log *slog.Logger) (s *store, err error) {
	if err := file.MkdirAll(filepath.Join(dir, workDir), 0o755); err != nil {
		return nil, fmt.Errorf("make folder of the dump: %w", err)
	}
	s = &store{dir: dir, log: log, files: map[string]*os.File{}, synced: time.Now()}
	s.lock = flock.New(s.workPath(lockFile))
	switch ok, err := s.lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("lock folder of the dump: %w", err)
	case !ok:
		return nil, fmt.Errorf("another crawl writes to %s", dir)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
			s = nil
		}
	}()
	if _, err = os.Stat(s.workPath(completeDir)); err == nil { // an interrupted compact
		err = file.MoveAll(s.workPath(completeDir), s.dir)
	} else {
		err = os.RemoveAll(s.workPath(nextDir))
	}
	if err != nil {
		return s, err
	}
	return s, s.open()
}

func (s *store) workPath(name string) string { return filepath.Join(s.dir, workDir, name) }

// open reads the journal and removes rows without an entry. If a file lost rows, which only a power failure can cause, their
// entries are removed too.
func (s *store) open() (err error) {
	path := s.workPath(journalFile)
	if s.journal, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return fmt.Errorf("open journal: %w", err)
	}
	sizes := map[string]int64{} // sizes of the files of rows
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("read folder of the dump: %w", err)
	}
	for _, e := range entries {
		if fileKind(e.Name()) == "" {
			continue
		}
		info, err := os.Stat(filepath.Join(s.dir, e.Name())) // follows links
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read rows: %w", err)
		}
		if err == nil {
			sizes[e.Name()] = info.Size()
		}
	}
	s.done, s.ends, s.languages = map[xxh3.Uint128]place{}, map[string]int64{}, map[string]bool{}
	s.entries, s.doubled = 0, false
	truncated := false
	s.end, err = readJournal(s.journal, func(off int64, e *entry) {
		if e.End > sizes[e.File] {
			truncated = true
			return
		}
		s.index(off, e)
	})
	if err != nil {
		return fmt.Errorf("journal %s: %w", path, err)
	}
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		switch end, size := s.ends[name], sizes[name]; {
		case s.end == 0 && size > 0:
			return fmt.Errorf("%s has a %s that no crawl has written: want another --out", s.dir, name)
		case end == 0 && size > 0:
			err = s.moveAside(name)
		case size > end:
			err = os.Truncate(filepath.Join(s.dir, name), end)
		}
		if err != nil {
			return fmt.Errorf("truncate rows without an entry: %w", err)
		}
	}
	if err := os.Truncate(path, s.end); err != nil {
		return fmt.Errorf("truncate journal: %w", err)
	}
	if s.end == 0 {
		s.end = int64(len(journalHead))
		if _, err := s.journal.WriteString(journalHead); err != nil {
			return fmt.Errorf("write journal: %w", err)
		}
	}
	if truncated {
		return s.compact()
	}
	return nil
}

// index adds an entry of the journal to the indexes.
func (s *store) index(off int64, e *entry) {
	hash := xxh3.HashString128(e.Key)
	if e.File != "" {
		s.ends[e.File] = e.End
		s.doubled = s.doubled || s.done[hash].age >= e.age()
	}
	s.done[hash] = place{off, e.Day, e.age(), e.removed(), e.File != ""}
	s.entries++
	if language := languageOf(e.Key); language != "" {
		s.languages[language] = true
	}
}

// moveAside moves a file of rows without any entry out of the dump: it has the first rows of a killed crawl, or belongs
// to the user.
func (s *store) moveAside(name string) error {
	dir, err := os.MkdirTemp(s.workPath(""), "aside-")
	if err != nil {
		return err
	}
	from, to := filepath.Join(s.dir, name), filepath.Join(dir, name)
	s.log.Warn("moved a file with rows that no crawl has written", "from", from, "to", to)
	return file.Rename(from, to)
}

// readJournal calls use with each entry and its offset. It returns the size of the journal without a torn last line, or 0 if
// there is no head.
func readJournal(r io.Reader, use func(off int64, e *entry)) (size int64, err error) {
	in := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return size, nil // a line without its end is torn
		}
		if err != nil {
			return size, err
		}
		switch {
		case n == 1 && string(line) != journalHead:
			return size, fmt.Errorf("line 1: want %s", strings.TrimSpace(journalHead))
		case n > 1:
			e, err := parseEntry(line)
			if err != nil {
				return size, fmt.Errorf("line %d: %w", n, err)
			}
			use(size, &e)
		}
		size += int64(len(line))
	}
}

// parseEntry parses and checks a line of the journal.
func parseEntry(line []byte) (e entry, err error) {
	if err := json.Unmarshal(line, &e); err != nil {
		return e, fmt.Errorf("want an entry: %w", err)
	}
	if e.Key == "" || e.Day <= 0 || e.Rows < 0 || e.End < e.Rows || (e.File == "") != (e.End == 0) {
		return e, errors.New("want an entry with its key, day and rows")
	}
	if e.File != "" && fileKind(e.File) == "" {
		return e, fmt.Errorf("file %q: want the name of a file of rows", e.File)
	}
	return e, nil
}

func formatEntry(e *entry) []byte {
	line, err := json.Marshal(e)
	if err != nil {
		return nil // impossible: an entry has only texts and numbers
	}
	return append(line, '\n')
}

// place returns the place of a key's entry, or zero.
func (s *store) place(key string) place { return s.done[xxh3.HashString128(key)] }

// has reports whether the dump has a row of the resource, and it was not removed.
func (s *store) has(key string) bool {
	p := s.place(key)
	return p.row && !p.removed
}

// entry reads the entry of a key, or zero.
func (s *store) entry(key string) (e entry, err error) {
	p := s.place(key)
	if p.day == 0 {
		return e, nil
	}
	line, err := bufio.NewReader(io.NewSectionReader(s.journal, p.off, s.end-p.off)).ReadBytes('\n')
	if err == nil {
		e, err = parseEntry(line)
	}
	if err == nil && e.Key != key {
		err = fmt.Errorf("want the entry of %s, found %s", key, e.Key)
	}
	if err != nil {
		return e, fmt.Errorf("read journal at byte %d: %w", p.off, err)
	}
	return e, nil
}

// add appends the rows of a response and then its entry, whose Rows and End it sets.
func (s *store) add(e *entry, rows []byte) error {
	off := s.end
	if err := s.append(e, rows); err != nil {
		return err
	}
	s.index(off, e)
	if time.Since(s.synced) < syncEvery {
		return nil
	}
	return s.sync()
}

// append is add without the indexes.
func (s *store) append(e *entry, rows []byte) error {
	var f *os.File // nil without rows
	if len(rows) > 0 {
		var err error
		if f, err = s.file(e.File); err != nil {
			return err
		}
		end := s.ends[e.File]
		if n, err := f.Write(rows); err != nil {
			_ = f.Truncate(end) // the next crawl removes the rest
			return fmt.Errorf("write rows, %d of %d bytes: %w", n, len(rows), err)
		}
		e.Rows, e.End = int64(len(rows)), end+int64(len(rows))
	} else {
		e.File = ""
	}
	line := formatEntry(e)
	if _, err := s.journal.Write(line); err != nil {
		_ = s.journal.Truncate(s.end)
		if f != nil { // otherwise the entry of the next rows would cover these too
			_ = f.Truncate(e.End - e.Rows)
		}
		return fmt.Errorf("write journal: %w", err)
	}
	if f != nil {
		s.ends[e.File] = e.End
	}
	s.end += int64(len(line))
	s.dirty = true
	return nil
}

// file returns a file of rows, open for appending and reading.
func (s *store) file(name string) (*os.File, error) {
	if f := s.files[name]; f != nil {
		return f, nil
	}
	f, err := os.OpenFile(filepath.Join(s.dir, name), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open file of rows: %w", err)
	}
	s.files[name] = f
	return f, nil
}

// sync flushes rows, and then their entries, to disk.
func (s *store) sync() error {
	s.synced = time.Now()
	if !s.dirty {
		return nil
	}
	for _, f := range s.files {
		info, err := f.Stat()
		if err == nil && info.Mode().IsRegular() {
			err = file.Sync(f)
		}
		if err != nil {
			return fmt.Errorf("sync rows: %w", err)
		}
	}
	if err := file.Sync(s.journal); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	s.dirty = false
	return nil
}

// each calls use with the latest entry of each key, in the journal's order. It skips expired entries, and entries of parts of
// removed titles and seasons.
func (s *store) each(use func(e *entry)) error {
	_, err := readJournal(io.NewSectionReader(s.journal, 0, s.end), func(off int64, e *entry) {
		switch {
		case s.place(e.Key).off != off, strings.HasPrefix(e.Key, changesPrefix) && e.Day < s.expired:
		case !e.removed() && slices.ContainsFunc(ownersOf(e.Key), func(owner string) bool { return s.place(owner).removed }):
		default:
			use(e)
		}
	})
	if err != nil {
		return fmt.Errorf("journal %s: %w", s.workPath(journalFile), err)
	}
	return nil
}

// close flushes and closes the store.
func (s *store) close() error {
	var errs []error
	if s.journal != nil {
		errs = append(errs, s.sync(), s.journal.Close())
	}
	errs = append(errs, s.closeFiles(), s.lock.Unlock())
	return errors.Join(errs...)
}

func (s *store) closeFiles() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		errs = append(errs, s.files[name].Close())
	}
	clear(s.files)
	return errors.Join(errs...)
}

// A holding summarises the contents of a store without replaced rows.
type holding struct {
	live, all           int64   // bytes of rows; all includes replaced ones
	entries, allEntries int64   // lines of the journal; allEntries includes replaced ones
	oldest, newest      day.Day // date of the data, without removals
	doubled             bool
}

// holding reads the whole journal.
func (s *store) holding() (h holding, err error) {
	h.allEntries, h.doubled = s.entries, s.doubled
	err = s.each(func(e *entry) {
		h.entries++
		h.live += e.Rows
		if e.File == "" || e.removed() {
			return // a removal has no date
		}
		h.newest = max(h.newest, e.age())
		if h.oldest == 0 || e.age() < h.oldest {
			h.oldest = e.age()
		}
	})
	for _, end := range s.ends {
		h.all += end
	}
	return h, err
}

// compact rewrites the files and the journal without replaced rows. If it is interrupted, the old files stay, or the next
// opening completes it.
func (s *store) compact() error {
	err := s.sync()
	if err == nil {
		err = s.writeNext()
	}
	if err == nil {
		err = errors.Join(s.closeFiles(), s.journal.Close())
	}
	if err == nil {
		s.journal = nil
		err = file.ReplaceAll(s.workPath(nextDir), s.workPath(completeDir), s.dir)
	}
	if err != nil {
		return fmt.Errorf("compact the dump: %w", err)
	}
	return s.open()
}

// writeNext writes a store with the same contents below nextDir.
func (s *store) writeNext() (err error) {
	next := &store{dir: s.workPath(nextDir), log: s.log, files: map[string]*os.File{}}
	if err := os.MkdirAll(next.workPath(""), 0o755); err != nil {
		return err
	}
	if err := next.open(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, next.sync(), next.closeFiles(), next.journal.Close()) }()
	for name := range s.ends { // an empty file removes the old one
		if _, err := next.file(name); err != nil {
			return err
		}
	}
	var failed error
	err = s.each(func(e *entry) {
		rows := make([]byte, e.Rows)
		if len(rows) > 0 && failed == nil {
			var f *os.File
			if f, failed = s.file(e.File); failed == nil {
				_, failed = f.ReadAt(rows, e.End-e.Rows)
			}
		}
		if failed == nil {
			failed = next.append(e, rows)
		}
	})
	return errors.Join(err, failed)
}
