package doctor

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// hasModes reports whether files have Unix permissions.
const hasModes = true

func addressInUse(err error) bool { return errors.Is(err, unix.EADDRINUSE) }

// volume returns how many bytes of the file system of dir the user may take, and whether it is on a network.
func volume(dir string) (free int64, network, known bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, false, false
	}
	switch uint32(s.Type) {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC:
		network = true
	}
	return int64(s.Bavail) * s.Bsize, network, true
}

// usage returns the bytes that the files below dir take on the disk. A file with several names counts once.
func usage(dir string) (total int64) {
	counted := map[uint64]bool{}
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read counts nothing
		}
		if info, err := e.Info(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok && !counted[st.Ino] {
				counted[st.Ino] = true
				total += st.Blocks * 512
			}
		}
		return nil
	})
	return total
}

// memory returns the bytes of memory of the machine, or of the control group (version 2) if that has less.
func memory() (total int64, known bool) {
	var s unix.Sysinfo_t
	if unix.Sysinfo(&s) != nil {
		return 0, false
	}
	total = int64(s.Totalram) * int64(s.Unit)
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if limit, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64); err == nil && limit < total { // "max" is no number
			total = limit
		}
	}
	return total, true
}

// clockSynchronised reports whether a time service keeps the clock right.
func clockSynchronised() (synchronised, known bool) {
	var t unix.Timex
	state, err := unix.Adjtimex(&t) // without modes it changes nothing
	if err != nil {
		return false, false
	}
	return state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0, true
}
