//go:build unix

package follow

import (
	"os"

	"golang.org/x/sys/unix"
)

// stampOf returns the stamp of a file, zero if it cannot be opened.
func stampOf(path string) stamp {
	var st unix.Stat_t
	// Opened, since a network file system then asks for attributes anew; a pipe does not wait.
	if f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0); err == nil {
		_ = unix.Fstat(int(f.Fd()), &st) // st stays zero if this fails
		_ = f.Close()                    // nothing was written
	}
	return stamp{st.Ino, st.Ctim.Nano()}
}
