package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

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

// A pointerStore is a Folder or a Bucket, whose pointers change in the same way.
type pointerStore interface {
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

// first returns the newest ID of a pointer.
func first(ctx context.Context, s pointerStore, name string) (string, error) {
	p, err := s.pointer(ctx, name)
	return p.first(), err
}

// rolledBack returns the IDs of rolled-back releases; none if the pointer is absent.
func rolledBack(ctx context.Context, s pointerStore) ([]string, error) {
	p, err := s.pointer(ctx, rolledBackName)
	if errors.Is(err, ErrNoRelease) {
		err = nil
	}
	return p.ids, err
}

// mendable reads a pointer to replace it: an absent or invalid one has no IDs, because publishing is the way to repair
// it. Only the history is lost.
func mendable(ctx context.Context, s pointerStore, name string) (pointer, error) {
	p, err := s.pointer(ctx, name)
	if errors.Is(err, ErrNoRelease) || errors.Is(err, release.ErrCorrupt) {
		err = nil
	}
	return p, err
}

// publish sets a pointer to the release id, and returns its previous target.
func publish(ctx context.Context, s pointerStore, name, id string) (previous string, err error) {
	old, err := mendable(ctx, s, name)
	if err != nil {
		return "", err
	}
	if err := s.check(ctx, id); err != nil {
		return "", err
	}
	if previous = old.first(); previous == id {
		return previous, nil
	}
	ids := []string{id}
	if name == currentName { // the canary has no history
		ids = append(ids, old.ids...)
	}
	if err := s.setPointer(ctx, name, old, ids); err != nil {
		return "", err
	}
	if ids, err := rolledBack(ctx, s); len(ids) == 0 && err == nil { // most common: publishers need no permission to delete
		return previous, nil
	}
	return previous, s.removePointer(ctx, rolledBackName)
}

// rollback sets current to the release before, without a trace of the present one in the history.
func rollback(ctx context.Context, s pointerStore) (from, to string, err error) {
	old, err := s.pointer(ctx, currentName)
	if err != nil {
		return "", "", err
	}
	if len(old.ids) < 2 {
		return "", "", fmt.Errorf("no release has been current before %s", old.ids[0])
	}
	from, to = old.ids[0], old.ids[1]
	if err = s.check(ctx, to); err == nil {
		err = noteRolledBack(ctx, s, from)
	}
	if err == nil {
		err = s.setPointer(ctx, currentName, old, old.ids[1:])
	}
	if err != nil {
		return "", "", fmt.Errorf("from %s: %w", from, err)
	}
	return from, to, nil
}

// removeCanary removes the canary and returns its ID.
func removeCanary(ctx context.Context, s pointerStore) (id string, err error) {
	if id, err = first(ctx, s, canaryName); err != nil && !errors.Is(err, release.ErrCorrupt) {
		return "", err
	}
	if current, _ := first(ctx, s, currentName); id != "" && id != current { // else it went out to all edges
		if err := noteRolledBack(ctx, s, id); err != nil {
			return "", err
		}
	}
	return id, s.removePointer(ctx, canaryName)
}

// noteRolledBack adds a release to the list of rolled-back ones, unless it is broken: a build or an upload may repair
// that. A corrupt list is replaced.
func noteRolledBack(ctx context.Context, s pointerStore, id string) error {
	if err := s.check(ctx, id); IsBroken(err) {
		return nil
	}
	old, err := mendable(ctx, s, rolledBackName)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(old.ids, func(other string) bool { return other == id })
	return s.setPointer(ctx, rolledBackName, old, append([]string{id}, others...))
}

// IsBroken reports whether an error means that a release is missing or invalid, rather than a disk error or a limit
// that may not recur.
func IsBroken(err error) bool {
	for _, is := range []error{ErrNoRelease, release.ErrCorrupt, release.ErrVersion, fs.ErrNotExist, errIncomplete} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
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
