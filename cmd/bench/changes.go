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
// dump, with another overview and more votes.
func changeTitles(dump, dir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	for _, name := range []string{"movies.ndjson", "tv.ndjson"} {
		if err := changeFile(filepath.Join(dump, name+".zst"), filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("change titles: %w", err)
		}
	}
	return nil
}

func changeFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	z, err := zstd.NewReader(in)
	if err != nil {
		return err
	}
	defer z.Close()
	return changeRows(z, out)
}

// changeRows copies every changeStep-th row, changed.
func changeRows(in io.Reader, out io.Writer) error {
	rows := bufio.NewScanner(in)
	rows.Buffer(nil, 256<<20)
	for i := 0; rows.Scan(); i++ {
		if i%changeStep != 0 {
			continue
		}
		row, err := changeRow(rows.Bytes())
		if err != nil {
			return fmt.Errorf("row %d: %w", i+1, err)
		}
		if _, err := out.Write(append(row, '\n')); err != nil {
			return err
		}
	}
	return rows.Err()
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
