package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"reelsplice/schemas/object"
)

const (
	// sniffBytes is how much of an object is asked for to tell its format: what a local
	// file is sniffed by, once it is uncompressed, and room for whole blocks of zstd.
	sniffBytes = 256 << 10

	// sniffsAtOnce is how many objects are asked at a time.
	sniffsAtOnce = 16
)

// url lists the files that a URL stands for: a file: URL those of its path; others an
// object, all dumps below a prefix ("folder"), or what matches a pattern, with the rules
// of local files.
func (l *lister) url(src string) error {
	loc, err := object.Parse(src)
	if err != nil {
		return err
	}
	if p, ok := loc.Path(); ok {
		if loc.IsPattern() {
			p = strings.TrimRight(p, "/") // as in a bucket, what is in matching folders
		}
		return l.source(p)
	}
	if l.o.Buckets == nil {
		return fmt.Errorf("%s: buckets cannot be read here", loc)
	}
	ctx := l.o.context()
	b, err := l.o.Buckets(ctx, loc)
	if err != nil {
		return err
	}
	v := &bucketLister{lister: l, loc: loc, bucket: b}
	if err := v.find(ctx); err != nil {
		return err
	}
	v.sniff(ctx)
	return v.list()
}

// A bucketLister collects the objects of one URL.
type bucketLister struct {
	*lister
	loc    object.Location
	bucket object.Bucket
	found  []foundObject
}

// A foundObject is an object that List may take.
type foundObject struct {
	object.Info
	root   string // prefix, with its slash, above which nothing tells a kind
	walked bool   // met below a prefix, not named itself
	format Format
	packed Compression
	err    error // why its start could not be read
}

// find collects what the URL stands for.
func (v *bucketLister) find(ctx context.Context) error {
	key := v.loc.Key
	if !v.loc.IsPrefix() {
		o, err := v.bucket.Stat(ctx, key)
		if err == nil {
			v.found = []foundObject{{Info: o, root: folderOf(key)}}
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if v.loc.IsPattern() {
		return v.glob(ctx, strings.TrimSuffix(key, "/"))
	}
	return v.below(ctx, v.loc.AsPrefix().Key)
}

// below collects the objects below a prefix.
func (v *bucketLister) below(ctx context.Context, prefix string) error {
	all, err := v.bucket.List(ctx, prefix)
	if err != nil {
		return err
	}
	for _, o := range all {
		if !hidesAny(strings.TrimPrefix(o.Key, prefix)) {
			v.found = append(v.found, foundObject{Info: o, root: prefix, walked: true})
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("%s: no such object or folder", v.loc)
	}
	return nil
}

// glob collects the objects that match a pattern, and those below folders that do.
func (v *bucketLister) glob(ctx context.Context, pattern string) error {
	if err := object.CheckPattern(pattern); err != nil {
		return fmt.Errorf("%s: %w", v.loc, err)
	}
	prefix := object.FixedPrefix(pattern)
	all, err := v.bucket.List(ctx, prefix)
	if err != nil {
		return err
	}
	deep := strings.Contains(pattern, "**")
	elems := strings.Count(pattern, "/") + 1
	for _, o := range all {
		parts := strings.SplitAfter(o.Key, "/")
		switch {
		case deep && hidesAny(strings.TrimPrefix(o.Key, prefix)):
		case !deep && len(parts) > elems: // in a folder that may match
			folder, rest := strings.Join(parts[:elems], ""), strings.Join(parts[elems:], "")
			dir := strings.TrimSuffix(folder, "/")
			if object.Match(pattern, dir) && !hiddenBy(dir, pattern) && !hidesAny(rest) {
				v.found = append(v.found, foundObject{Info: o, root: folder, walked: true})
			}
		case object.Match(pattern, o.Key) && (deep || !hiddenBy(o.Key, pattern)):
			v.found = append(v.found, foundObject{Info: o, root: folderOf(o.Key)})
		}
	}
	if len(v.found) == 0 {
		return fmt.Errorf("%s: no object matches this pattern", v.loc)
	}
	return nil
}

// folderOf returns the prefix, with its slash, that a key lies below.
func folderOf(key string) string { return key[:strings.LastIndex(key, "/")+1] }

// hidesAny reports whether an element of a path is hidden.
func hidesAny(p string) bool { return strings.HasPrefix(p, ".") || strings.Contains(p, "/.") }

// sniff tells the formats of all objects by their starts.
func (v *bucketLister) sniff(ctx context.Context) {
	var g errgroup.Group
	g.SetLimit(sniffsAtOnce)
	for i := range v.found {
		g.Go(func() error {
			o := &v.found[i]
			var head []byte
			if head, o.err = v.bucket.ReadRange(ctx, o.Info, 0, min(sniffBytes, o.Size)); o.err == nil {
				o.format, o.packed, _ = sniffStream(bytes.NewReader(head), extOf(o.Key))
			}
			return nil
		})
	}
	_ = g.Wait() // errors are in what was found
}

// list lists what was found, in the order that folders of the same files would have.
func (v *bucketLister) list() error {
	slices.SortFunc(v.found, func(a, b foundObject) int { return byElements(a.Key, b.Key) })
	before, dup := len(v.files), false
	for i := range v.found {
		o := &v.found[i]
		name := v.loc.At(o.Key).String()
		if o.walked && extOf(o.Key) == "" && (o.err != nil || o.format == FormatUnknown) {
			v.skip(name, reasonOf(o.err))
			continue
		}
		f := File{Path: name, Name: path.Base(o.Key), Modified: o.ModTime, object: &inBucket{v.bucket, o.Key}}
		if o.walked {
			f.Name = strings.TrimPrefix(o.Key, o.root)
		}
		top := "/" + v.loc.Bucket + "/"
		if !v.named(&f, v.loc.At(o.Key).Identity(), top+o.Key, top+o.root) {
			dup = true
			continue
		}
		f.Bytes, f.Format, f.Compression = o.Size, o.format, o.packed
		v.files = append(v.files, f)
	}
	if len(v.files) == before && !dup {
		return fmt.Errorf("%s: %s", v.loc, noDump)
	}
	return nil
}

// reasonOf says why an object of no known extension is left out.
func reasonOf(err error) string {
	if err != nil {
		return "cannot be read: " + err.Error()
	}
	return notDump
}
