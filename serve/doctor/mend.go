package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/reelsplice/reelsplice/schemas/durable"
	"github.com/reelsplice/reelsplice/schemas/object"
)

// as returns a command that the user uid has to run.
func (x *examiner) as(uid int, words ...string) string {
	switch name := durable.UserName(uid); {
	case uid == x.UID || x.UID < 0:
		return shellescape.QuoteCommand(words)
	case uid == 0:
		return "sudo " + shellescape.QuoteCommand(words)
	case name == strconv.Itoa(uid): // it has no name
		return "sudo -u '#" + name + "' " + shellescape.QuoteCommand(words)
	default:
		return "sudo -u " + shellescape.Quote(name) + " " + shellescape.QuoteCommand(words)
	}
}

// root returns a command that root has to run.
func (x *examiner) root(words ...string) string { return x.as(0, words...) }

// reelsplice returns a command of this program. The user who owns the data runs it, so that the edge can
// read the files it makes.
func (x *examiner) reelsplice(args ...string) string { return x.as(x.owner, x.configured(args)...) }

// configured returns a command of this program with the config file.
func (x *examiner) configured(args []string) []string {
	words := append([]string{x.Command}, args...)
	named := func(arg string) bool { return arg == "--config" || strings.HasPrefix(arg, "--config=") }
	if x.ConfigFile != "" && !slices.ContainsFunc(args, named) {
		words = append(words, "--config", x.ConfigFile)
	}
	return words
}

// again returns the command of this examination for the user who owns the data.
func (x *examiner) again() string { return x.as(x.owner, x.examination()...) }

// examination returns the command of this examination. It repeats the settings of the environment, which sudo and
// systemd-run do not pass on.
func (x *examiner) examination() []string {
	words := x.configured(x.Args)
	if len(x.Environ) > 0 {
		words = slices.Concat([]string{"env"}, x.Environ, words)
	}
	return words
}

// making returns a command that makes a file for the edge. Where the user who owns the data cannot write, root makes
// the file and gives it to that user.
func (x *examiner) making(path string, words ...string) string {
	dir := filepath.Dir(path)
	switch command := x.as(x.owner, words...); {
	case durable.Nearest(dir) != filepath.Clean(dir):
		return x.makeFolder(dir) + " && " + command
	case x.ownerOf(dir) == x.owner && x.ownerOf(path) == x.owner:
		return command
	default:
		return x.root(words...) + " && " + x.root("chown", durable.UserName(x.owner), path)
	}
}

// makeFolder returns the command that makes a folder for the user who owns the data.
func (x *examiner) makeFolder(dir string) string {
	if x.ownerOf(dir) == x.owner {
		return x.as(x.owner, "mkdir", "-p", dir)
	}
	return x.root("install", "-d", "-o", durable.UserName(x.owner), dir)
}

// set returns how a setting gets another value.
func (x *examiner) set(name, value string) string {
	if x.ConfigFile == "" {
		return "set --" + name + " to " + value
	}
	return "set " + name + " to " + value + " in " + x.ConfigFile + x.restart()
}

// allow returns the mend for an error about a file: the one for missing rights, or otherwise for any other error.
func (x *examiner) allow(err error, path, otherwise string) string {
	if whole, err := filepath.Abs(path); err == nil { // a folder above the working folder may be closed
		path = whole
	}
	found := durable.Nearest(path)
	switch info, statErr := os.Stat(found); {
	case !errors.Is(err, fs.ErrPermission) || statErr != nil:
		return otherwise
	case x.UID != x.owner:
		return x.again()
	case found != filepath.Clean(path): // a folder above it is closed
		return x.root("setfacl", "-m", "u:"+durable.UserName(x.owner)+":x", found)
	case info.IsDir():
		return x.root("chown", "-R", durable.UserName(x.owner), found)
	default:
		return x.root("chown", durable.UserName(x.owner), found)
	}
}

// writable returns the mend for a folder that the edge cannot write to.
func (x *examiner) writable(dir string) string {
	switch {
	case x.UID != x.owner && x.UID != 0:
		return x.again()
	case durable.Nearest(dir) == filepath.Clean(dir):
		return x.root("chown", durable.UserName(x.owner), dir)
	default:
		return x.makeFolder(dir)
	}
}

// build returns the commands that make a release from the catalogue. The commands in before come right
// before the build.
func (x *examiner) build(before ...string) string {
	catalog := x.catalog()
	if entries, err := os.ReadDir(catalog); !object.IsURL(catalog) && len(entries) == 0 && (err == nil || errors.Is(err, fs.ErrNotExist)) && !slices.Contains(before, x.ingest()) {
		before = slices.Concat([]string{x.ingest()}, before)
	}
	return strings.Join(append(before, x.reelsplice("build", "--catalog", catalog, "--releases", x.Config.Releases, "--publish")), " && ")
}

// ingest returns the command that puts records into the catalogue.
func (x *examiner) ingest() string {
	dumps := "DUMPS"
	if x.packaged() {
		dumps = packagedDumps
	}
	return x.reelsplice("ingest", "--catalog", x.catalog(), dumps)
}

// catalog returns the folder or URL of the catalogue, by default beside the releases.
func (x *examiner) catalog() string {
	if x.Catalog != "" {
		return x.Catalog
	}
	return filepath.Join(filepath.Dir(x.dataFolder()), "catalog")
}

// dataFolder returns the folder of the releases that are served.
func (x *examiner) dataFolder() string {
	if x.Config.Pull.Bucket != nil || x.BucketErr != nil {
		return x.Config.Pull.Dir
	}
	return x.Config.Releases
}

// isBelowFile reports whether a folder cannot be made: it, or one above it, is a file.
func isBelowFile(dir string) bool {
	info, err := os.Stat(durable.Nearest(dir))
	return err == nil && !info.IsDir()
}
