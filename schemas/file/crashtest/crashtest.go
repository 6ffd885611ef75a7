//go:build unix

// Package crashtest computes the possible states of a folder after a power cut.
package crashtest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// A State is a possible state of a folder after a power cut.
type State struct {
	At    string            // the last action
	files map[string][]byte // content by path; paths of folders end in a slash
}

// Restore creates the state in an empty folder.
func (s *State) Restore(tb testing.TB, dir string) {
	tb.Helper()
	for _, name := range slices.Sorted(maps.Keys(s.files)) { // folders before their content
		var err error
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			err = os.Mkdir(path, 0o700)
		} else {
			err = os.WriteFile(path, s.files[name], 0o600)
		}
		sharedtest.NoError(tb, err)
	}
}

// Record calls do, and returns the possible states of a folder after a power cut at each action reported by package
// file. It returns each state once, the final one last. There are two models of a file system. In one, a name exists
// once its folder was synced; in the other, immediately. A file has the content of its last sync, or is empty if it
// has none.
func Record(tb testing.TB, dir string, do func()) []State {
	tb.Helper()
	r := &recorder{dir: dir, content: map[inode][]byte{}, names: map[inode]map[string]inode{}, held: map[inode]*os.File{}, seen: map[[sha256.Size]byte]bool{}}
	defer func() {
		file.Step = nil
		for _, f := range r.held {
			_ = f.Close()
		}
	}()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // everything is on disk at first
		return errors.Join(err, r.sync(path))
	})
	sharedtest.NoError(tb, err)
	file.Step = r.step
	do()
	return append(r.states, State{"the end", r.remaining(r.synced)})
}

// A recorder tracks the content of a folder on disk.
type recorder struct {
	dir string

	mu      sync.Mutex // guards the following fields
	content map[inode][]byte
	names   map[inode]map[string]inode // by folder
	held    map[inode]*os.File         // open files, so that the number of a removed file is not reused
	states  []State
	seen    map[[sha256.Size]byte]bool
}

// An inode is a file or a folder, independent of its name.
type inode struct {
	number uint64
	folder bool
}

// step records an action of package file.
func (r *recorder) step(action, path string) error {
	if path != r.dir && !strings.HasPrefix(path, r.dir+"/") {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	label := action + " " + strings.TrimPrefix(path, r.dir+"/")
	if action == "write" { // its content was synced before the rename
		if err := r.sync(path); err != nil {
			return err
		}
	}
	r.add(label, r.listed)
	if action == "sync" {
		if err := r.sync(path); err != nil {
			return err
		}
	}
	r.add(label, r.synced)
	return nil
}

// sync records that a file or a folder is on disk in its current state.
func (r *recorder) sync(path string) error {
	i, err := r.inode(path)
	switch {
	case err != nil:
	case i.folder:
		r.names[i], err = r.list(path)
	default:
		r.content[i], err = os.ReadFile(path)
	}
	return err
}

func (r *recorder) inode(path string) (i inode, err error) {
	st, err := os.Lstat(path)
	if err != nil {
		return i, err
	}
	i = inode{st.Sys().(*syscall.Stat_t).Ino, st.IsDir()}
	if r.held[i] == nil {
		r.held[i], err = os.Open(path)
	}
	return i, err
}

// list returns the current names in a folder.
func (r *recorder) list(dir string) (map[string]inode, error) {
	entries, err := os.ReadDir(dir)
	names := map[string]inode{}
	for _, e := range entries {
		i, err := r.inode(filepath.Join(dir, e.Name()))
		switch {
		case err == nil:
			names[e.Name()] = i
		case !errors.Is(err, fs.ErrNotExist): // another goroutine has removed it
			return nil, err
		}
	}
	return names, err
}

// listed returns the current names in a folder; synced returns the names on disk.
func (r *recorder) listed(path string, _ inode) map[string]inode {
	names, _ := r.list(path) // a removed folder has none
	return names
}

func (r *recorder) synced(_ string, i inode) map[string]inode { return r.names[i] }

// remaining returns the remaining content of the folder, with names from a function.
func (r *recorder) remaining(names func(path string, i inode) map[string]inode) map[string][]byte {
	files := map[string][]byte{}
	var walk func(below string, i inode)
	walk = func(below string, i inode) {
		for name, i := range names(filepath.Join(r.dir, below), i) {
			if i.folder {
				files[below+name+"/"] = nil
				walk(below+name+"/", i)
			} else {
				files[below+name] = r.content[i]
			}
		}
	}
	if root, err := r.inode(r.dir); err == nil {
		walk("", root)
	}
	return files
}

// add adds a state unless it exists.
func (r *recorder) add(label string, names func(path string, i inode) map[string]inode) {
	files, h := r.remaining(names), sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%q %x\n", name, sha256.Sum256(files[name]))
	}
	if sum := [sha256.Size]byte(h.Sum(nil)); !r.seen[sum] {
		r.seen[sum] = true
		r.states = append(r.states, State{label, files})
	}
}
