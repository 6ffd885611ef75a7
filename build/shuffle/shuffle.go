// Package shuffle moves records from the shards that make them to the partitions that
// reduce them. Records are opaque bytes with a key; they are spread over files by a
// hash, and each file is sorted when it is read, in memory when it fits.
//
//	s, err := shuffle.New(dir, 64, 256<<20)
//	defer s.Close()
//	w := s.Writer()                    // one for each map task
//	err = w.Add(hash, key, payload)    // many times
//	err = w.Close()
//	it, err := s.Partition(ctx, 0, 256<<20)
//	key, payload, err := it.Next()     // until io.EOF
//
// What a partition gives depends on nothing but the records that were added: neither on
// their order, nor on the number of Writers, nor on any memory. Every block of a file
// carries a CRC-32C, so that a damaged file is an error and never wrong data.
package shuffle

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
)

const (
	// MaxPartitions is how many partitions there can be: each has an open file while
	// records are added.
	MaxPartitions = 4096

	// MaxRecord is the longest record in bytes: its key, its payload, and up to ten
	// bytes for their lengths.
	MaxRecord = 1 << 30
)

var (
	errWriterClosed = errors.New("shuffle: add to a closed writer")
	errSealed       = errors.New("shuffle: add after a partition was read or the shuffle was closed")
)

// A Shuffle holds records in partitions. First records are added, by any number of
// Writers at once; then partitions are read, any number of them at once.
type Shuffle struct {
	dir     string
	parts   []part
	create  func(path string) (io.WriteCloser, error)
	writers atomic.Int64          // open ones
	failed  atomic.Pointer[error] // the first error of a Writer
	runs    atomic.Int64          // sorted runs made so far, for their names

	sealing sync.Once
	sealErr error

	mu    sync.Mutex
	spare []*chunk // of iterators that came to their end
}

// A part is a partition while records are added to it. One buffer a partition serves
// all Writers, so that memory does not depend on their number.
type part struct {
	mu     sync.Mutex
	w      blockWriter
	sealed bool
}

// New returns a Shuffle of 1 to MaxPartitions partitions whose Writers buffer at most
// memory bytes together, 4 KiB a partition at least. Its files lie in a folder of its
// own below dir, which Close removes.
func New(dir string, partitions int, memory int64) (*Shuffle, error) {
	if partitions < 1 || partitions > MaxPartitions {
		return nil, fmt.Errorf("shuffle: %d partitions, want 1 to %d", partitions, MaxPartitions)
	}
	path, err := os.MkdirTemp(dir, "shuffle-*")
	if err != nil {
		return nil, fmt.Errorf("create folder for a shuffle: %w", err)
	}
	s := &Shuffle{dir: path, parts: make([]part, partitions), create: createFile}
	block := int(min(max(memory/int64(partitions), minBlock), maxBlock))
	for i := range s.parts {
		s.parts[i].w = blockWriter{path: filepath.Join(path, strconv.Itoa(i)+".part"), block: block}
	}
	return s, nil
}

// Partitions returns how many partitions there are.
func (s *Shuffle) Partitions() int { return len(s.parts) }

// A Writer adds the records of one map task. It is for one goroutine.
type Writer struct {
	s      *Shuffle
	closed bool
}

// Writer returns a Writer, which must be closed before partitions are read. It may be
// used beside others.
func (s *Shuffle) Writer() *Writer {
	s.writers.Add(1)
	return &Writer{s: s}
}

// Add adds a record to partition partitionHash modulo their number, and copies key and
// payload. After an error, such as a full disk, the Shuffle can only be closed.
func (w *Writer) Add(partitionHash uint64, key, payload []byte) error {
	if w.closed {
		return errWriterClosed
	}
	if n := recordBytes(key, payload); n > MaxRecord {
		return fmt.Errorf("shuffle: record of %d bytes, want at most %d", n, MaxRecord)
	}
	p := &w.s.parts[partitionHash%uint64(len(w.s.parts))]
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sealed {
		return errSealed
	}
	return w.s.keep(p.w.add(w.s.create, key, payload))
}

// Close ends the adding. It returns the first error of any Writer, so that a task need
// not go on when another one has failed. A second Close does nothing.
func (w *Writer) Close() error {
	if !w.closed {
		w.closed = true
		w.s.writers.Add(-1)
	}
	return w.s.err()
}

// keep remembers the first error and returns err.
func (s *Shuffle) keep(err error) error {
	if err != nil {
		s.failed.CompareAndSwap(nil, &err)
	}
	return err
}

func (s *Shuffle) err() error {
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// seal ends the adding to all partitions and gives up their buffers.
func (s *Shuffle) seal() error {
	s.sealing.Do(func() {
		for i := range s.parts {
			p := &s.parts[i]
			p.mu.Lock()
			p.sealed = true
			err := p.w.close(s.create)
			p.mu.Unlock()
			if s.sealErr == nil {
				s.sealErr = s.keep(err)
			}
		}
	})
	return s.sealErr
}

// Close removes all files. Iterators must not be used afterwards. A second Close does
// nothing.
func (s *Shuffle) Close() error {
	s.sealing.Do(func() {
		for i := range s.parts {
			p := &s.parts[i]
			p.mu.Lock()
			p.sealed = true
			p.w.abort()
			p.mu.Unlock()
		}
		s.sealErr = errors.New("shuffle: closed")
	})
	s.mu.Lock()
	s.spare = nil
	s.mu.Unlock()
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("remove files of a shuffle: %w", err)
	}
	return nil
}

// createFile is how files are made outside tests.
func createFile(path string) (io.WriteCloser, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}
