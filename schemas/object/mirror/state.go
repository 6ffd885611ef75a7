package mirror

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/reelsplice/reelsplice/schemas/durable"
)

// state has the object that each file of a mirror last equalled.
type state struct {
	Files map[string]entry `json:"files"` // by path below the catalogue, with slashes
}

// An entry is an object's version and the file's size and time when they were equal.
type entry struct {
	ETag    string `json:"etag"`
	Size    int64  `json:"size"`
	ModTime int64  `json:"mtime"` // of the file, nanoseconds since 1970
}

// loadState reads a state. A missing or damaged one is empty: all files are downloaded again.
func loadState(path string) (state, error) {
	s := state{Files: map[string]entry{}}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil || s.Files == nil {
		return state{Files: map[string]entry{}}, nil //nolint:nilerr // the state is a cache
	}
	return s, nil
}

func (s state) save(path string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := durable.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("write state of mirror: %w", err)
	}
	return nil
}

// remember records that a file of the mirror equals the object of an ETag.
func (m *Mirror) remember(name, etag string) error {
	info, err := os.Stat(m.path(name))
	if err != nil {
		return err
	}
	m.state.Files[name] = entry{ETag: etag, Size: info.Size(), ModTime: info.ModTime().UnixNano()}
	return m.state.save(m.statePath())
}

func (m *Mirror) forget(name string) error {
	delete(m.state.Files, name)
	return m.state.save(m.statePath())
}

// path returns the path of a file of the mirror.
func (m *Mirror) path(name string) string { return filepath.Join(m.Dir(), filepath.FromSlash(name)) }

// clean reports whether the file of an entry is unchanged.
func (e entry) clean(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == e.Size && info.ModTime().UnixNano() == e.ModTime
}
