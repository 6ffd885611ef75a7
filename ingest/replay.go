package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/ingest/merge"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/ingest/source"
)

// findReplayed writes the rows of quarantine files as dump files again: one for the rows of each file
// that they came from. It has that file's name, which may show the kind of its rows. The original
// rows stay in their quarantine.
func (r *run) findReplayed(ctx context.Context) error {
	files := map[replayKey]*replayFile{}
	var order []*replayFile
	for _, src := range r.Sources {
		err := report.ReadQuarantine(src, func(e report.BadRow) error {
			if e.Cut() {
				r.list.skip(e.Place(), "only the first part of the row was kept")
				return nil
			}
			k := replayKey{e.File, e.Path, e.Kind, e.Layout, e.Header, e.Table, e.Record}
			f := files[k]
			if f == nil {
				f = &replayFile{key: k}
				files[k] = f
				order = append(order, f)
			}
			f.add(e)
			return nil
		})
		if err != nil {
			return err
		}
	}
	for n, f := range order {
		in, err := r.replayed(ctx, f, r.work.path("replay", strconv.Itoa(n+1)))
		if err != nil {
			return err
		}
		in.number = n
		r.list.inputs = append(r.list.inputs, in)
		r.list.sources = append(r.list.sources, merge.Source{Name: in.Name, Path: in.Path})
	}
	if len(order) == 0 {
		return errors.New("the files hold no rows that could be replayed")
	}
	return nil
}

// A replayKey has the properties that the rows of one file share.
type replayKey struct {
	file, path, kind, layout, header string
	table, record                    bool
}

type replayFile struct {
	key  replayKey
	rows bytes.Buffer
}

// add appends a row. One of JSON goes on a line of its own.
func (f *replayFile) add(e report.BadRow) {
	raw := e.Bytes()
	if e.Header == "" {
		var line bytes.Buffer
		if json.Compact(&line, raw) == nil {
			raw = line.Bytes()
		} else {
			raw = bytes.ReplaceAll(raw, []byte("\n"), []byte(" "))
		}
	}
	f.rows.Write(raw)
	f.rows.WriteByte('\n')
}

// replayed writes the file below dir. It has the layout that its rows had when they went to quarantine, or the one that
// this run asks for: --layout, or a --mapping of their table, which may be why they are replayed. Records are no
// rows of their file, and keep their layout.
func (r *run) replayed(ctx context.Context, f *replayFile, dir string) (input, error) {
	path := filepath.Join(dir, f.name())
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return input{}, err
	}
	text := f.rows.Bytes()
	if f.key.header != "" {
		text = append([]byte(f.key.header+"\n"), text...)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return input{}, err
	}
	o := r.source(ctx)
	o.Kind, o.Buckets = f.key.kind, nil
	files, err := source.List([]string{path}, o)
	if err != nil {
		return input{}, err
	}
	in := input{File: files[0], asked: f.key.layout, table: f.key.table}
	in.Name = f.key.file
	in.Modified = time.Time{} // it is made anew each time
	if !f.key.record {
		in.asked = ""
	}
	r.look(ctx, &in)
	return in, nil
}

// name returns a path with the meaning of the original one: its folders, which may name kinds and
// seasons, and its name, with an extension that fits.
func (f *replayFile) name() string {
	path := f.key.path
	if path == "" {
		path = f.key.file
	}
	base := filepath.Base(path)
	for _, ext := range []string{".gz", ".gzip", ".zst", ".zstd"} {
		base = strings.TrimSuffix(base, ext)
	}
	ext := filepath.Ext(base)
	switch {
	case f.key.header != "":
		if ext != ".csv" && ext != ".tsv" {
			base += ".csv"
		}
	case ext != ".json" || bytes.Count(f.rows.Bytes(), []byte("\n")) > 1:
		base = strings.TrimSuffix(base, ext) + ".ndjson"
	}
	elems := strings.Split(filepath.ToSlash(filepath.Dir(path)), "/")
	if len(elems) > maxReplayFolders {
		elems = elems[len(elems)-maxReplayFolders:]
	}
	dir := ""
	for _, e := range elems {
		if e != "" && e != "." && e != ".." && !strings.ContainsAny(e, `:\`) {
			dir = filepath.Join(dir, e)
		}
	}
	return filepath.Join(dir, base)
}

// maxReplayFolders is how many folders of a path can have a meaning: tv/1399/season/1.
const maxReplayFolders = 6
