package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"reelsplice/ingest/layout"
	"reelsplice/ingest/quarantine"
	"reelsplice/ingest/source"
)

// replayDir is the folder, in the catalogue, of rows that are being replayed.
const replayDir = ".replay"

// replay writes the rows of quarantine files, which the sources must be, as dump files
// again: one for the rows of each file that they came from, under its name, so that what
// the name tells is told again. The original rows stay in their quarantine.
func (i *ingester) replay() ([]input, error) {
	files := map[replayKey]*replayFile{}
	var order []*replayFile
	for _, src := range i.Sources {
		err := quarantine.Read(src, func(e quarantine.Entry) error {
			if e.Cut() {
				i.skipped = append(i.skipped, skippedFile{
					source.Place{File: e.File, Row: e.Row, Line: e.Line}.String(), "only the first part of the row was kept",
				})
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
			return nil, fmt.Errorf("replay: %w", err)
		}
	}
	root := filepath.Join(i.Catalog, replayDir)
	if err := os.RemoveAll(root); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	var out []input
	for n, f := range order {
		in, err := i.replayed(filepath.Join(root, strconv.Itoa(n+1)), f)
		if err != nil {
			return nil, fmt.Errorf("replay: %w", err)
		}
		in.number = n
		out = append(out, in)
	}
	return out, nil
}

// A replayKey is what rows of one file have in common.
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
	raw := e.Raw
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

// replayed writes the file below dir.
func (i *ingester) replayed(dir string, f *replayFile) (input, error) {
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
	o := i.limits()
	o.Kind = f.key.kind
	files, err := source.List([]string{path}, o)
	if err != nil {
		return input{}, err
	}
	in := input{File: files[0], layout: f.key.layout, table: f.key.table}
	i.judgeAnew(&in, f.key.record)
	in.Name = f.key.file
	in.Modified = time.Time{} // it is made anew each time
	return in, nil
}

// judgeAnew changes the layout that rows had when they went to quarantine to the one that
// this run asks for: --layout, or a --mapping of their table, which may be why they are
// replayed. Records are no rows of their file, and stay what they are.
func (i *ingester) judgeAnew(in *input, records bool) {
	switch {
	case records || i.Layout == imdbLayout:
	case i.Layout != layout.Auto:
		in.layout = i.Layout
	default:
		i.firstRow(in.File, func(f source.File, row []byte) {
			if layout.HasMapping(f.Base(), row, i.options) {
				in.layout = layout.Tables
			}
		})
	}
}

// name returns a path that tells what that of the original file told: its folders, for
// what they say of kinds and seasons, and its name, with an extension that fits.
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

// maxReplayFolders is how many folders of a path can tell something: tv/1399/season/1.
const maxReplayFolders = 6
