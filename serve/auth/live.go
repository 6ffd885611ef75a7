package auth

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// mtimeGrain is the coarsest time stamp a file system in use keeps. A file that was read sooner
	// than that after its mtime may change again without a trace in stat.
	mtimeGrain = 2 * time.Second

	// rereadAfter bounds what stat can hide: tools that set the old mtime again after an edit in
	// place, network file systems that cache attributes.
	rereadAfter = 10 * time.Second
)

// Live follows a token file. What it does when the file cannot be used is a choice: the last good
// table stays, Err returns the reason for /readyz and the metrics, and each distinct failure is
// logged once. That holds for a file that became malformed and for one that is gone, since a slip of
// the editor, or a volume that is remounted, must not turn every client away. So removing or
// emptying the file revokes nothing: revoke tokens, or leave a comment alone in it.
//
// Replace the file in one step (a rename, as Issue and Revoke do). An edit in place may be seen half
// written, until the next look at it; a file without its end is refused.
type Live struct {
	path  string
	log   *slog.Logger
	now   func() time.Time
	table atomic.Pointer[Table]
	fault atomic.Pointer[fault]

	mu     sync.Mutex // guards what follows, for one look at a time
	seen   fs.FileInfo
	readAt time.Time         // just before the content was read
	sum    [sha256.Size]byte // of the content behind table
}

// fault keeps an error behind an atomic pointer.
type fault struct{ err error }

// OpenLive reads the token file at path; a file that cannot be used is an error. It does not follow
// the file before Run. A nil logger logs nothing.
func OpenLive(path string, logger *slog.Logger) (*Live, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	l := &Live{path: path, log: logger, now: time.Now}
	if err := l.load(); err != nil {
		return nil, err
	}
	return l, nil
}

// Table returns the current table: one for a whole request, since the next call may return another.
func (l *Live) Table() *Table { return l.table.Load() }

// Err returns why the file on disk is not what Table answers from, or nil.
func (l *Live) Err() error {
	if f := l.fault.Load(); f != nil {
		return f.err
	}
	return nil
}

// Reload reads the file now, whatever stat says about it, and returns what Err returns.
func (l *Live) Reload() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settle(l.load())
	return l.Err()
}

// Poll reads the file if it may have changed.
func (l *Live) Poll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	info, err := os.Stat(l.path)
	if err != nil {
		l.seen = nil // the same file may come back
		l.settle(fmt.Errorf("look at token file: %w", err))
		return
	}
	if l.due(info) {
		l.settle(l.load())
	}
}

// due reports whether the file that info describes must be read again.
func (l *Live) due(info fs.FileInfo) bool {
	switch {
	case l.seen == nil,
		!os.SameFile(l.seen, info),
		l.seen.Size() != info.Size(),
		!l.seen.ModTime().Equal(info.ModTime()):
		return true
	}
	return l.readAt.Sub(info.ModTime()) < mtimeGrain || l.now().Sub(l.readAt) > rereadAfter
}

// load reads the file and, when its content is new and good, puts a new table in place.
func (l *Live) load() error {
	l.readAt = l.now()
	data, info, err := readFile(l.path)
	l.seen = info // nil after an error, so that the next look reads again
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	if l.table.Load() != nil && sum == l.sum {
		return nil
	}
	entries, err := parse(l.path, data)
	if err != nil {
		return err
	}
	t := NewTable(records(entries))
	l.table.Store(t)
	l.sum = sum
	l.log.Info("token file loaded", "file", l.path, "tokens", t.Len(), "active", t.Active(l.now().Unix()))
	return nil
}

// settle publishes the outcome of a look at the file and logs what is new about it.
func (l *Live) settle(err error) {
	old := l.Err()
	switch {
	case err == nil && old == nil:
	case err == nil:
		l.fault.Store(nil)
		l.log.Info("token file is good again", "file", l.path)
	default:
		if old == nil || old.Error() != err.Error() {
			l.log.Error("token file cannot be used, the last good one stays in force", "file", l.path, "err", err)
		}
		l.fault.Store(&fault{err})
	}
}
