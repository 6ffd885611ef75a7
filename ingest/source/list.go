package source

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/text"
)

const (
	noDump  = "no dump file in this folder: want .json, .ndjson, .jsonl, .csv, .tsv or .parquet, also with .gz or .zst"
	notDump = "is not a JSON, CSV, TSV or Parquet file"
)

// A found file is a candidate for List.
type found struct {
	File           // path, name and, for a regular file, size
	id      string // unique for each file, local or in a bucket
	abs     string // absolute path, whose folders may name a kind
	root    string // absolute path; folder names above it are ignored
	walked  bool   // found in a folder, not given itself
	outside bool   // a link out of the walked folder
	regular bool
}

// List returns the files of srcs in the given order, and files of a folder in the order of their paths. A source is a file, a
// folder to walk, or a pattern of path.Match in which ** matches any folders. It may be in a bucket, given as a URL as in
// package object. A file that is found twice is listed once.
//
// In a folder, List returns the files with the extension or content of a dump, and calls Options.Skipped with the others. It
// silently skips hidden files and mappings, which are stored next to their dumps. A file in srcs is always listed, so that
// Open reports its error; so is an entry of a folder or pattern that cannot be inspected, such as a dangling link (File.Err).
// A source without a file is an error.
func List(srcs []string, o Options) ([]File, error) {
	if len(srcs) == 0 {
		return nil, errors.New("no dump files named: want a file, a folder or a pattern")
	}
	var files []File
	seen, names := map[string]bool{}, map[string]int{}
	for number, src := range srcs {
		matches, err := find(&src, o)
		if err != nil {
			return nil, err
		}
		if err := lakeTable(matches); err != nil {
			return nil, err
		}
		refusal := noDump
		for i := range matches {
			f := &matches[i]
			reason := f.skipReason(o)
			f.setParts()
			switch {
			case isTOML(f.Path), f.walked && isMarker(path.Base(f.abs)):
			case f.Parts != "" && f.regular && f.Bytes == 0: // a part without rows
			case reason == spreadsheet:
				src, refusal = f.Path, spreadsheet
				fallthrough
			case reason != "":
				if o.Skipped != nil {
					o.Skipped(text.Line(f.Path), reason)
				}
			default:
				refusal = ""
				if seen[f.id] {
					continue
				}
				seen[f.id] = true
				names[f.Name]++
				f.Src = number
				f.Address, f.Kind, f.KindFromFolder = meaning(f.abs, f.root, o.Kind)
				switch {
				case f.Address != Address{}:
					f.Parts = "" // a folder of resources
				case f.Parts != "":
					f.Kind, f.KindFromFolder = cmp.Or(o.Kind, kindOfName(f.Base()), f.Kind), false
				}
				files = append(files, f.File)
			}
		}
		if listed := slices.ContainsFunc(matches, func(f found) bool { return seen[f.id] }); !listed && !isTOML(src) {
			return nil, fmt.Errorf("%s: %s", src, refusal)
		}
	}
	for i := range files {
		if names[files[i].Name] > 1 { // so that messages are unambiguous
			files[i].Name = files[i].Path
		}
		files[i].Name = text.Line(files[i].Name)
	}
	return files, nil
}

// isMarker reports whether a file is a marker that Spark and similar programs write next to the parts of a file.
func isMarker(name string) bool {
	return name == "_SUCCESS" || name == "_metadata" || name == "_common_metadata" || strings.HasSuffix(name, ".crc") ||
		strings.HasPrefix(name, "_started_") || strings.HasPrefix(name, "_committed_")
}

// IsPartsFolder reports whether a folder has the name of a file: its files are the parts of one.
func IsPartsFolder(folder string) bool { return extOf(folder) != "" }

// setParts sets Parts to the folder that contains the part f. Folders of partitions may be between them, and a pattern may match
// these.
func (f *found) setParts() {
	p, abs, inRoot := f.Path, filepath.ToSlash(f.abs), true
	for inRoot || strings.Contains(path.Base(p), "=") {
		cut := strings.LastIndexAny(p, `/\`)
		if cut <= 0 {
			return
		}
		p, abs = p[:cut], path.Dir(abs)
		if IsPartsFolder(p) {
			f.Parts = p
			return
		}
		inRoot = inRoot && abs != filepath.ToSlash(f.root)
	}
}

// lakeTable returns an error for data files of a Delta or Iceberg table: only the table's log lists its valid files and rows.
func lakeTable(files []found) error {
	for i := range files {
		f := &files[i]
		p := filepath.ToSlash(f.Path)
		table, name, scan := "", "a Delta", "delta_scan"
		if end := strings.LastIndex(p, "/_delta_log/"); end >= 0 {
			table = p[:end]
		} else if strings.HasSuffix(p, ".metadata.json") && path.Base(path.Dir(p)) == "metadata" {
			table, name, scan = path.Dir(path.Dir(p)), "an Iceberg", "iceberg_scan"
		}
		if f.walked && table != "" {
			return fmt.Errorf("%s: is %s table, whose files still contain removed rows: export it to one file, for example with DuckDB: COPY (FROM %s('%s')) TO '%s.parquet'",
				text.Line(table), name, scan, text.Line(table), text.Line(path.Base(table)))
		}
	}
	return nil
}

func isTOML(name string) bool { return strings.EqualFold(path.Ext(name), ".toml") }

// skipReason returns why a file of a folder is left out, or "" for a dump. A file without a dump's extension
// must have a dump's content.
func (f *found) skipReason(o Options) string {
	switch {
	case !f.walked || isTOML(f.Path):
		return ""
	case f.outside:
		return "is a link that leads out of the folder"
	case f.Err == nil && !f.regular:
		return "is not a regular file" // links to folders may form circles
	case extOf(f.Path) != "":
		return ""
	case leftover.MatchString(f.Path):
		return "is a backup or an unfinished download"
	}
	head, err := f.head(o)
	switch {
	case err != nil:
		return "cannot be read: " + err.Error()
	case sniff(head) != formatUnknown:
		return ""
	case compressionOf(head) == "none":
		return cmp.Or(refuseMagic(head), notDump)
	}
	return notDump
}

// leftover matches the name of a file that a program left beside another, or did not finish.
var leftover = regexp.MustCompile(`(?i)(~|\.(bak|swp|tmp|part|partial|crdownload))$`)

// head returns the start of a file, enough for 64 KiB uncompressed, even with complete zstd blocks.
func (f *found) head(o Options) ([]byte, error) {
	const size = 256 << 10
	if f.object != nil {
		return f.object.bucket.ReadRange(o.context(), f.object.info, 0, min(size, f.Bytes))
	}
	in, err := openInput(o.context(), f.File)
	if err != nil {
		return nil, err
	}
	head, err := io.ReadAll(io.LimitReader(in, size))
	return head, errors.Join(err, in.Close())
}

// sniff detects the format of a file without an extension from its start.
func sniff(head []byte) Format {
	r, cleanup, err := uncompress(bytes.NewReader(head), compressionOf(head))
	if err != nil {
		return formatUnknown
	}
	defer cleanup()
	const size = 64 << 10
	w := &window{r: io.LimitReader(r, size), buf: make([]byte, 4<<10), limit: size, line: 1}
	format, _ := startText(w, 48<<10, "")
	return format
}

// find finds the files of one source. It changes src to the source's name in messages.
func find(src *string, o Options) ([]found, error) {
	if !object.IsURL(*src) {
		return findLocal(*src)
	}
	loc, err := object.Parse(*src)
	if err != nil {
		return nil, err
	}
	*src = loc.String()
	p, ok := loc.Path()
	switch {
	case ok && loc.IsPattern():
		*src = strings.TrimRight(p, "/") // include the files of matching folders, as in a bucket
		return findLocal(*src)
	case ok:
		*src = p
		return findLocal(p)
	case o.Buckets == nil:
		return nil, fmt.Errorf("%s: buckets cannot be read here", loc)
	}
	return findObjects(loc, o)
}

// findObjects finds the objects of a URL: one object, all objects below a prefix ("folder"), or the objects that
// match a pattern and, if that has no **, all objects below matches.
func findObjects(loc object.Location, o Options) (files []found, err error) {
	ctx := o.context()
	bucket, err := o.Buckets(ctx, loc)
	if err != nil {
		return nil, err
	}
	add := func(info object.Info, root, name string, walked bool) {
		address := loc.At(info.Key)
		files = append(files, found{
			File: File{Path: address.String(), Name: name, Bytes: info.Size, Modified: info.ModTime, object: &inBucket{bucket: bucket, info: info}},
			id:   address.Identity(), abs: path.Join("/", loc.Bucket, info.Key), root: path.Join("/", loc.Bucket, root), walked: walked, regular: true,
		})
	}
	if !loc.IsPrefix() {
		info, err := bucket.Stat(ctx, loc.Key)
		if err == nil {
			add(info, path.Dir(loc.Key), path.Base(loc.Key), false)
			return files, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	pattern, prefix := "", loc.AsPrefix().Key
	if loc.IsPattern() {
		pattern, prefix = strings.TrimSuffix(loc.Key, "/"), object.FixedPrefix(loc.Key)
		if err := object.CheckPattern(pattern); err != nil {
			return nil, fmt.Errorf("%s: %w", loc, err)
		}
	}
	infos, err := bucket.List(ctx, prefix, object.MaxListed)
	if err != nil {
		return nil, err
	}
	for _, info := range infos {
		root, name := prefix, strings.TrimPrefix(info.Key, prefix)
		switch elems := strings.Split(info.Key, "/"); {
		case pattern != "" && object.Match(pattern, info.Key):
			add(info, path.Dir(info.Key), path.Base(info.Key), false)
			continue
		case pattern != "":
			n := strings.Count(pattern, "/") + 1
			if strings.Contains(pattern, "**") || len(elems) <= n || !object.Match(pattern, strings.Join(elems[:n], "/")) {
				continue
			}
			root, name = strings.Join(elems[:n], "/"), strings.Join(elems[n:], "/")
		}
		if hidden := strings.HasPrefix(name, ".") || strings.Contains(name, "/."); !hidden && name != "" {
			add(info, root, name, true)
		}
	}
	switch {
	case len(files) == 0 && pattern != "":
		return nil, fmt.Errorf("%s: no file matches this pattern", loc)
	case len(files) == 0:
		return nil, fmt.Errorf("%s: no such object or folder", loc)
	}
	// Buckets list keys in byte order, but folders list paths element by element.
	slices.SortStableFunc(files, func(a, b found) int { return byElements(a.object.info.Key, b.object.info.Key) })
	return files, nil
}

// byElements compares paths with slashes in the order of a walk through folders.
func byElements(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}

// localFile returns the file at a local path. A link counts as its target.
func localFile(p, root, name string, walked bool) found {
	info, err := os.Stat(p)
	f := unreadable(p, root, name, err)
	f.walked = walked
	if err == nil && info.Mode().IsRegular() { // reading a pipe would consume its bytes
		f.regular, f.Bytes, f.Modified = true, info.Size(), info.ModTime()
	}
	return f
}

// unreadable returns a file or folder that cannot be inspected. The reader reports it like a damaged file.
func unreadable(p, root, name string, err error) found {
	f := found{File: File{Path: filepath.FromSlash(p), Name: name, Err: err}, abs: p, root: root}
	if abs, err := filepath.Abs(p); err == nil {
		f.abs = abs
	}
	if abs, err := filepath.Abs(root); err == nil {
		f.root = abs
	}
	f.id = f.abs
	return f
}

// findLocal finds the files of a local path or pattern.
func findLocal(src string) (files []found, err error) {
	p := filepath.ToSlash(src)
	info, err := os.Stat(src)
	switch {
	case err == nil && info.IsDir():
		return walk(nil, p)
	case err != nil && strings.ContainsAny(src, "*?["):
	case err != nil:
		if _, missing := os.Lstat(src); missing != nil && errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: no such file or folder", src)
		}
		fallthrough
	default:
		return []found{localFile(p, path.Dir(p), path.Base(p), false)}, nil
	}
	root := filepath.VolumeName(src)
	elems := strings.Split(path.Clean(filepath.ToSlash(src[len(root):])), "/")
	if elems[0] == "" {
		root, elems = root+"/", elems[1:]
	}
	if err := object.CheckPattern(strings.Join(elems, "/")); err != nil {
		return nil, fmt.Errorf("%s: %w", src, err)
	}
	matches := match(nil, &files, root, elems)
	slices.SortFunc(matches, byElements)
	for _, m := range slices.Compact(matches) { // two ** may match a path several times
		info, err := os.Stat(m)
		switch {
		case err != nil || !info.IsDir():
			files = append(files, localFile(m, path.Dir(m), path.Base(m), err != nil))
		case strings.Contains(src, "**"): // its files match by themselves
		default:
			if files, err = walk(files, m); err != nil {
				return nil, err
			}
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no file matches this pattern", src)
	}
	return files, nil
}

// walk appends the files below a folder.
func walk(files []found, root string) ([]found, error) {
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, e fs.DirEntry, err error) error {
		switch p := path.Join(root, name); {
		case name == "." && err != nil:
			return fmt.Errorf("%s: %w", root, err)
		case err != nil:
			files = append(files, unreadable(p, root, name, err))
		case name == ".":
		case strings.HasPrefix(e.Name(), ".") && e.IsDir():
			return fs.SkipDir
		case !strings.HasPrefix(e.Name(), ".") && !e.IsDir():
			f := localFile(p, root, name, true)
			f.outside = e.Type()&fs.ModeSymlink != 0 && f.Err == nil && !isBelow(p, root)
			files = append(files, f)
		}
		return nil
	})
	return files, err
}

// isBelow reports whether a file is below a folder. It follows links in both paths.
func isBelow(file, folder string) bool {
	target, err := filepath.EvalSymlinks(file)
	base, baseErr := filepath.EvalSymlinks(folder)
	if errors.Join(err, baseErr) != nil {
		return false
	}
	rel, err := filepath.Rel(base, target)
	return err == nil && filepath.IsLocal(rel)
}

// match appends dir or the paths below it that match elems to dst, and unreadable folders to files.
// filepath.Glob skips unreadable folders silently, and lacks **. Hidden files and folders match only if the pattern
// has their dot.
func match(dst []string, files *[]found, dir string, elems []string) []string {
	if len(elems) == 0 {
		return append(dst, dir)
	}
	elem, rest := elems[0], elems[1:]
	if !strings.ContainsAny(elem, `*?[\`) {
		p := path.Join(dir, elem)
		switch _, err := os.Lstat(p); { // a dangling link exists
		case err == nil:
			return match(dst, files, p, rest)
		case errors.Is(err, fs.ErrPermission):
			*files = append(*files, unreadable(dir, path.Dir(dir), dir, err))
		}
		return dst
	}
	if info, err := os.Stat(cmp.Or(dir, ".")); err != nil || !info.IsDir() {
		return dst
	}
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		*files = append(*files, unreadable(dir, path.Dir(dir), dir, err))
		return dst
	}
	recursive := elem == "**"
	if recursive && len(rest) > 0 {
		dst = match(dst, files, dir, rest) // ** also matches zero folders
	}
	for _, e := range entries {
		p := path.Join(dir, e.Name())
		switch ok := object.Match(elem, e.Name()); {
		case !ok:
		case recursive && e.IsDir():
			dst = match(dst, files, p, elems)
		case recursive && len(rest) == 0 || !recursive:
			dst = match(dst, files, p, rest)
		}
	}
	return dst
}

// extOf returns the format's extension in a path, or "" if it is unknown.
func extOf(p string) string {
	_, ext := cutExt(p)
	return ext
}
