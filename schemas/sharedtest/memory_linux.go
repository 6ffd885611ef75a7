package sharedtest

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const (
	memoryRoot   = "/dev/shm"
	memoryPrefix = "reelsplice-test-"
	memoryNeeds  = 4 << 30 // bytes
)

// memoryFolder creates a folder below root, a file system in memory, and returns a function to remove it. It first
// removes the folders of test processes that ended without doing so: running processes lock theirs.
func memoryFolder(root string) (dir string, remove func(), err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(root, &st); err != nil {
		return "", nil, fmt.Errorf("%s: %w", root, err)
	}
	if free := st.Bavail * uint64(st.Bsize); free < memoryNeeds {
		return "", nil, fmt.Errorf("%s has %d bytes free, want %d", root, free, uint64(memoryNeeds))
	}
	folders, err := filepath.Glob(filepath.Join(root, memoryPrefix+"*"))
	if err != nil {
		return "", nil, err
	}
	for _, path := range folders {
		if f, err := lockFolder(path); err == nil {
			_ = os.RemoveAll(path) // fails for another user's
			_ = f.Close()
		}
	}
	if dir, err = os.MkdirTemp(root, memoryPrefix); err != nil {
		return "", nil, err
	}
	lock, err := lockFolder(dir)
	if err == nil {
		_, err = os.Stat(dir) // a process that started at the same time may have removed it
	}
	if err != nil {
		return "", nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return dir, func() {
		_ = os.RemoveAll(dir)
		_ = lock.Close()
	}, nil
}

// lockFolder opens a folder and locks it for this process. It returns an error if another process holds the lock.
func lockFolder(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
