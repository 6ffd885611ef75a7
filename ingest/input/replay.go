package input

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/quarantine"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/ingest/source"
)

// findReplayed lists the rows of quarantine files as files of dumps.
func findReplayed(ctx context.Context, o *Options) (*List, error) {
	l := &List{}
	if err := l.replay(ctx, o); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	for n := range l.Inputs {
		in := &l.Inputs[n]
		if layout.IsMapped(in.Layout) {
			o.firstRow(ctx, in.File, func(f source.File, row []byte) {
				in.Needs = layout.NeedsOf(in.Layout, f.Base(), row, o.Rows)
			})
		}
		l.Names = append(l.Names, in.Name)
		l.Bytes += in.Bytes
	}
	if len(l.Inputs) == 0 {
		return nil, errors.New("replay: the files hold no rows that could be replayed")
	}
	l.order(o)
	return l, nil
}

// replay writes the rows of quarantine files as dump files again: one for the rows of each file
// that they came from. It has that file's name, which may show the kind of its rows. The original
// rows stay in their quarantine.
func (l *List) replay(ctx context.Context, o *Options) error {
	files := map[replayKey]*replayFile{}
	var order []*replayFile
	for _, src := range o.Sources {
		err := quarantine.Read(src, func(e quarantine.Entry) error {
			if e.Cut() {
				l.Skipped = append(l.Skipped, report.Skipped{Name: e.Place(), Reason: "only the first part of the row was kept"})
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
	if err := os.RemoveAll(o.ReplayDir); err != nil {
		return err
	}
	for n, f := range order {
		in, err := f.input(ctx, o, filepath.Join(o.ReplayDir, strconv.Itoa(n+1)))
		if err != nil {
			return err
		}
		in.Number = n
		l.Inputs = append(l.Inputs, in)
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
func (f *replayFile) add(e quarantine.Entry) {
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

// input writes the file below dir.
func (f *replayFile) input(ctx context.Context, o *Options, dir string) (Input, error) {
	path := filepath.Join(dir, f.name())
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return Input{}, err
	}
	text := f.rows.Bytes()
	if f.key.header != "" {
		text = append([]byte(f.key.header+"\n"), text...)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return Input{}, err
	}
	s := o.Read(ctx, "")
	s.Kind, s.Buckets = f.key.kind, nil
	files, err := source.List([]string{path}, s)
	if err != nil {
		return Input{}, err
	}
	in := Input{File: files[0], Layout: f.key.layout, Table: f.key.table}
	o.judgeAnew(ctx, &in, f.key.record)
	in.Name = f.key.file
	in.Modified = time.Time{} // it is made anew each time
	return in, nil
}

// judgeAnew changes the layout that rows had when they went to quarantine to the one that this
// run asks for: --layout, or a --mapping of their table, which may be why they are replayed.
// Records are no rows of their file, and keep their layout.
func (o *Options) judgeAnew(ctx context.Context, in *Input, records bool) {
	switch {
	case records || o.Layout == IMDb:
	case o.Layout != layout.Auto:
		in.Layout = o.Layout
	default:
		o.firstRow(ctx, in.File, func(f source.File, row []byte) {
			if layout.HasMapping(f.Base(), row, o.Rows) {
				in.Layout = layout.Tables
			}
		})
	}
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
