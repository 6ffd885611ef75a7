package array

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

const (
	scratchPrefix = "reelsplice-build-"
	lockEnd       = ".lock"
)

// newScratch makes a folder for files of this process in the making, and removes those of killed processes of this
// machine: a lock beside each folder shows whether its process is alive.
func newScratch(parent string) (dir string, remove func(), err error) {
	parent = cmp.Or(parent, os.TempDir())
	locks, err := filepath.Glob(filepath.Join(parent, scratchPrefix+"*"+lockEnd))
	if err != nil {
		return "", nil, err
	}
	for _, path := range locks {
		lock := flock.New(path)
		if ok, err := lock.TryLock(); err == nil && ok {
			removeScratch(lock)
		}
	}
	for {
		f, err := os.CreateTemp(parent, scratchPrefix+"*"+lockEnd)
		if err != nil {
			return "", nil, fmt.Errorf("make scratch folder: %w", err)
		}
		if err := f.Close(); err != nil {
			return "", nil, err
		}
		lock := flock.New(f.Name())
		ok, err := lock.TryLock()
		if err != nil {
			return "", nil, fmt.Errorf("lock scratch folder: %w", err)
		}
		if !ok { // another process takes it for a killed one's
			continue
		}
		dir = strings.TrimSuffix(f.Name(), lockEnd)
		return dir, func() { removeScratch(lock) }, os.Mkdir(dir, 0o700)
	}
}

// removeScratch removes the folder of a lock that is held, and the lock. What cannot be removed goes with the next process.
func removeScratch(lock *flock.Flock) {
	_ = os.RemoveAll(strings.TrimSuffix(lock.Path(), lockEnd))
	_ = lock.Unlock() // first: Windows removes no open file
	_ = os.Remove(lock.Path())
}
