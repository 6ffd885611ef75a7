package doctor

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/reelsplice/reelsplice/schemas/durable"
	"github.com/reelsplice/reelsplice/serve/auth"
)

// user warns of root, who may do more than the user of the edge.
func (x *examiner) user() {
	switch {
	case x.UID != 0:
	case x.owner != 0:
		x.warn("user", x.again(), "root may read files and take ports that %s may not: the results below are those of root", durable.UserName(x.owner))
	default:
		x.warn("user", x.unprivileged()+"start the edge as "+packagedUser, "the edge would run as root")
	}
}

// unprivileged returns the commands that make a user for the edge and give that user the files that are there already.
func (x *examiner) unprivileged() string {
	var commands []string
	if _, err := user.Lookup(packagedUser); err != nil {
		commands = append(commands, "useradd --system "+packagedUser)
	}
	var paths []string
	for _, path := range []string{x.dataFolder(), x.Config.Tokens, x.Config.Tokens + auth.LockSuffix} {
		if _, err := os.Stat(path); err == nil {
			paths = append(paths, path)
		}
	}
	if len(paths) > 0 {
		commands = append(commands, shellescape.QuoteCommand(append([]string{"chown", "-R", packagedUser + ":"}, paths...)))
	}
	if len(commands) == 0 {
		return ""
	}
	return strings.Join(commands, " && ") + ", then "
}

// dataOwner returns the user who owns the data. A folder of root, or one that only root can make, is for the user of
// the unit.
func (x *examiner) dataOwner() int {
	dir := x.dataFolder()
	uid := x.ownerOf(dir)
	if uid != 0 {
		return uid
	}
	if u, err := user.Lookup(packagedUser); err == nil && x.packaged() {
		if uid, err := strconv.Atoi(u.Uid); err == nil {
			return uid
		}
	}
	if durable.Nearest(dir) != filepath.Clean(dir) {
		return x.UID
	}
	return uid
}

// ownerOf returns the owner of a file, or of the nearest folder above it. On systems without owners it returns the user
// of the examination.
func (x *examiner) ownerOf(path string) int {
	if uid, known := durable.Owner(durable.Nearest(path)); known {
		return uid
	}
	return x.UID
}

// private warns of a file that every user can read.
func (x *examiner) private(check, path string) {
	if info, err := os.Stat(path); err == nil && hasModes && info.Mode().Perm()&0o007 != 0 {
		x.warn(check, x.as(x.ownerOf(path), "chmod", "o=", path), "%s can be read by other users", path)
	}
}
