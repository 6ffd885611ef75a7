package merge

import (
	"errors"
	"fmt"
	"io"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// stored is the stream of a catalogue file's records. One without a file has none.
type stored struct {
	typ    *catalog.Type
	file   *catalog.File
	fields []string      // that are read; nil for all
	rows   *catalog.Rows // of the row group at hand
	group  int           // that is read next
	next   record.Record
	key    catalog.Key // of next
	err    error
	// firsts has the key of the first record of each row group, where groups may be copied or passed.
	firsts []catalog.Key
}

func openStored(path string, t *catalog.Type, fields ...string) (*stored, error) {
	f, err := catalog.OpenIfAny(path, t)
	return &stored{typ: t, file: f, fields: fields}, err
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
			if s.rows = s.file.Groups(s.group, s.group+1); s.fields != nil {
				s.rows = s.file.Select(s.fields, s.group, s.group+1)
			}
			s.group++
		}
		err := s.rows.Next(r)
		if err == nil {
			break
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		s.leave()
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

// seek passes the records before key. Row groups that lie before it are not read.
func (s *stored) seek(key catalog.Key) error {
	if s.file == nil {
		return nil
	}
	if err := s.findFirsts(); err != nil {
		return err
	}
	n := s.group
	for n < len(s.firsts) && s.firsts[n].Compare(key) <= 0 {
		n++
	}
	if n > s.group {
		s.leave()
		s.group = n - 1
	}
	for {
		if next, ok, err := s.peek(); err != nil || !ok || next.Compare(key) >= 0 {
			return err
		}
		s.next = record.Record{}
	}
}

func (s *stored) findFirsts() (err error) {
	if s.firsts == nil {
		s.firsts, err = s.file.FirstKeys()
	}
	return err
}

// leave leaves the row group at hand.
func (s *stored) leave() {
	if s.rows != nil {
		s.rows.Close()
	}
	s.rows, s.next = nil, record.Record{}
}

func (s *stored) close() {
	if s != nil {
		s.leave()
		_ = s.file.Close() // read side: nothing to lose
	}
}

// removals is the stream of removed resources of one kind, as the catalogue lists them.
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

// groupAt reports whether a row group begins with the record at hand, which has that key, and
// returns the key that the following one begins with, nil behind the last. A group can be copied only
// as long as next is its first record; group is one ahead of it then.
func (s *stored) groupAt(key catalog.Key) (end *catalog.Key, ok bool, err error) {
	if s.file == nil || s.next.IsNil() || s.key != key || s.group == 0 {
		return nil, false, nil
	}
	if err := s.findFirsts(); err != nil || s.firsts[s.group-1] != key {
		return nil, false, err
	}
	if s.group < len(s.firsts) {
		end = &s.firsts[s.group]
	}
	return end, true, nil
}

// copyGroup copies the row group at hand as it is.
func (s *stored) copyGroup(w *catalog.Writer) error {
	if err := w.CopyGroup(s.file, s.group-1); err != nil {
		return err
	}
	s.leave()
	return nil
}
