package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/object"
)

const (
	noDump  = "no dump file in this folder: want .json, .ndjson, .jsonl, .csv, .tsv or .parquet, also with .gz or .zst"
	notDump = "is not a JSON, CSV, TSV or Parquet file"
)

// A lister lists what a finder found.
type lister struct {
	o      Options
	files  []File
	seen   map[string]bool // identities of the files that were listed
	number int             // of the source at hand
}

// List returns the files that srcs stand for, in the order given; the files of a
// folder in the order of their paths. Each of srcs is a file, a folder that is walked
// through, or a pattern as of path.Match in which ** stands for any folders; all of them
// may be in a bucket, named by URL as in package object. A file that is named twice is
// listed once.
//
// From a folder, List takes the files whose extension or content is that of a dump,
// and calls Options.Skipped with the others; hidden files are passed over in silence.
// What is named itself is always taken, so that Open reports what is wrong with it; so is
// what a folder or pattern has but cannot be looked at, such as a dangling link (File.Err).
// Anything in srcs that stands for no file is an error.
func List(srcs []string, o Options) ([]File, error) {
	if len(srcs) == 0 {
		return nil, errors.New("no dump files named: want a file, a folder or a pattern")
	}
	l := &lister{o: o, seen: map[string]bool{}}
	for i, src := range srcs {
		l.number = i
		if err := l.source(src); err != nil {
			return nil, err
		}
	}
	tellApart(l.files)
	return l.files, nil
}

// tellApart gives files of one name their path as name, so that messages name one of
// them.
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
	if !object.IsURL(src) {
		return l.local(src)
	}
	loc, err := object.Parse(src)
	if err != nil {
		return err
	}
	p, ok := loc.Path()
	switch {
	case ok && loc.IsPattern():
		return l.local(strings.TrimRight(p, "/")) // as in a bucket, the files of matching folders
	case ok:
		return l.local(p)
	case l.o.Buckets == nil:
		return fmt.Errorf("%s: buckets cannot be read here", loc)
	}
	ctx := l.o.context()
	b, err := l.o.Buckets(ctx, loc)
	if err != nil {
		return err
	}
	t := &bucketTree{ctx: ctx, loc: loc, bucket: b, objects: map[string]object.Info{}, entries: map[string][]fs.DirEntry{}}
	f := finder{tree: t, src: loc.String()}
	if err := t.find(&f); err != nil {
		return err
	}
	if len(f.found) == 0 {
		return fmt.Errorf("%s: no such object or folder", loc)
	}
	return l.list(&f)
}

// local lists the files of a path or pattern of this machine.
func (l *lister) local(src string) error {
	f := finder{tree: folders{}, src: src}
	info, err := os.Stat(src)
	switch {
	case err == nil:
		err = f.add(filepath.ToSlash(src), info)
	case strings.ContainsAny(src, "*?["):
		err = f.glob(src)
	default:
		if _, missing := os.Lstat(src); missing != nil && errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: no such file or folder", src)
		}
		f.named(filepath.ToSlash(src), nil, err)
		err = nil
	}
	if err != nil {
		return err
	}
	return l.list(&f)
}

// list lists what was found of one source, all of it in the order found.
func (l *lister) list(f *finder) error {
	some := false
	for i := range f.found {
		some = l.take(&f.found[i]) || some
	}
	if !some && !isTOML(f.src) {
		if i := slices.IndexFunc(f.found, func(f found) bool { return isSpreadsheet(f.path) }); i >= 0 {
			return fmt.Errorf("%s: %s", f.found[i].path, spreadsheet)
		}
		return fmt.Errorf("%s: %s", f.src, noDump)
	}
	return nil
}

func isTOML(name string) bool { return strings.EqualFold(path.Ext(name), ".toml") }

// take lists a file. It reports false for one that is no dump. A mapping may lie beside the files that it is of.
func (l *lister) take(f *found) bool {
	if isTOML(f.path) {
		return false
	}
	file := f.tree.file(f.path)
	if reason := f.reason(); reason != "" {
		if l.o.Skipped != nil {
			l.o.Skipped(file.Path, reason)
		}
		return false
	}
	if id := f.tree.identity(f.path); !l.seen[id] {
		l.seen[id] = true
		file.Name, file.Err, file.Src = f.name, f.err, l.number
		file.Address, file.Kind, file.OfFolder = meaning(f.tree.full(f.path), f.tree.full(f.root), l.o.Kind)
		if f.regular() { // reading from a pipe would take its bytes away
			file.Bytes, file.Modified = f.info.Size(), f.info.ModTime()
		}
		l.files = append(l.files, file)
	}
	return true
}

// extOf returns the extension that names the format of a path, "" for none that is known.
func extOf(p string) string {
	_, ext := cutExt(p)
	return ext
}
