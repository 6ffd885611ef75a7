package source

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"reelsplice/schemas/object"
)

// A lister collects the files of List.
type lister struct {
	o     Options
	files []File
	seen  map[string]bool // absolute paths that were listed
}

// List returns the files that srcs stand for, in the order given; the files of a
// folder in the order of their paths. Each of srcs is a file, a folder that is walked
// through, or a pattern as of path.Match in which ** stands for any folders; all of them
// may be in a bucket, named by URL as in package object. A file that is named twice is
// listed once.
//
// From a folder, List takes the files whose extension or content is that of a dump,
// and tells Options.Skipped of the others; hidden files are passed over in silence.
// What is named itself is always taken, so that Open can say what is wrong with it; so is
// what a folder or pattern has but cannot be looked at, such as a dangling link (File.Err).
// Anything in srcs that stands for no file is an error.
func List(srcs []string, o Options) ([]File, error) {
	if len(srcs) == 0 {
		return nil, errors.New("no dump files named: want a file, a folder or a pattern")
	}
	l := &lister{o: o, seen: map[string]bool{}}
	for _, src := range srcs {
		if err := l.source(src); err != nil {
			return nil, err
		}
	}
	tellApart(l.files)
	return l.files, nil
}

// tellApart gives files of one name their path as name, so that messages say which of
// them is meant.
func tellApart(files []File) {
	names := map[string]int{}
	for i := range files {
		names[files[i].Name]++
	}
	for i := range files {
		if names[files[i].Name] > 1 {
			files[i].Name = files[i].Path
		}
	}
}

// source lists the files of one of srcs.
func (l *lister) source(src string) error {
	if object.IsURL(src) {
		return l.url(src)
	}
	info, err := os.Stat(src)
	switch {
	case err == nil:
		return l.add(src, info)
	case strings.ContainsAny(src, "*?["):
		return l.glob(src)
	}
	if _, missing := os.Lstat(src); missing != nil && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: no such file or folder", src)
	}
	l.broken(src, filepath.Dir(src), baseOf(src), err)
	return nil
}

// add lists a file that was named, or the files of a folder that was.
func (l *lister) add(src string, info fs.FileInfo) error {
	if !info.IsDir() {
		l.file(src, filepath.Dir(src), baseOf(src), info)
		return nil
	}
	entries, err := os.ReadDir(src)
	if err != nil {
		return err
	}
	before := len(l.files)
	dup := l.walk(src, src, entries)
	if len(l.files) == before && !dup {
		return fmt.Errorf("%s: %s", src, noDump)
	}
	return nil
}

const (
	noDump  = "no dump file in this folder: want .json, .ndjson, .jsonl, .csv, .tsv or .parquet, also with .gz or .zst"
	notDump = "is not a JSON, CSV, TSV or Parquet file"
)

// walk lists the files of dir, which lies below root and has these entries. It reports
// whether it met a dump file that had been listed before.
func (l *lister) walk(root, dir string, entries []fs.DirEntry) (dup bool) {
	for _, e := range entries { // sorted by name
		p := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if e.IsDir() {
			below, err := os.ReadDir(p)
			if err != nil {
				l.broken(p, root, nameBelow(root, p), err)
			}
			dup = l.walk(root, p, below) || dup
			continue
		}
		info, err := os.Stat(p) // a link counts as its target
		if err != nil {
			l.brokenFile(root, p, err)
			continue
		}
		dup = l.walked(root, p, info) || dup
	}
	return dup
}

// nameBelow returns the name of a path in messages: its part below root.
func nameBelow(root, p string) string {
	name, err := filepath.Rel(root, p)
	if err != nil {
		return p
	}
	return filepath.ToSlash(name)
}

// brokenFile lists a file of a folder that cannot be opened, such as a dangling link.
// One without the extension of a dump is skipped.
func (l *lister) brokenFile(root, p string, err error) {
	if extOf(p) == "" {
		l.skip(p, reasonOf(err))
		return
	}
	l.broken(p, root, nameBelow(root, p), err)
}

// broken lists a file or folder that cannot be opened, for the reader to report like a
// damaged file.
func (l *lister) broken(p, root, name string, err error) {
	abs, absErr := filepath.Abs(p)
	if absErr != nil {
		abs = p
	}
	f := File{Path: p, Name: name, Err: err}
	if l.named(&f, abs, abs, root) {
		l.files = append(l.files, f)
	}
}

// walked lists a file that was met in a folder, when it is a dump.
func (l *lister) walked(root, p string, info fs.FileInfo) (dup bool) {
	if !info.Mode().IsRegular() {
		l.skip(p, "is not a regular file") // links to folders may form circles
		return false
	}
	if _, ext := cutExt(info.Name()); ext == "" {
		format, _, err := sniff(p)
		var unread *fs.PathError
		switch {
		case errors.As(err, &unread):
			l.skip(p, reasonOf(err))
			return false
		case format == FormatUnknown:
			l.skip(p, notDump)
			return false
		}
	}
	return !l.file(p, root, nameBelow(root, p), info)
}

func (l *lister) skip(p, reason string) {
	if l.o.Skipped != nil {
		l.o.Skipped(p, reason)
	}
}

// file lists one file. It reports false when it was listed before.
func (l *lister) file(p, root, name string, info fs.FileInfo) bool {
	abs, err := filepath.Abs(p)
	if err != nil {
		abs = p
	}
	f := File{Path: p, Name: name}
	if !l.named(&f, abs, abs, root) {
		return false
	}
	if info.Mode().IsRegular() { // reading from a pipe would take its bytes away
		f.Bytes, f.Modified = info.Size(), info.ModTime()
		f.Format, f.Compression, _ = sniff(p)
	}
	l.files = append(l.files, f)
	return true
}

// named sets what the absolute path of a file tells. It reports false when a file of
// that id was listed before.
func (l *lister) named(f *File, id, abs, root string) bool {
	if l.seen[id] {
		return false
	}
	l.seen[id] = true
	f.Address, f.Kind = meaning(abs, root, l.o.Kind)
	return true
}

// glob lists what matches a pattern.
func (l *lister) glob(pattern string) error {
	before := len(l.files)
	unread := func(dir string, err error) { l.broken(dir, filepath.Dir(dir), dir, err) }
	matches, err := expand(pattern, unread)
	if err != nil {
		return err
	}
	if len(matches) == 0 && len(l.files) == before {
		return fmt.Errorf("%s: no file matches this pattern", pattern)
	}
	for _, m := range matches {
		info, err := os.Stat(m)
		if err != nil {
			l.brokenFile(filepath.Dir(m), m, err)
			continue
		}
		if info.IsDir() && strings.Contains(pattern, "**") {
			continue // what is in it matches by itself
		}
		if err := l.add(m, info); err != nil {
			return err
		}
	}
	return nil
}

// A globber collects the paths that match a pattern. filepath.Glob knows no ** and passes
// over folders in silence that it cannot look into.
type globber struct {
	matches []string
	unread  func(dir string, err error) // called for each such folder
}

// expand returns the paths that match pattern, in their order. Hidden files and folders
// match only where the pattern has their dot.
func expand(pattern string, unread func(dir string, err error)) ([]string, error) {
	root := filepath.VolumeName(pattern)
	elems := strings.Split(filepath.ToSlash(filepath.Clean(pattern[len(root):])), "/")
	if elems[0] == "" {
		root, elems = root+string(filepath.Separator), elems[1:]
	}
	if err := object.CheckPattern(strings.Join(elems, "/")); err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	g := globber{unread: unread}
	g.match(root, elems)
	slices.SortFunc(g.matches, byElements)
	return slices.Compact(g.matches), nil // two ** match a path in several ways
}

// byElements compares paths in the order in which a walk through folders meets them.
func byElements(a, b string) int {
	return slices.Compare(strings.Split(filepath.ToSlash(a), "/"), strings.Split(filepath.ToSlash(b), "/"))
}

// match collects the paths below dir, or dir itself, that match elems.
func (g *globber) match(dir string, elems []string) {
	if len(elems) == 0 {
		g.matches = append(g.matches, dir)
		return
	}
	elem, rest := elems[0], elems[1:]
	if !strings.ContainsAny(elem, `*?[\`) {
		p := filepath.Join(dir, elem)
		switch _, err := os.Lstat(p); { // a dangling link is there
		case err == nil:
			g.match(p, rest)
		case errors.Is(err, fs.ErrPermission):
			g.unread(dir, err)
		}
		return
	}
	if info, err := os.Stat(cmp.Or(dir, ".")); err != nil || !info.IsDir() {
		return
	}
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		g.unread(dir, err)
		return
	}
	deep := elem == "**"
	if deep && len(rest) > 0 {
		g.match(dir, rest) // ** stands for no folder, too
	}
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		switch ok, _ := path.Match(elem, e.Name()); {
		case !ok || strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(elem, "."):
		case deep && e.IsDir():
			g.match(p, elems)
		case deep && len(rest) == 0 || !deep:
			g.match(p, rest)
		}
	}
}

// hiddenBy reports whether an element of path p, which matched pattern, is hidden and
// was not asked for with a dot.
func hiddenBy(p, pattern string) bool {
	wanted := strings.Split(pattern, "/")
	for i, elem := range strings.Split(p, "/") {
		if strings.HasPrefix(elem, ".") && i < len(wanted) && !strings.HasPrefix(wanted[i], ".") {
			return true
		}
	}
	return false
}

// sniff tells format and compression of a regular file by at most its first 64 KiB.
// The error says why Open would refuse it.
func sniff(p string) (Format, Compression, error) {
	f, err := os.Open(p)
	if err != nil {
		return FormatUnknown, CompressionNone, err
	}
	defer f.Close()
	return sniffStream(f, extOf(p))
}

// sniffStream tells format and compression of a stream by its start, and by the
// extension that says its format.
func sniffStream(f io.Reader, ext string) (Format, Compression, error) {
	br := bufio.NewReaderSize(f, 16<<10)
	head, _ := br.Peek(4)
	c := compressionOf(head)
	r, free, err := uncompress(br, c)
	if err != nil {
		return FormatUnknown, c, err
	}
	defer free()
	w := newSmallWindow(io.LimitReader(r, 64<<10))
	format, err := startText(w, 48<<10, ext)
	return format, c, err
}

// extOf returns the extension that says the format of a path, "" for none that is known.
func extOf(p string) string {
	_, ext := cutExt(p)
	return ext
}

// baseOf returns the last element of a path, as messages name a file.
func baseOf(p string) string { return filepath.Base(p) }
