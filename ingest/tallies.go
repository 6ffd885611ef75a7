package ingest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"reelsplice/ingest/report"
	"reelsplice/schemas/extsort"
)

// tallies are those of the files, by number of the source. A file's tally goes to disk when
// the file is read, so that memory and journal do not grow with the number of files. A row
// can still turn out to repeat another: such changes are kept apart until the end.
type tallies struct {
	collector *report.Collector
	open      map[int]*report.Tally // of the files at hand
	changes   map[int]*report.Tally // to those on disk; their counts may be below zero

	path  string
	bytes int64 // of the file that count
	file  *os.File
	buf   *bufio.Writer
}

// A tallyState is what tallies know, as a journal keeps it.
type tallyState struct {
	Open    map[int]report.TallyState `json:"open,omitempty"`
	Changes map[int]report.TallyState `json:"changes,omitempty"`
	Bytes   int64                     `json:"bytes"` // of the file
}

// A closedTally is a line of the file.
type closedTally struct {
	Number int               `json:"number"`
	Tally  report.TallyState `json:"tally"`
}

func newTallies(c *report.Collector, path string) *tallies {
	return &tallies{collector: c, open: map[int]*report.Tally{}, changes: map[int]*report.Tally{}, path: path}
}

// begin begins the tally of a file, unless an earlier process has.
func (t *tallies) begin(number int, f report.File) {
	if t.open[number] == nil {
		t.open[number] = t.collector.Source(f)
	}
}

// merge adds what was counted of a file.
func (t *tallies) merge(number int, o *report.Tally) {
	t.amend(number, func(own *report.Tally) { own.Merge(o) })
}

// amend changes what was counted of a file.
func (t *tallies) amend(number int, f func(*report.Tally)) {
	tally := t.open[number]
	if tally == nil {
		tally = t.changes[number]
	}
	if tally == nil {
		tally = t.collector.Source(report.File{})
		t.changes[number] = tally
	}
	f(tally)
}

// close writes the tally of a file that is read.
func (t *tallies) close(number int) error {
	if t.file == nil {
		if err := t.create(); err != nil {
			return fmt.Errorf("write the counts of files: %w", err)
		}
	}
	b, err := json.Marshal(closedTally{number, t.open[number].State()})
	if err == nil {
		b = append(b, '\n')
		_, err = t.buf.Write(b)
	}
	if err != nil {
		return fmt.Errorf("write the counts of files: %w", err)
	}
	t.bytes += int64(len(b))
	delete(t.open, number)
	return nil
}

// create opens the file behind what counts of it.
func (t *tallies) create() error {
	f, err := os.OpenFile(t.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err = f.Truncate(t.bytes); err == nil {
		_, err = f.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	t.file, t.buf = f, bufio.NewWriter(f)
	return nil
}

// flush hands what was written to the system.
func (t *tallies) flush() error {
	if t.file == nil {
		return nil
	}
	if err := t.buf.Flush(); err != nil {
		return fmt.Errorf("write the counts of files: %w", err)
	}
	return nil
}

// end gives all tallies to the collector, in the order in which the files were read.
func (t *tallies) end() error {
	if err := t.flush(); err != nil {
		return err
	}
	if err := t.eachClosed(func(number int, tally *report.Tally) {
		if change := t.changes[number]; change != nil {
			tally.Merge(change)
		}
		t.collector.Add(tally)
	}); err != nil {
		// Without them the ingest cannot go on, but start anew.
		return fmt.Errorf("read the counts of files: %w: %w", extsort.ErrDamaged, err)
	}
	for _, number := range slices.Sorted(maps.Keys(t.open)) {
		t.collector.Add(t.open[number])
	}
	clear(t.open)
	return t.release()
}

// eachClosed calls fn with the tallies on disk.
func (t *tallies) eachClosed(fn func(number int, tally *report.Tally)) error {
	if t.bytes == 0 {
		return nil
	}
	f, err := os.Open(t.path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read side
	d := json.NewDecoder(io.LimitReader(f, t.bytes))
	for {
		var line closedTally
		err := d.Decode(&line)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		tally := t.collector.Source(report.File{})
		tally.Restore(line.Tally)
		fn(line.Number, tally)
	}
}

// release closes the file. A run that was stopped still reads it.
func (t *tallies) release() error {
	if t.file == nil {
		return nil
	}
	f := t.file
	err := t.flush()
	t.file = nil
	return errors.Join(err, f.Close())
}

func (t *tallies) state() (tallyState, error) {
	s := tallyState{Open: map[int]report.TallyState{}, Changes: map[int]report.TallyState{}, Bytes: t.bytes}
	for n, tally := range t.open {
		s.Open[n] = tally.State()
	}
	for n, tally := range t.changes {
		s.Changes[n] = tally.State()
	}
	return s, t.flush()
}

// restore sets empty tallies to a state. It fails when the file has lost what counts.
func (t *tallies) restore(s tallyState) error {
	for _, m := range []struct {
		to   map[int]*report.Tally
		from map[int]report.TallyState
	}{{t.open, s.Open}, {t.changes, s.Changes}} {
		for n, state := range m.from {
			m.to[n] = t.collector.Source(report.File{})
			m.to[n].Restore(state)
		}
	}
	if t.bytes = s.Bytes; t.bytes == 0 {
		return nil
	}
	info, err := os.Stat(t.path)
	if err == nil && info.Size() < t.bytes {
		err = fmt.Errorf("has %d bytes, want %d", info.Size(), t.bytes)
	}
	if err != nil {
		return fmt.Errorf("counts of files: %w", err)
	}
	return nil
}
