package ingest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/record"
)

// stored is the stream of a catalogue file's records. One without a file has none.
type stored struct {
	typ   *catalog.Type
	file  *catalog.File
	rows  *catalog.Rows // of the row group at hand
	group int           // that is read next
	next  record.Record
	key   catalog.Key // of next
	err   error
	// firsts has the key of the first record of each row group, where they may be copied.
	firsts []catalog.Key
}

func openStored(path string, t *catalog.Type) (*stored, error) {
	f, err := catalog.OpenFile(path, t)
	if errors.Is(err, fs.ErrNotExist) {
		return &stored{typ: t}, nil
	}
	if err != nil {
		return nil, err
	}
	return &stored{typ: t, file: f}, nil
}

func (s *stored) peek() (catalog.Key, bool, error) {
	if s.next.IsNil() && s.file != nil && s.err == nil {
		s.err = s.read()
	}
	return s.key, !s.next.IsNil(), s.err
}

// read reads the next record, if there is one.
func (s *stored) read() error {
	r := s.typ.New()
	for {
		if s.rows == nil {
			if s.group == s.file.RowGroups() {
				return nil
			}
			s.rows = s.file.Groups(s.group, s.group+1)
			s.group++
		}
		err := s.rows.Next(r)
		if err == nil {
			break
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		s.rows.Close()
		s.rows = nil
	}
	s.next = r
	var err error
	if s.key, err = s.typ.Key(r); err != nil {
		return fmt.Errorf("read %s records of the catalogue: %w", s.typ.Name(), err)
	}
	return nil
}

// takeIf takes the record that peek found if it is that of key; nil otherwise.
func (s *stored) takeIf(key catalog.Key) record.Record {
	r := s.next
	if r.IsNil() || s.key != key {
		return record.Record{}
	}
	s.next = record.Record{}
	return r
}

func (s *stored) close() {
	if s.rows != nil {
		s.rows.Close()
	}
	if s.file != nil {
		_ = s.file.Close() // read side: nothing to lose
	}
}

// removals is the stream of what the catalogue knows to be removed, of one kind.
type removals struct {
	list []catalog.Removed
}

func (r *removals) peek() (catalog.Key, bool, error) {
	if len(r.list) == 0 {
		return catalog.Key{}, false, nil
	}
	return r.list[0].Key, true, nil
}

func (r *removals) takeIf(key catalog.Key) *catalog.Removed {
	if len(r.list) == 0 || r.list[0].Key != key {
		return nil
	}
	first := &r.list[0]
	r.list = r.list[1:]
	return first
}

// copyGroup copies the row group of the catalogue that comes next as it is, when it
// begins with key and no other stream has anything to say about its records. Only an
// update does: it leaves row groups of other sizes than a file that is written anew has.
func (s *streams) copyGroup(w *catalog.Writer, key catalog.Key) (bool, error) {
	o := s.old
	if !s.Update || o.file == nil || o.next.IsNil() || o.key != key || o.group == 0 {
		return false, nil
	}
	if o.firsts == nil {
		var err error
		if o.firsts, err = o.file.FirstKeys(); err != nil {
			return false, err
		}
	}
	at := o.group - 1
	if o.firsts[at] != key {
		return false, nil
	}
	news := func() (catalog.Key, bool, error) { return s.in.peek(s.typ) }
	for _, peek := range []func() (catalog.Key, bool, error){s.gone.peek, news, s.overlay.peek} {
		next, ok, err := peek()
		if err != nil {
			return false, err
		}
		if ok && (at+1 == len(o.firsts) || next.Compare(o.firsts[at+1]) < 0) {
			return false, nil
		}
	}
	if !w.CanCopy() {
		return false, nil
	}
	if err := w.CopyGroup(o.file, at); err != nil {
		return false, err
	}
	o.rows.Close()
	o.rows, o.next = nil, record.Record{}
	return true, nil
}
