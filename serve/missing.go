package serve

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/observe"
)

const (
	// maxMissingBytes bounds the file of missing resources, and by it the memory of its lines: about 100,000.
	maxMissingBytes = 1 << 20
	// maxMissing is how many missing resources may wait to be written. Others are dropped until a client requests them
	// again.
	maxMissing = 4096
)

// A missingFile collects resources that clients request and the release lacks, one a line, such as "movie 550":
// the input of crawl. Each line is written once. Only write touches the disk; a line that cannot be written is dropped.
type missingFile struct {
	path  string
	log   *slog.Logger
	found chan edge.Missing

	noted map[string]bool // the lines of the file
	size  int64           // size of the file with these lines
}

func newMissingFile(path string, log *slog.Logger) *missingFile {
	return &missingFile{path: path, log: observe.Limit(log, 1, time.Minute), found: make(chan edge.Missing, maxMissing), size: -1}
}

// add notes a resource without waiting.
func (m *missingFile) add(resource edge.Missing) {
	select {
	case m.found <- resource:
	default:
	}
}

// write appends the noted resources. It is for one goroutine.
func (m *missingFile) write() {
	if len(m.found) == 0 {
		return
	}
	if err := m.append(); err != nil {
		m.log.Warn("missing resources are not written", "error", err)
	}
}

// append opens the file each time: its reader may move or truncate it, and then lines are written again.
func (m *missingFile) append() (err error) {
	f, err := os.OpenFile(m.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o640)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var lines []byte
	if info.Size() != m.size {
		if lines, err = m.read(f, info); err != nil {
			return err
		}
	}
	full := false
	for n := len(m.found); n > 0; n-- {
		resource := <-m.found
		line := fmt.Sprintf("%s %d\n", resource.Kind, resource.ID)
		if resource.IMDb {
			line = fmt.Sprintf("tt%07d\n", resource.ID)
		}
		switch {
		case m.noted[line]:
		case info.Size()+int64(len(lines)+len(line)) > maxMissingBytes:
			full = true
		default:
			lines, m.noted[line] = append(lines, line...), true
		}
	}
	if _, err := f.Write(lines); err != nil {
		m.size = -1 // read it again
		return errors.Join(err, f.Truncate(info.Size()))
	}
	m.size = info.Size() + int64(len(lines))
	if full {
		return fmt.Errorf("%s has %d bytes: fetch its ids with crawl --ids, then remove it", m.path, m.size)
	}
	return nil
}

// read reads the lines of the file. It returns the end that the last one may lack.
func (m *missingFile) read(f *os.File, info os.FileInfo) (end []byte, err error) {
	m.noted, m.size = map[string]bool{}, -1
	if !info.Mode().IsRegular() {
		return nil, nil
	}
	data, err := io.ReadAll(io.LimitReader(f, maxMissingBytes))
	for line := range strings.Lines(string(data)) {
		m.noted[line] = true
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		end = []byte{'\n'}
	}
	return end, err
}
