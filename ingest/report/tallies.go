package report

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"
)

// Tallies are those of an ingest's files, by number of the source. A file's tally goes to disk
// when the file is read, so that memory and journal do not grow with the number of files. A row
// can still turn out to repeat another: such changes are kept apart until the end. The exported
// fields are what a journal keeps.
type Tallies struct {
	Open    map[int]*Tally `json:"open,omitempty"`    // of the files at hand
	Changes map[int]*Tally `json:"changes,omitempty"` // to those on disk; their counts may be below zero
	Bytes   int64          `json:"bytes,omitempty"`   // of the file on disk that count

	path  string
	start time.Time
	file  *os.File
	buf   *bufio.Writer
}

// ErrLost is matched by errors about tallies on disk that cannot be read back. Without them an
// ingest can only start anew.
var ErrLost = errors.New("the counts of files are lost")

// A closedTally is a line of the file.
type closedTally struct {
	Number int    `json:"number"`
	Tally  *Tally `json:"tally"`
}

// Begin opens tallies, empty or as a journal kept them, whose file is at path. It fails when the
// file has lost bytes.
func (t *Tallies) Begin(path string, start time.Time) error {
	t.path, t.start = path, start
	if t.Open == nil {
		t.Open = map[int]*Tally{}
	}
	if t.Changes == nil {
		t.Changes = map[int]*Tally{}
	}
	if t.Bytes == 0 {
		return nil
	}
	info, err := os.Stat(path)
	if err == nil && info.Size() < t.Bytes {
		err = fmt.Errorf("has %d bytes, want %d", info.Size(), t.Bytes)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return nil
}

// BeginFile begins the tally of a file, unless an earlier process has.
func (t *Tallies) BeginFile(number int, f File) {
	if t.Open[number] == nil {
		t.Open[number] = NewTally(f, t.start)
	}
}

// Of returns the tally of a file for changes.
func (t *Tallies) Of(number int) *Tally {
	if tally := t.Open[number]; tally != nil {
		return tally
	}
	if t.Changes[number] == nil {
		t.Changes[number] = NewTally(File{}, t.start)
	}
	return t.Changes[number]
}

// EndFile writes the tally of a file that is read.
func (t *Tallies) EndFile(number int) error {
	if t.file == nil {
		if err := t.create(); err != nil {
			return fmt.Errorf("write the counts of files: %w", err)
		}
	}
	b, err := json.Marshal(closedTally{number, t.Open[number]})
	if err == nil {
		b = append(b, '\n')
		_, err = t.buf.Write(b)
	}
	if err != nil {
		return fmt.Errorf("write the counts of files: %w", err)
	}
	t.Bytes += int64(len(b))
	delete(t.Open, number)
	return nil
}

// create opens the file behind the bytes that count.
func (t *Tallies) create() error {
	f, err := os.OpenFile(t.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err = f.Truncate(t.Bytes); err == nil {
		_, err = f.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	t.file, t.buf = f, bufio.NewWriter(f)
	return nil
}

// Flush hands the tallies on disk to the system.
func (t *Tallies) Flush() error {
	if t.file == nil {
		return nil
	}
	if err := t.buf.Flush(); err != nil {
		return fmt.Errorf("write the counts of files: %w", err)
	}
	return nil
}

// AddTo gives all tallies to a Collector, in the order in which the files were read.
func (t *Tallies) AddTo(c *Collector) error {
	if err := t.Flush(); err != nil {
		return err
	}
	if err := t.eachClosed(func(number int, tally *Tally) {
		if change := t.Changes[number]; change != nil {
			tally.Merge(change)
		}
		c.Add(tally)
	}); err != nil {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	for _, number := range slices.Sorted(maps.Keys(t.Open)) {
		c.Add(t.Open[number])
	}
	clear(t.Open)
	return t.Close()
}

// eachClosed calls fn with the tallies on disk.
func (t *Tallies) eachClosed(fn func(number int, tally *Tally)) error {
	if t.Bytes == 0 {
		return nil
	}
	f, err := os.Open(t.path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read side
	d := json.NewDecoder(io.LimitReader(f, t.Bytes))
	for {
		var line closedTally
		err := d.Decode(&line)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		fn(line.Number, line.Tally)
	}
}

// Close closes the file, which stays. A second Close does nothing.
func (t *Tallies) Close() error {
	if t.file == nil {
		return nil
	}
	err := t.Flush()
	f := t.file
	t.file = nil
	return errors.Join(err, f.Close())
}
