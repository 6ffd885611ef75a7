package file

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// Nearest returns path, or the nearest accessible folder above it.
func Nearest(path string) string {
	path = filepath.Clean(path)
	for {
		if _, err := os.Stat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

// UserName returns the name of a user, or its number if it has none.
func UserName(uid int) string {
	number := strconv.Itoa(uid)
	if u, err := user.LookupId(number); err == nil {
		return u.Username
	}
	return number
}
