package crawl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/schemas/durable"
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
	File string `json:"f,omitempty"` // of its rows, "" for none
	Rows int64  `json:"r,omitempty"` // bytes of its rows
	End  int64  `json:"e,omitempty"` // of the file, behind them

	Gone  bool               `json:"g,omitempty"`
	Into  int64              `json:"m,omitempty"` // the id that took the resource's place
	Named map[string][]int64 `json:"n,omitempty"` // ids by kind that the response names
	Pages int                `json:"p,omitempty"` // of a list
}

// A place is where the journal has the entry of a key.
type place struct {
	off int64
	day Day
}

// A store is the folder of a dump: files of rows and the journal of responses. A row is in a file if
// its entry is in the journal: rows are written first, and opening a store takes off the rows that
// have no entry. It is for one goroutine, and for one process at a time.
type store struct {
	dir     string
	lock    *flock.Flock
	journal *os.File
	end     int64 // of the journal
	files   map[string]*rowFile
	done    map[xxh3.Uint128]place // by key; hashes of 128 bits stand for the keys
	ends    map[string]int64       // of the files of rows
	synced  time.Time
	dirty   bool
}

// A rowFile is a file of rows while it is appended to.
type rowFile struct {
	*os.File
	end int64
}

// openStore opens the folder of a dump, made when it is missing.
func openStore(dir string) (s *store, err error) {
	if err := os.MkdirAll(filepath.Join(dir, workDir), 0o755); err != nil {
		return nil, fmt.Errorf("make folder of the dump: %w", err)
	}
	s = &store{dir: dir, files: map[string]*rowFile{}, done: map[xxh3.Uint128]place{}, synced: time.Now()}
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

// open reads the journal and cuts off what it does not vouch for.
func (s *store) open() (err error) {
	path := s.work(journalFile)
	if s.journal, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return fmt.Errorf("open journal: %w", err)
	}
	s.ends = map[string]int64{}
	size, err := readJournal(s.journal, s.note)
	if err != nil {
		return fmt.Errorf("journal %s: %w", path, err)
	}
	if size == 0 {
		if err := s.foreign(); err != nil {
			return err
		}
		if err := os.Truncate(path, 0); err != nil {
			return fmt.Errorf("cut journal: %w", err)
		}
		if _, err := s.journal.WriteString(journalHead); err != nil {
			return fmt.Errorf("write journal: %w", err)
		}
		s.end = int64(len(journalHead))
		return nil
	}
	if err := os.Truncate(path, size); err != nil {
		return fmt.Errorf("cut journal: %w", err)
	}
	s.end = size
	return s.cut()
}

// note takes an entry of the journal over.
func (s *store) note(off int64, e *entry) {
	s.done[xxh3.HashString128(e.Key)] = place{off, e.Day}
	if e.File != "" {
		s.ends[e.File] = e.End
	}
}

// foreign refuses a folder with rows of another program.
func (s *store) foreign() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("look at folder of the dump: %w", err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && fileKind(e.Name()) != "" && info.Size() > 0 {
			return fmt.Errorf("%s holds a %s that no crawl has written: want another --out", s.dir, e.Name())
		}
	}
	return nil
}

// cut takes rows without an entry off the files. A file that lost rows, which only the end of the machine
// can cause, takes their entries with it.
func (s *store) cut() error {
	lost := map[string]int64{}
	for name, end := range s.ends {
		path := filepath.Join(s.dir, name)
		info, err := os.Stat(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("look at rows: %w", err)
		}
		if err != nil || info.Size() < end {
			lost[name] = 0
			if err == nil {
				lost[name] = info.Size()
			}
			continue
		}
		if err := os.Truncate(path, end); err != nil {
			return fmt.Errorf("cut rows without an entry: %w", err)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	return s.forget(lost)
}

// forget writes the journal anew without the entries of rows that files lost, and opens it again.
func (s *store) forget(lost map[string]int64) error {
	var out bytes.Buffer
	out.WriteString(journalHead)
	_, err := readJournal(io.NewSectionReader(s.journal, 0, s.end), func(_ int64, e *entry) {
		if size, ok := lost[e.File]; ok && e.End > size {
			return
		}
		out.Write(lineOf(e))
	})
	if err == nil {
		err = s.journal.Close()
	}
	if err == nil {
		err = durable.WriteFile(s.work(journalFile), out.Bytes(), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write journal anew: %w", err)
	}
	s.done = map[xxh3.Uint128]place{}
	return s.open()
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

// day returns the day of a key's response, 0 for none.
func (s *store) day(key string) Day { return s.done[xxh3.HashString128(key)].day }

// entry reads the entry of a key that has a day.
func (s *store) entry(key string) (e entry, err error) {
	off := s.done[xxh3.HashString128(key)].off
	line, err := bufio.NewReader(io.NewSectionReader(s.journal, off, s.end-off)).ReadBytes('\n')
	if err == nil {
		e, err = parseEntry(line)
	}
	if err == nil && e.Key != key {
		err = fmt.Errorf("want the entry of %s, found %s", key, e.Key)
	}
	if err != nil {
		return e, fmt.Errorf("read journal at byte %d: %w", off, err)
	}
	return e, nil
}

// add writes the rows of a response and its entry, which gets the place of the rows.
func (s *store) add(e *entry, rows []byte) error {
	if len(rows) > 0 {
		f, err := s.file(e.File)
		if err != nil {
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
	if err := s.journal.Sync(); err != nil {
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
	return f.Sync()
}

// each calls use with the latest entry of each key, in the order of the journal.
func (s *store) each(use func(e *entry)) error {
	_, err := readJournal(io.NewSectionReader(s.journal, 0, s.end), func(off int64, e *entry) {
		if s.done[xxh3.HashString128(e.Key)].off == off {
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
