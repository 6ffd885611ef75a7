package file

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// Nearest returns path, or the nearest folder above it that can be seen.
func Nearest(path string) string {
	path = filepath.Clean(path)
	for {
		if _, err := os.Stat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

// UserName returns the name of a user, or the number if there is no name.
func UserName(uid int) string {
	number := strconv.Itoa(uid)
	if u, err := user.LookupId(number); err == nil {
		return u.Username
	}
	return number
}
