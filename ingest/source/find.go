package source

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/object"
)

// A tree is where files lie: this machine's folders, or a bucket. Paths have slashes.
type tree interface {
	// stat, lstat and readDir are those of package os.
	stat(p string) (fs.FileInfo, error)
	lstat(p string) (fs.FileInfo, error)
	readDir(p string) ([]fs.DirEntry, error)
	// head opens the start of a file, 64 KiB of it or more once it is uncompressed.
	head(p string) (io.ReadCloser, error)
	// file returns the File of a path, with what follows from it.
	file(p string) File
	// full returns a path from the top, whose folders may name a kind.
	full(p string) string
	// identity returns a text that differs between files of all trees.
	identity(p string) string
}

// A found file is one that List may take.
type found struct {
	tree   tree
	path   string
	name   string // in messages
	root   string // folder above which nothing names a kind
	walked bool   // met in a folder, not named itself
	info   fs.FileInfo
	err    error // why there is no info
}

func (f *found) regular() bool { return f.info != nil && f.info.Mode().IsRegular() }

// reason returns why a file that was met in a folder is left out, "" for a dump. One without the
// extension of a dump has to look like one.
func (f *found) reason() string {
	switch {
	case !f.walked:
		return ""
	case f.err == nil && !f.regular():
		return "is not a regular file" // links to folders may form circles
	case extOf(f.path) != "":
		return ""
	}
	var head io.ReadCloser
	err := f.err
	if err == nil {
		head, err = f.tree.head(f.path)
	}
	if err != nil {
		return "cannot be read: " + err.Error()
	}
	defer func() { _ = head.Close() }() // read side
	switch {
	case sniff(head) != FormatUnknown:
		return ""
	case isSpreadsheet(f.path):
		return spreadsheet
	}
	return notDump
}

// sniff finds the format of a file without an extension by its start.
func sniff(f io.Reader) Format {
	br := bufio.NewReaderSize(f, 16<<10)
	head, _ := br.Peek(4)
	r, free, err := uncompress(br, compressionOf(head))
	if err != nil {
		return FormatUnknown
	}
	defer free()
	const size = 64 << 10
	w := &window{r: io.LimitReader(r, size), buf: make([]byte, 4<<10), limit: size, line: 1}
	format, _ := startText(w, 48<<10, "")
	return format
}

// A finder collects the files of one source in a tree, in the order of their paths.
type finder struct {
	tree
	src   string // in messages
	found []found
}

// named adds a file that was named itself.
func (f *finder) named(p string, info fs.FileInfo, err error) {
	f.found = append(f.found, found{tree: f.tree, path: p, name: path.Base(p), root: path.Dir(p), info: info, err: err})
}

// unread adds a folder that cannot be read, for the reader to report like a damaged file.
func (f *finder) unread(p, root, name string, err error) {
	f.found = append(f.found, found{tree: f.tree, path: p, name: name, root: root, err: err})
}

// add adds a file that was named, or the files of a folder that was.
func (f *finder) add(p string, info fs.FileInfo) error {
	if !info.IsDir() {
		f.named(p, info, nil)
		return nil
	}
	entries, err := f.readDir(p)
	if err != nil {
		return err
	}
	f.walk(p, "", entries)
	return nil
}

// walk adds the files of a folder, which lies at a path below root and has these entries.
func (f *finder) walk(root, below string, entries []fs.DirEntry) {
	for _, e := range entries { // sorted by name
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := path.Join(below, e.Name())
		p := path.Join(root, name)
		if e.IsDir() {
			entries, err := f.readDir(p)
			if err != nil {
				f.unread(p, root, name, err)
			}
			f.walk(root, name, entries)
			continue
		}
		info, err := f.stat(p) // a link counts as its target
		f.found = append(f.found, found{tree: f.tree, path: p, name: name, root: root, walked: true, info: info, err: err})
	}
}

// glob adds the files that match a pattern, and those of folders that do. Hidden files and folders
// match only where the pattern has their dot.
func (f *finder) glob(pattern string) error {
	root := filepath.VolumeName(pattern)
	elems := strings.Split(path.Clean(filepath.ToSlash(pattern[len(root):])), "/")
	if elems[0] == "" {
		root, elems = root+"/", elems[1:]
	}
	if err := object.CheckPattern(strings.Join(elems, "/")); err != nil {
		return fmt.Errorf("%s: %w", f.src, err)
	}
	matches := f.match(nil, root, elems)
	slices.SortFunc(matches, byElements)
	for _, m := range slices.Compact(matches) { // two ** match a path in several ways
		info, err := f.stat(m)
		switch {
		case err != nil:
			f.named(m, nil, err)
			f.found[len(f.found)-1].walked = true
		case info.IsDir() && strings.Contains(pattern, "**"): // its files match by themselves
		default:
			if err := f.add(m, info); err != nil {
				return err
			}
		}
	}
	if len(f.found) == 0 {
		return fmt.Errorf("%s: no file matches this pattern", f.src)
	}
	return nil
}

// byElements compares paths in the order in which a walk through folders meets them.
func byElements(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}

// match appends the paths below dir, or dir itself, that match elems. filepath.Glob knows no ** and
// passes over folders in silence that it cannot look into.
func (f *finder) match(dst []string, dir string, elems []string) []string {
	if len(elems) == 0 {
		return append(dst, dir)
	}
	elem, rest := elems[0], elems[1:]
	if !strings.ContainsAny(elem, `*?[\`) {
		p := path.Join(dir, elem)
		switch _, err := f.lstat(p); { // a dangling link is there
		case err == nil:
			return f.match(dst, p, rest)
		case errors.Is(err, fs.ErrPermission):
			f.unread(dir, path.Dir(dir), dir, err)
		}
		return dst
	}
	if info, err := f.stat(cmp.Or(dir, ".")); err != nil || !info.IsDir() {
		return dst
	}
	entries, err := f.readDir(cmp.Or(dir, "."))
	if err != nil {
		f.unread(dir, path.Dir(dir), dir, err)
		return dst
	}
	deep := elem == "**"
	if deep && len(rest) > 0 {
		dst = f.match(dst, dir, rest) // ** stands for no folder, too
	}
	for _, e := range entries {
		p := path.Join(dir, e.Name())
		switch ok, _ := path.Match(elem, e.Name()); {
		case !ok || strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(elem, "."):
		case deep && e.IsDir():
			dst = f.match(dst, p, elems)
		case deep && len(rest) == 0 || !deep:
			dst = f.match(dst, p, rest)
		}
	}
	return dst
}
