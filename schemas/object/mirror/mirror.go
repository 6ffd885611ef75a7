// Package mirror copies a catalogue in object storage to a local folder for an ingest or a
// build: Open downloads the files that the folder lacks, Push uploads the changed ones.
//
// The catalogue's objects have the names of a local catalogue's files. Open downloads the
// files at its top; quarantined rows are only uploaded. The folder stays for the next run,
// which downloads changes alone, and so does the work of a killed ingest: the next one
// continues there unless the catalogue in the bucket has changed since.
//
// Objects appear whole or not at all. Their order lets the same ingest repair a Push that
// was killed between two of them. One ingest at a time holds the catalogue's lock, an
// object beside the others; see lockName.
package mirror

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/store"
)

// Options say how a catalogue is mirrored.
type Options struct {
	Dir       string // folder of all mirrors; DefaultDir by default
	Write     bool   // take the catalogue's lock, so that Push may be called
	BreakLock bool   // take it from whoever has it
	Log       *slog.Logger
}

// DefaultDir is the folder of mirrors in the user's cache or, where there is none,
// among the system's temporary files.
func DefaultDir() string {
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "reelsplice", "mirrors")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("reelsplice-mirrors-%d", os.Getuid()))
}

// A Mirror is a catalogue's folder and where it comes from. Its methods are for one
// goroutine.
type Mirror struct {
	loc    object.Location // prefix of the catalogue
	bucket *store.Bucket
	root   string // holds the catalogue's folder, the state and the local lock
	state  state
	local  *flock.Flock
	lock   *holder // of this process; nil when only reading
	log    *slog.Logger
}

// Open makes the folder equal to the catalogue at url, an object.Location. An ingest
// that has the lock is an error; so is, for reading, one that writes just now, or a
// catalogue that has no files. Close must be called.
func Open(ctx context.Context, url string, o Options) (*Mirror, error) {
	l, err := object.Parse(url)
	if err != nil {
		return nil, err
	}
	if l.IsPattern() {
		return nil, fmt.Errorf("%s: want one catalogue, not a pattern", l)
	}
	if o.Dir == "" {
		o.Dir = DefaultDir()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	m := &Mirror{loc: l.AsPrefix(), log: o.Log.With("catalogue", l.String())}
	m.root = filepath.Join(o.Dir, folderOf(m.loc), modeOf(o.Write))
	if err := m.open(ctx, o); err != nil {
		return nil, errors.Join(err, m.Close(ctx))
	}
	return m, nil
}

func (m *Mirror) open(ctx context.Context, o Options) error {
	if err := os.MkdirAll(m.Dir(), 0o700); err != nil {
		return fmt.Errorf("make mirror of %s: %w", m.loc, err)
	}
	if err := m.lockLocal(ctx, o.Write); err != nil {
		return err
	}
	var err error
	if m.bucket, err = store.Open(ctx, m.loc); err != nil {
		return err
	}
	if o.Write {
		if m.lock, err = m.takeLock(ctx, o.BreakLock); err != nil {
			return err
		}
	}
	if m.state, err = loadState(m.statePath()); err != nil {
		return err
	}
	if !o.Write {
		return m.pullToRead(ctx)
	}
	return m.pullToWrite(ctx)
}

var unsafeName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// folderOf returns the name of a catalogue's folder among the mirrors: readable, and
// different for different stores.
func folderOf(l object.Location) string {
	sum := sha256.Sum256([]byte(l.Identity()))
	name := strings.Trim(unsafeName.ReplaceAllString(l.Bucket+"-"+l.Key, "-"), "-.")
	return name[:min(len(name), 80)] + "-" + hex.EncodeToString(sum[:6])
}

// modeOf returns the name of the folder for writing or for reading. They are two, so
// that what an ended ingest has left never gets into a release.
func modeOf(write bool) string {
	if write {
		return "ingest"
	}
	return "read"
}

// Dir returns the catalogue's folder on this machine.
func (m *Mirror) Dir() string { return filepath.Join(m.root, "catalog") }

func (m *Mirror) statePath() string { return filepath.Join(m.root, "state.json") }

// URL returns the URL of a file below Dir, and other paths as they are.
func (m *Mirror) URL(path string) string {
	rel, err := filepath.Rel(m.Dir(), path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return m.loc.At(m.key(filepath.ToSlash(rel))).String()
}

// key returns the key of a file, named by its path below Dir with slashes.
func (m *Mirror) key(name string) string { return m.loc.Key + name }

// localRetry is how often the lock of the folder is asked for.
const localRetry = 50 * time.Millisecond

// lockLocal keeps other processes of this machine out of the folder. One that reads
// waits; one that writes would only find the catalogue's own lock taken.
func (m *Mirror) lockLocal(ctx context.Context, write bool) error {
	m.local = flock.New(filepath.Join(m.root, "lock"))
	ok, err := m.local.TryLock()
	if err == nil && !ok && write {
		return fmt.Errorf("%s: another ingest of this machine is at work", m.loc)
	}
	if err == nil && !ok {
		m.log.Info("waiting for another process that uses the mirror", "folder", m.root)
		_, err = m.local.TryLockContext(ctx, localRetry)
	}
	if err != nil {
		return fmt.Errorf("lock mirror of %s: %w", m.loc, err)
	}
	return nil
}

// closeTime bounds how long Close tries to give the lock back.
const closeTime = 30 * time.Second

// Close gives the locks back, also when ctx is at its end. What was not pushed stays in
// the folder.
func (m *Mirror) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	var errs []error
	if m.lock != nil {
		errs = append(errs, m.unlock(ctx))
	}
	if m.bucket != nil {
		errs = append(errs, m.bucket.Close())
	}
	if m.local != nil {
		errs = append(errs, m.local.Unlock())
	}
	return errors.Join(errs...)
}
