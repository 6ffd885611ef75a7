//go:build !windows

package owner

import (
	"os"
	"syscall"
)

// UID returns the user who owns a file, unless it is absent or the system does not say.
func UID(path string) (uid int, known bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}
