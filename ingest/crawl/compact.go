package crawl

import (
	"errors"
	"fmt"
	"os"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/file"
)

// A holding summarises the contents of a store without replaced rows.
type holding struct {
	live, all           int64   // bytes of rows; all includes replaced ones
	entries, allEntries int64   // lines of the journal, likewise
	oldest, newest      day.Day // date of the data, without removals
	doubled             bool
}

// holding reads the whole journal.
func (s *store) holding() (h holding, err error) {
	h.allEntries, h.doubled = s.entries, s.doubled
	err = s.each(func(e *entry) {
		h.entries++
		h.live += e.Rows
		if e.File == "" || e.left() {
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

// wasteful reports whether compact is worthwhile: more than a quarter of the rows or of the journal is replaced, or ingest
// would quarantine a row.
func (h holding) wasteful() bool {
	return h.all-h.live > h.all/4 || h.allEntries-h.entries > h.allEntries/4 || h.doubled
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
		err = file.ReplaceAll(s.work(nextDir), s.work(completeDir), s.dir)
	}
	if err != nil {
		return fmt.Errorf("compact the dump: %w", err)
	}
	return s.open()
}

// writeNext writes a store with the same contents below nextDir.
func (s *store) writeNext() (err error) {
	next := &store{dir: s.work(nextDir), log: s.log, files: map[string]*os.File{}}
	if err := os.MkdirAll(next.work(""), 0o755); err != nil {
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
		if failed == nil {
			failed = next.copyEntry(e, s)
		}
	})
	return errors.Join(err, failed)
}

// copyEntry appends an entry of another store with its rows.
func (s *store) copyEntry(e *entry, from *store) error {
	rows := make([]byte, e.Rows)
	if len(rows) > 0 {
		f, err := from.file(e.File)
		if err == nil {
			_, err = f.ReadAt(rows, e.End-e.Rows)
		}
		if err != nil {
			return err
		}
	}
	return s.append(e, rows)
}

// endCompact moves complete new files into place, and removes incomplete ones.
func (s *store) endCompact() error {
	if _, err := os.Stat(s.work(completeDir)); err == nil {
		return file.MoveAll(s.work(completeDir), s.dir)
	}
	return os.RemoveAll(s.work(nextDir))
}
