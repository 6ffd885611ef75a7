package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// Names of the pointers of a store: files of a folder, objects of a bucket.
const (
	currentName    = "current"
	canaryName     = "canary"
	rolledBackName = "rolled-back"
)

// ErrNoRelease matches, through errors.Is, the error for a store without a published release.
var ErrNoRelease = errors.New("no release has been published")

// errIncomplete marks errors about a release with a missing file.
var errIncomplete = errors.New("the release is incomplete")

// A pointer is one version of a list of release IDs.
type pointer struct {
	ids     []string    // the newest first
	version object.Info // version of the object; zero if absent, and in a folder
}

// first returns the newest ID, or "".
func (p pointer) first() string { return strings.Join(p.ids[:min(1, len(p.ids))], "") }

// A Store is a Folder or a Bucket. The functions of this package change their pointers in the same way.
type Store interface {
	// String returns the store's name for messages.
	String() string
	// Manifest returns the manifest of the release id. The error matches fs.ErrNotExist if there is no such release.
	Manifest(ctx context.Context, id string) (*release.Manifest, error)
	// List returns all releases, newest first, including the current one even if it is gone. A release that cannot be
	// served has an Err.
	List(ctx context.Context) ([]Info, error)
	// Prune removes releases and returns their IDs. It keeps the current one, the target of Rollback, the canary and the
	// rolled-back ones, then the newest ones up to keep, at least 1. It neither counts nor removes releases with an Err in
	// List. It also removes the files of killed builders, and from a bucket unreferenced objects older than grace.
	Prune(ctx context.Context, keep int, grace time.Duration) (removed []string, err error)
	// RecordForced records in the report of release id why it was published despite the gate. The manifest cannot contain
	// that, because the ID covers all of its bytes.
	RecordForced(ctx context.Context, id string, reason any) error

	// change calls fn, which changes the store, while no other process does. Its errors start with operation.
	change(operation string, fn func() error) error
	// pointer reads a pointer, of one ID or more. The error matches ErrNoRelease if it is absent, and
	// release.ErrCorrupt if it is invalid; then its version is returned, too.
	pointer(ctx context.Context, name string) (pointer, error)
	// setPointer replaces the pointer that was read with ids.
	setPointer(ctx context.Context, name string, old pointer, ids []string) error
	// removePointer removes a pointer, if it exists.
	removePointer(ctx context.Context, name string) error
	// check returns an error if the release id cannot be served.
	check(ctx context.Context, id string) error
}

// Current returns the ID of the served release. The error matches ErrNoRelease before the first publishing.
func Current(ctx context.Context, s Store) (string, error) { return first(ctx, s, currentName) }

// Canary returns the ID of the release for edges that follow the canary. The error matches ErrNoRelease without one.
func Canary(ctx context.Context, s Store) (string, error) { return first(ctx, s, canaryName) }

// first returns the newest ID of a pointer.
func first(ctx context.Context, s Store, name string) (string, error) {
	p, err := s.pointer(ctx, name)
	return p.first(), err
}

// RolledBack returns the IDs of the releases rolled back since the last one was published or made the canary, newest
// first.
func RolledBack(ctx context.Context, s Store) ([]string, error) {
	p, err := s.pointer(ctx, rolledBackName)
	if errors.Is(err, ErrNoRelease) {
		err = nil
	}
	return p.ids, err
}

// repairable reads a pointer to replace it: an absent or invalid one has no IDs, because publishing is the way to repair
// it. Only the history is lost.
func repairable(ctx context.Context, s Store, name string) (pointer, error) {
	p, err := s.pointer(ctx, name)
	if errors.Is(err, ErrNoRelease) || errors.Is(err, release.ErrCorrupt) {
		err = nil
	}
	return p, err
}

// Publish makes the release id the current one and returns the previous one: empty at first, id itself if it was
// current already. It rejects a release that cannot be served.
func Publish(ctx context.Context, s Store, id string) (previous string, err error) {
	return publish(ctx, s, "publish "+id, currentName, id)
}

// SetCanary makes the release id the canary and returns the previous one, if any. It rejects a release that cannot be
// served.
func SetCanary(ctx context.Context, s Store, id string) (previous string, err error) {
	return publish(ctx, s, "set canary "+id, canaryName, id)
}

// publish sets a pointer to the release id, and returns its previous target.
func publish(ctx context.Context, s Store, operation, name, id string) (previous string, err error) {
	err = s.change(operation, func() error {
		old, err := repairable(ctx, s, name)
		if err == nil {
			err = s.check(ctx, id)
		}
		if previous = old.first(); err != nil || previous == id {
			return err
		}
		ids := []string{id}
		if name == currentName { // the canary has no history
			ids = append(ids, old.ids...)
		}
		if err := s.setPointer(ctx, name, old, ids); err != nil {
			return err
		}
		if ids, err := RolledBack(ctx, s); len(ids) == 0 && err == nil { // most common: publishers need no permission to delete
			return nil
		}
		return s.removePointer(ctx, rolledBackName)
	})
	return previous, err
}

// Rollback makes the previous release current, and removes the present one from the history; RolledBack lists it. It
// can be called repeatedly.
func Rollback(ctx context.Context, s Store) (from, to string, err error) {
	err = s.change("roll back", func() error {
		old, err := s.pointer(ctx, currentName)
		if err != nil {
			return err
		}
		if len(old.ids) < 2 {
			return fmt.Errorf("no release has been current before %s", old.ids[0])
		}
		from, to = old.ids[0], old.ids[1]
		if err = s.check(ctx, to); err == nil {
			err = recordRolledBack(ctx, s, from)
		}
		if err == nil {
			err = s.setPointer(ctx, currentName, old, old.ids[1:])
		}
		if err != nil {
			return fmt.Errorf("from %s: %w", from, err)
		}
		return nil
	})
	return from, to, err
}

// RemoveCanary makes the edges that follow the canary follow the current release. It returns the ID of the canary;
// without one the error matches ErrNoRelease. Unless the canary is current, RolledBack lists it.
func RemoveCanary(ctx context.Context, s Store) (id string, err error) {
	err = s.change("remove canary", func() (err error) {
		if id, err = Canary(ctx, s); err != nil && !errors.Is(err, release.ErrCorrupt) {
			return err
		}
		if current, _ := Current(ctx, s); id != "" && id != current { // otherwise all edges serve it
			if err := recordRolledBack(ctx, s, id); err != nil {
				return err
			}
		}
		return s.removePointer(ctx, canaryName)
	})
	return id, err
}

// recordRolledBack adds a release to the list of rolled-back ones, unless it is broken: a build or an upload may repair
// that. A corrupt list is replaced.
func recordRolledBack(ctx context.Context, s Store, id string) error {
	if err := s.check(ctx, id); IsBroken(err) {
		return nil
	}
	old, err := repairable(ctx, s, rolledBackName)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(old.ids, func(other string) bool { return other == id })
	return s.setPointer(ctx, rolledBackName, old, append([]string{id}, others...))
}

// IsBroken reports whether an error means that a release is missing or invalid, rather than a disk error or a limit
// that may not recur.
func IsBroken(err error) bool {
	return slices.ContainsFunc([]error{ErrNoRelease, release.ErrCorrupt, release.ErrVersion, fs.ErrNotExist, errIncomplete},
		func(target error) bool { return errors.Is(err, target) })
}

// maxHistory is the maximum number of IDs of a pointer.
const maxHistory = 100

// MaxHistoryBytes is the maximum size of a pointer.
const MaxHistoryBytes = maxHistory * (release.IDLen + 1)

// encodeHistory returns the content of a pointer: the newest maxHistory of ids.
func encodeHistory(ids []string) []byte {
	return []byte(strings.Join(ids[:min(len(ids), maxHistory)], "\n") + "\n")
}

// ParseHistory parses a pointer: one ID per line, each line ended, newest first; at least one.
func ParseHistory(data []byte) ([]string, error) {
	text, ended := strings.CutSuffix(string(data), "\n")
	if !ended {
		return nil, release.Corrupt(currentName, int64(len(data)), "the last line does not end")
	}
	ids := strings.Split(text, "\n")
	off := int64(0)
	for _, id := range ids {
		if !release.ValidID(id) {
			return nil, release.Corrupt(currentName, off, "%q is not a release id", id)
		}
		off += int64(len(id)) + 1
	}
	return ids, nil
}
