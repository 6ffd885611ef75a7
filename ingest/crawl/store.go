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

	"github.com/reelsplice/reelsplice/schemas/file"
)

// Files of the working folder, in the folder of the dump. Hidden files are no part of a dump.
const (
	workDir     = ".crawl"
	journalFile = "journal"
	lockFile    = "lock"
	nextDir     = "next" // of files that compact writes
)

// journalHead is the first line of a journal.
const journalHead = `{"journal":"reelsplice crawl","version":1}` + "\n"

// maxLine bounds a line of the journal, in bytes: a response names fewer ids than it has bytes.
const maxLine = maxBody

// syncEvery is how long rows are in the page cache alone, at most. They survive the end of the process
// there, not that of the machine.
const syncEvery = 5 * time.Second

// An entry is a line of the journal: a response that was used, and what followed from it.
type entry struct {
	Key  string `json:"k"`
	Day  Day    `json:"d"`           // of the response
	Data Day    `json:"a,omitempty"` // of its data, where the server says that it is older
	File string `json:"f,omitempty"` // of its rows, "" for none
	Rows int64  `json:"r,omitempty"` // bytes of its rows
	End  int64  `json:"e,omitempty"` // of the file, behind them

	Gone   bool               `json:"g,omitempty"`
	Into   int64              `json:"m,omitempty"` // the id that took the resource's place
	Named  map[string][]int64 `json:"n,omitempty"` // ids by kind that the response names
	Pages  int                `json:"p,omitempty"` // of a list
	Mode   SeasonMode         `json:"s,omitempty"` // of a season
	Videos []string           `json:"v,omitempty"` // further languages of the videos that were asked for
}

// age returns the day of the data.
func (e *entry) age() Day { return cmp.Or(e.Data, e.Day) }

// left reports whether the resource has no row of its own any more.
func (e *entry) left() bool { return e.Gone || e.Into > 0 }

// A place is where the journal has the entry of a key.
type place struct {
	off      int64
	day, age Day // as the entry has them
	left     bool
	row      bool // the entry has rows
}

// keepPassing is how long entries of lists of changes and of lacking seasons are kept, in days. A list that is asked
// for later is read again.
const keepPassing = 30

// A store is the folder of a dump: files of rows and the journal of responses. A row is in a file if
// its entry is in the journal: rows are written first, and opening a store takes off the rows that
// have no entry. It is for one goroutine, and for one process at a time.
type store struct {
	dir     string
	log     *slog.Logger
	lock    *flock.Flock
	journal *os.File
	end     int64 // of the journal
	files   map[string]*rowFile
	done    map[xxh3.Uint128]place // by key; hashes of 128 bits stand for the keys
	ends    map[string]int64       // of the files of rows
	entries int64                  // with those that later ones replace
	// languages are those of entries. Titles are kept up to date in all of them.
	languages map[string]bool
	// doubled marks rows that later ones replace and that have the same day: ingest would put the later one aside.
	doubled bool
	passing Day // lists of changes and lacking seasons that are older are left out
	synced  time.Time
	dirty   bool
}

// A rowFile is a file of rows while it is appended to.
type rowFile struct {
	*os.File
	end int64
}

// openStore opens the folder of a dump, made when it is missing.
func openStore(dir string, log *slog.Logger) (s *store, err error) {
	if err := file.MkdirAll(filepath.Join(dir, workDir), 0o755); err != nil {
		return nil, fmt.Errorf("make folder of the dump: %w", err)
	}
	s = &store{dir: dir, log: log, files: map[string]*rowFile{}, synced: time.Now()}
	s.lock = flock.New(s.work(lockFile))
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
	if err := s.endCompact(); err != nil {
		return s, err
	}
	return s, s.open()
}

func (s *store) work(name string) string { return filepath.Join(s.dir, workDir, name) }

// open reads the journal and cuts off what it does not vouch for: rows without an entry, and files without any. A file that
// lost rows, which only the end of the machine can cause, takes their entries with it.
func (s *store) open() (err error) {
	path := s.work(journalFile)
	if s.journal, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return fmt.Errorf("open journal: %w", err)
	}
	sizes := map[string]int64{} // of the files of rows
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("look at folder of the dump: %w", err)
	}
	for _, e := range entries {
		if fileKind(e.Name()) == "" {
			continue
		}
		info, err := os.Stat(filepath.Join(s.dir, e.Name())) // also of a link's target
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("look at rows: %w", err)
		}
		if err == nil {
			sizes[e.Name()] = info.Size()
		}
	}
	s.done, s.ends, s.languages = map[xxh3.Uint128]place{}, map[string]int64{}, map[string]bool{}
	s.entries, s.doubled = 0, false
	lost := false
	s.end, err = readJournal(s.journal, func(off int64, e *entry) {
		if e.End > sizes[e.File] {
			lost = true
			return
		}
		s.note(off, e)
	})
	if err != nil {
		return fmt.Errorf("journal %s: %w", path, err)
	}
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		switch end, size := s.ends[name], sizes[name]; {
		case s.end == 0 && size > 0:
			return fmt.Errorf("%s holds a %s that no crawl has written: want another --out", s.dir, name)
		case end == 0 && size > 0:
			err = s.moveAside(name)
		case size > end:
			err = os.Truncate(filepath.Join(s.dir, name), end)
		}
		if err != nil {
			return fmt.Errorf("cut rows without an entry: %w", err)
		}
	}
	if err := os.Truncate(path, s.end); err != nil {
		return fmt.Errorf("cut journal: %w", err)
	}
	if s.end == 0 {
		s.end = int64(len(journalHead))
		if _, err := s.journal.WriteString(journalHead); err != nil {
			return fmt.Errorf("write journal: %w", err)
		}
	}
	if lost {
		return s.compact()
	}
	return nil
}

// note takes an entry of the journal over.
func (s *store) note(off int64, e *entry) {
	hash := xxh3.HashString128(e.Key)
	if e.File != "" {
		s.ends[e.File] = e.End
		s.doubled = s.doubled || s.done[hash].age >= e.age()
	}
	s.done[hash] = place{off, e.Day, e.age(), e.left(), e.File != ""}
	s.entries++
	if language := languageOf(e.Key); language != "" {
		s.languages[language] = true
	}
}

// moveAside moves a file of rows without an entry: they are first rows of a killed crawl, or the user's own.
func (s *store) moveAside(name string) error {
	dir, err := os.MkdirTemp(s.work(""), "aside-")
	if err != nil {
		return err
	}
	from, to := filepath.Join(s.dir, name), filepath.Join(dir, name)
	s.log.Warn("a file has rows that no crawl has written: it is moved", "from", from, "to", to)
	return file.Rename(from, to)
}

// readJournal calls use with each entry and its offset. It returns the size of the journal without a torn
// last line; 0 for one without a head.
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
		case len(line) > maxLine:
			return size, fmt.Errorf("line %d: want at most %d bytes", n, maxLine)
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

// parseEntry checks a line of the journal.
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

func lineOf(e *entry) []byte {
	line, err := json.Marshal(e)
	if err != nil {
		return nil // an entry has texts and numbers alone
	}
	return append(line, '\n')
}

// at returns the place of a key's entry, zero for none.
func (s *store) at(key string) place { return s.done[xxh3.HashString128(key)] }

// has reports whether there is an entry with a row of the resource itself.
func (s *store) has(key string) bool {
	p := s.at(key)
	return p.row && !p.left
}

// entry reads the entry of a key, zero for none.
func (s *store) entry(key string) (e entry, err error) {
	p := s.at(key)
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

// add writes the rows of a response and its entry, which gets the place of the rows.
func (s *store) add(e *entry, rows []byte) error {
	var f *rowFile // nil without rows
	if len(rows) > 0 {
		var err error
		if f, err = s.file(e.File); err != nil {
			return err
		}
		if n, err := f.Write(rows); err != nil {
			_ = f.Truncate(f.end) // the next crawl cuts what is left of it
			return fmt.Errorf("write rows, %d of %d bytes: %w", n, len(rows), err)
		}
		f.end += int64(len(rows))
		e.Rows, e.End = int64(len(rows)), f.end
	} else {
		e.File = ""
	}
	line := lineOf(e)
	if _, err := s.journal.Write(line); err != nil {
		_ = s.journal.Truncate(s.end)
		if f != nil { // or the entry of the next rows in the file would cover these too
			f.end -= e.Rows
			_ = f.Truncate(f.end)
		}
		return fmt.Errorf("write journal: %w", err)
	}
	s.note(s.end, e)
	s.end += int64(len(line))
	s.dirty = true
	if time.Since(s.synced) < syncEvery {
		return nil
	}
	return s.sync()
}

// file returns a file of rows, open for appending.
func (s *store) file(name string) (*rowFile, error) {
	if f := s.files[name]; f != nil {
		return f, nil
	}
	f, err := os.OpenFile(filepath.Join(s.dir, name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open file of rows: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open file of rows: %w", err), f.Close())
	}
	s.files[name] = &rowFile{f, info.Size()}
	return s.files[name], nil
}

// sync brings rows, and then their entries, to the disk.
func (s *store) sync() error {
	s.synced = time.Now()
	if !s.dirty {
		return nil
	}
	for _, f := range s.files {
		if err := syncFile(f.File); err != nil {
			return fmt.Errorf("bring rows to the disk: %w", err)
		}
	}
	if err := file.Sync(s.journal); err != nil {
		return fmt.Errorf("bring journal to the disk: %w", err)
	}
	s.dirty = false
	return nil
}

// syncFile brings a regular file to the disk.
func syncFile(f *os.File) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	return file.Sync(f)
}

// each calls use with the latest entry of each key, in the order of the journal. It leaves out entries of
// titles and seasons that are no more, except their removals, and old ones of lists of changes and lacking seasons.
func (s *store) each(use func(e *entry)) error {
	_, err := readJournal(io.NewSectionReader(s.journal, 0, s.end), func(off int64, e *entry) {
		switch {
		case s.at(e.Key).off != off, isPassing(e.Key) && e.Day < s.passing:
		case !e.left() && slices.ContainsFunc(ownersOf(e.Key), func(owner string) bool { return s.at(owner).left }):
		default:
			use(e)
		}
	})
	if err != nil {
		return fmt.Errorf("journal %s: %w", s.work(journalFile), err)
	}
	return nil
}

// close ends the store. Rows that are not on the disk go there.
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
