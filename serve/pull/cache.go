package pull

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
)

// A cache is the folder of pulled releases, up to a size.
type cache struct {
	dir      string
	maxBytes int64
	store    store.Folder
	releases map[string]*release.Manifest
	settled  bool          // its files have at most maxBytes
	bytes    atomic.Int64  // counted by the last evict
	serving  func() string // id of the release in use
	log      *slog.Logger
}

// read reads the manifests of the cache. It deletes leftovers of removed releases, and folders without a manifest.
func (c *cache) read() {
	c.releases = map[string]*release.Manifest{}
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		c.log.Error("read the cache", "error", err)
		return
	}
	for _, e := range entries {
		path := filepath.Join(c.dir, e.Name())
		if deleting, _ := filepath.Match(".deleting-*", e.Name()); deleting {
			_ = os.RemoveAll(path) // repeated at the next start
		}
		if !release.ValidID(e.Name()) {
			continue
		}
		m, err := release.ReadManifest(path)
		if err == nil && m.ID != e.Name() {
			err = fmt.Errorf("it is the manifest of release %s", m.ID)
		}
		if err != nil {
			c.log.Warn("removing a folder in the cache that is not a release", "folder", path, "error", err)
			_ = os.RemoveAll(path) // otherwise a pull of the same release replaces it
			continue
		}
		c.releases[m.ID] = &m
	}
}

// contains reports whether a release is still in the cache.
func (c *cache) contains(id string) bool {
	if _, err := os.Stat(c.store.Path(id)); err == nil {
		return true
	}
	delete(c.releases, id)
	return false
}

// sources returns the paths of whole files of the cache, and of pulls that did not end, by their SHA-256.
func (c *cache) sources() map[string]string {
	paths := map[string]string{}
	add := func(dir string, m *release.Manifest) {
		for _, f := range m.Files() {
			if path := filepath.Join(dir, f.Name); paths[f.SHA256] == "" && hasSize(path, f.Size) {
				paths[f.SHA256] = path
			}
		}
	}
	for id, m := range c.releases {
		add(c.store.Path(id), m)
	}
	for _, dir := range c.leftovers() {
		if m, err := release.ReadManifest(dir); err == nil {
			add(dir, &m)
		}
	}
	return paths
}

// inUse returns the ids of the releases that are wanted, served or current, which stay in the cache.
func (c *cache) inUse(wanted *release.Manifest) map[string]bool {
	ids := map[string]bool{wanted.ID: true, c.serving(): true}
	if current, err := store.Current(context.Background(), c.store); err == nil {
		ids[current] = true
	}
	return ids
}

// fits returns why the cache cannot hold a release, even after all unused releases are evicted.
func (c *cache) fits(wanted *release.Manifest) error {
	inUse := c.inUse(wanted)
	remaining := []*release.Manifest{wanted}
	for id, m := range c.releases {
		if inUse[id] && id != wanted.ID {
			remaining = append(remaining, m)
		}
	}
	size := sizeOf(remaining)
	if size <= c.maxBytes {
		return nil
	}
	with := ""
	if len(remaining) > 1 {
		with = " with the releases in use"
	}
	return fmt.Errorf("release %s does not fit: it has %d bytes (%s)%s, --cache-size allows %d", wanted.ID, size, humanize.IBytes(uint64(size)), with, c.maxBytes)
}

// hasRoom returns why the disk of the cache cannot hold files that a pull downloads into dir.
func (c *cache) hasRoom(dir string, files []release.File) error {
	need := sizeOf([]*release.Manifest{{Packs: files}})
	for _, f := range files {
		if st, err := os.Lstat(filepath.Join(dir, f.Name+partSuffix)); err == nil {
			need -= min(st.Size(), f.Size)
		}
	}
	if free, err := file.Free(dir); err == nil && need > free { // if the free space is unknown, the pull may find the disk full
		return fmt.Errorf("it needs %d bytes (%s) more, the disk of the cache has %s left", need, humanize.IBytes(uint64(need)), humanize.IBytes(uint64(free)))
	}
	return nil
}

// evict removes the least recently current releases until the cache with the wanted release fits its size. The wanted,
// served and current releases stay.
func (c *cache) evict(wanted *release.Manifest) error {
	inUse := c.inUse(wanted)
	for {
		size := c.size(wanted)
		c.bytes.Store(size)
		if c.settled = size <= c.maxBytes; c.settled {
			return nil
		}
		oldest, when := "", time.Time{}
		for id := range c.releases {
			var used time.Time
			if st, err := os.Stat(c.store.Path(id)); err == nil {
				used = st.ModTime()
			}
			if !inUse[id] && (oldest == "" || used.Before(when) || used.Equal(when) && id < oldest) {
				oldest, when = id, used
			}
		}
		if oldest == "" {
			return nil // the others must stay
		}
		if err := c.store.Remove(oldest); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		delete(c.releases, oldest)
		c.log.Info("release left the cache", "release", oldest)
	}
}

// leftovers returns the folders of pulls that did not end.
func (c *cache) leftovers() (dirs []string) {
	entries, _ := os.ReadDir(c.dir) // the readable ones
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), pullingPrefix) {
			dirs = append(dirs, filepath.Join(c.dir, e.Name()))
		}
	}
	return dirs
}

// removeLeftovers removes the leftovers except dir.
func (c *cache) removeLeftovers(dir string) error {
	for _, leftover := range c.leftovers() {
		if leftover == dir {
			continue
		}
		if err := os.RemoveAll(leftover); err != nil {
			return err
		}
	}
	return nil
}

// size returns the bytes of the cache with the wanted release.
func (c *cache) size(wanted *release.Manifest) int64 {
	return sizeOf(append(slices.Collect(maps.Values(c.releases)), wanted))
}

// sizeOf returns the bytes of releases. A file in several of them is a hard link and counts once.
func sizeOf(releases []*release.Manifest) (n int64) {
	counted := map[release.File]bool{}
	for _, m := range releases {
		for _, f := range m.Files() {
			if f.Live = 0; !counted[f] { // it differs between releases
				counted[f] = true
				n += f.Size
			}
		}
	}
	return n
}

// hasSize reports whether there is a file of a size.
func hasSize(path string, size int64) bool {
	st, err := os.Lstat(path)
	return err == nil && st.Mode().IsRegular() && st.Size() == size
}
