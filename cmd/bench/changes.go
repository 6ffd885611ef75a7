package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// changeStep is the distance between changed titles: 2 % change.
const changeStep = 50

// changeTitles writes a dump of changes into dir: 2 % of the movies and series of a
// dump, with another overview and more votes. It returns how many there are.
func changeTitles(dump, dir string) (int, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return 0, err
	}
	changed := 0
	for _, name := range []string{"movies.ndjson", "tv.ndjson"} {
		n, err := changeFile(filepath.Join(dump, name+".zst"), filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) && name != "movies.ndjson" {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("change titles: %w", err)
		}
		changed += n
	}
	return changed, nil
}

func changeFile(from, to string) (n int, err error) {
	in, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	z, err := zstd.NewReader(in)
	if err != nil {
		return 0, err
	}
	defer z.Close()
	return changeRows(z, out)
}

// changeRows copies every changeStep-th row, changed.
func changeRows(in io.Reader, out io.Writer) (n int, err error) {
	r := bufio.NewReaderSize(in, 1<<20)
	for i := 0; ; i++ {
		row, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(row) == 0 {
			return n, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return n, err
		}
		if i%changeStep != 0 {
			continue
		}
		if row, err = changeRow(row); err != nil {
			return n, fmt.Errorf("row %d: %w", i+1, err)
		}
		if _, err := out.Write(append(row, '\n')); err != nil {
			return n, err
		}
		n++
	}
}

// changeRow changes what changes most often: the overview, and how many voted.
func changeRow(row []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(row))
	d.UseNumber()
	var title map[string]any
	if err := d.Decode(&title); err != nil {
		return nil, err
	}
	overview, _ := title["overview"].(string)
	title["overview"] = overview + " Revised."
	votes, ok := title["vote_count"].(json.Number)
	if n, err := votes.Int64(); ok && err == nil {
		title["vote_count"] = n + 1
	}
	return json.Marshal(title)
}
