package crawl

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

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
	s.dirty = false
	return s.open()
}

// A copier appends rows to a new file.
type copier struct {
	from, to *os.File
	out      *bufio.Writer
	end      int64
}

// writeNext writes the new files below nextDir.
func (s *store) writeNext() (err error) {
	next := s.work(nextDir)
	if err := os.MkdirAll(filepath.Join(next, workDir), 0o755); err != nil {
		return err
	}
	journal, err := newCopier("", filepath.Join(next, workDir, journalFile))
	if err != nil {
		return err
	}
	files := map[string]*copier{"": journal}
	defer func() {
		for _, c := range files {
			err = errors.Join(err, c.close())
		}
	}()
	for name := range s.ends { // an empty file removes the old one
		c, err := newCopier(filepath.Join(s.dir, name), filepath.Join(next, name))
		if err != nil {
			return err
		}
		files[name] = c
	}
	if _, err := journal.out.WriteString(journalHead); err != nil {
		return err
	}
	var failed error
	err = s.each(func(e *entry) {
		if failed == nil {
			failed = copyEntry(e, files)
		}
	})
	return errors.Join(err, failed)
}

// copyEntry copies the rows of an entry, and the entry with their new offset.
func copyEntry(e *entry, files map[string]*copier) error {
	if e.File != "" {
		c := files[e.File]
		if _, err := io.Copy(c.out, io.NewSectionReader(c.from, e.End-e.Rows, e.Rows)); err != nil {
			return err
		}
		c.end += e.Rows
		e.End = c.end
	}
	_, err := files[""].out.Write(lineOf(e))
	return err
}

func newCopier(from, to string) (c *copier, err error) {
	c = &copier{}
	if from != "" {
		if c.from, err = os.Open(from); err != nil {
			return nil, err
		}
	}
	if c.to, err = os.Create(to); err != nil {
		if c.from != nil {
			c.from.Close()
		}
		return nil, err
	}
	c.out = bufio.NewWriterSize(c.to, 1<<16)
	return c, nil
}

// close flushes the new file to disk.
func (c *copier) close() error {
	if c.from != nil {
		c.from.Close()
	}
	return errors.Join(c.out.Flush(), file.Sync(c.to), c.to.Close())
}

// endCompact moves complete new files into place, and removes incomplete ones.
func (s *store) endCompact() error {
	if _, err := os.Stat(s.work(completeDir)); err == nil {
		return file.MoveAll(s.work(completeDir), s.dir)
	}
	return os.RemoveAll(s.work(nextDir))
}
