// Package follow makes a value from files, and makes it again when they change.
package follow

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reelsplice/reelsplice/schemas/file"
)

// Files are the sources of a Value.
type Files[T any] struct {
	Name    string // in messages: "token file"
	Paths   []string
	MaxSize int64 // largest size of each file, in bytes
	// Make makes the value of the files' contents, with attributes for the log.
	Make func(contents [][]byte) (v *T, attrs []any, err error)
	Log  *slog.Logger
}

// A Value follows its files. While they are malformed or missing, the last good value stays: a typo, or a volume that
// is remounted, must not lock clients out. Err returns the reason, and each distinct failure is logged once. It is safe
// for concurrent use.
//
// A file that is replaced in one step, by a rename, is never read half written.
type Value[T any] struct {
	files   Files[T]
	current atomic.Pointer[T]
	fault   atomic.Pointer[error] // nil for none
	loaded  atomic.Int64          // when current was made, in nanoseconds of Unix time

	mu   sync.Mutex // for one Poll at a time
	seen [][]byte   // contents of the files of current
}

// Open makes the value. Files that cannot be used are an error.
func Open[T any](files Files[T]) (*Value[T], error) {
	v := &Value[T]{files: files}
	if err := v.load(); err != nil {
		return nil, err
	}
	return v, nil
}

// Get returns the current value: one for a whole request, since the next call may return another.
func (v *Value[T]) Get() *T { return v.current.Load() }

// Loaded returns when the current value was made.
func (v *Value[T]) Loaded() time.Time { return time.Unix(0, v.loaded.Load()) }

// Err returns why the files as they are cannot be used, or nil.
func (v *Value[T]) Err() error {
	if err := v.fault.Load(); err != nil {
		return *err
	}
	return nil
}

// Poll replaces the value if the files have changed. It reads them: a stat misses a change within the resolution of a
// file system's clock, and may be outdated over a network.
func (v *Value[T]) Poll() {
	v.mu.Lock()
	defer v.mu.Unlock()
	log, old, err := v.files.Log, v.Err(), v.load()
	switch {
	case err != nil:
		if old == nil || old.Error() != err.Error() {
			log.Error(v.files.Name+" cannot be used, the last good one stays in force", "file", v.files.Paths[0], "error", err)
		}
		v.fault.Store(&err)
	case old != nil:
		v.fault.Store(nil)
		log.Info(v.files.Name+" is good again", "file", v.files.Paths[0])
	}
}

// load replaces the value if the contents of the files have changed.
func (v *Value[T]) load() error {
	contents := make([][]byte, len(v.files.Paths))
	for i, path := range v.files.Paths {
		var err error
		if contents[i], err = file.Read(path, v.files.MaxSize); err != nil {
			return fmt.Errorf("read %s: %w", v.files.Name, err)
		}
	}
	if slices.EqualFunc(contents, v.seen, bytes.Equal) {
		return nil
	}
	made, attrs, err := v.files.Make(contents)
	if err != nil {
		return err
	}
	level := slog.LevelInfo
	if v.current.Swap(made) == nil { // the start, which fails if this fails
		level = slog.LevelDebug
	}
	v.loaded.Store(time.Now().UnixNano())
	v.seen = contents
	v.files.Log.Log(context.Background(), level, v.files.Name+" loaded", append([]any{"file", v.files.Paths[0]}, attrs...)...)
	return nil
}
