package ingest

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"reelsplice/ingest/layout"
	"reelsplice/ingest/source"
	"reelsplice/schemas/catalog"
)

// An input is a file to read.
type input struct {
	source.File
	number int    // of the source: what a later one says wins
	layout string // "" until its first row tells
	table  bool   // the rows are those of a table, whatever the file's format
}

// kind returns the kind of the file's rows, "" where its name says none.
func (in *input) kind() string { return in.Kind }

// plan lists the inputs and says what the ingest is about.
func (i *ingester) plan() (*plan, error) {
	if err := i.list(); err != nil {
		return nil, err
	}
	p := &plan{
		Version: planVersion, Format: catalog.FormatVersion, Run: runName(i.start), Start: i.start,
		Layout: i.Layout, Kind: i.Kind, Language: i.Language, Overlay: i.Overlay, Update: i.Update, Replay: i.Replay,
		MaxBad: i.MaxBad.String(), Memory: i.Memory, Limits: fmt.Sprint(i.limits()),
	}
	for n := range i.inputs {
		in := &i.inputs[n]
		p.Inputs = append(p.Inputs, plannedFile{in.Path, in.Kind, in.Bytes, in.Modified})
	}
	var err error
	p.Catalog, err = i.stored()
	return p, err
}

// stored lists the files that the catalogue has.
func (i *ingester) stored() ([]plannedFile, error) {
	var out []plannedFile
	names := []string{catalog.RemovedFile}
	for _, t := range catalog.Types() {
		names = append(names, t.File(), overlayFile(t))
	}
	for _, name := range names {
		info, err := os.Stat(filepath.Join(i.Catalog, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, plannedFile{Path: name, Bytes: info.Size(), Modified: info.ModTime()})
	}
	return out, nil
}

// limits returns the limits of rows and files alone.
func (i *ingester) limits() source.Options {
	o := i.Limits
	o.Kind, o.TempDir, o.Skipped = "", "", nil
	return o
}

// sourceOptions returns how files are read.
func (i *ingester) sourceOptions() source.Options {
	o := i.limits()
	o.Kind, o.TempDir = i.Kind, i.work
	return o
}

// list finds the files to read.
func (i *ingester) list() error {
	o := i.limits()
	o.Kind = i.Kind
	o.Skipped = func(path, reason string) { i.skipped = append(i.skipped, skippedFile{path, reason}) }
	files, err := source.List(i.Sources, o)
	if err != nil {
		return err
	}
	for n, f := range files {
		var reason string
		switch {
		case i.Layout == layout.Tables && !layout.IsTable(f.Base()):
			reason = fmt.Sprintf("no table of layout %s: want one of %s", layout.Tables, strings.Join(layout.TableNames(), ", "))
		case f.Kind == "" && i.Layout != layout.Tables:
			reason = "the name does not tell what kind of records it holds: use --kind with one of " + strings.Join(Kinds(), ", ")
		default:
			in := input{File: f, number: n}
			if i.Layout != layout.Auto {
				in.layout = i.Layout
			}
			i.inputs = append(i.inputs, in)
			i.total += f.Bytes
		}
		i.numbers = append(i.numbers, f.Name)
		if reason != "" {
			i.skipped = append(i.skipped, skippedFile{f.Name, reason})
		}
	}
	if len(i.inputs) == 0 && len(i.skipped) > 0 {
		return errors.New(oneLine(i.skipped[0].String()))
	}
	if len(i.inputs) == 0 {
		return errors.New("the sources hold no records")
	}
	return nil
}

// A skippedFile was left out.
type skippedFile struct{ name, reason string }

func (s skippedFile) String() string { return s.name + ": " + s.reason }

// oneLine keeps a file name with a line break from tearing a message.
func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }

// runName names the quarantine file of one ingest.
func runName(t time.Time) string {
	var b [3]byte
	_, _ = rand.Read(b[:]) // never fails; see crypto/rand
	return t.UTC().Format("20060102T150405Z-") + hex.EncodeToString(b[:])
}
