package work

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/schemas/file"
)

// A sealed record carries the checksum of its content.
type sealed struct {
	Checksum string          `json:"checksum"` // 64-bit xxh3 of record, hex
	Record   json.RawMessage `json:"record"`
}

// seal encodes a record.
func seal(v any) ([]byte, error) {
	record, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(sealed{fmt.Sprintf("%016x", xxh3.Hash(record)), record})
	return append(data, '\n'), err
}

// making starts how plans and records in the making are named.
const making = ".new-"

// create makes a file of data. If there is one already, the error matches fs.ErrExist: a hard link gives a whole
// file its name unless that is taken.
func create(path string, data []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), making+"*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err == nil {
		err = os.Link(f.Name(), path)
	}
	return errors.Join(err, os.Remove(f.Name()))
}

// read decodes a record.
func read(path string, v any) error {
	data, err := file.ReadFile(path)
	if err != nil {
		return err
	}
	var s sealed
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("read %s: %w: %w", path, errBytes, err)
	}
	if fmt.Sprintf("%016x", xxh3.Hash(s.Record)) != s.Checksum {
		return fmt.Errorf("read %s: %w", path, errBytes)
	}
	return json.Unmarshal(s.Record, v)
}

// in returns the path of a file beside the areas.
func (f *Folder) in(name string) string {
	if f.shared == "" {
		return filepath.Join(f.files, name)
	}
	return filepath.Join(f.shared, name)
}

// Names of records.
const (
	Done   = "done" // folder of the records of tasks
	Runs   = "runs" // folder of what processes are at, or have cost: for those who watch the build
	Report = "report.json"
)

// DoneName returns the name of the record of a task in Done.
func DoneName(stage string, index int) string { return fmt.Sprintf("%s-%05d.json", stage, index) }

// PutDone writes the record of a task that is done. If there is one already, it has to be the same.
func (f *Folder) PutDone(stage string, index int, v any) error {
	path := f.in(Done + "/" + DoneName(stage, index))
	data, err := seal(v)
	if err != nil {
		return err
	}
	if f.shared == "" {
		return put(path, data)
	}
	if err := create(path, data); !errors.Is(err, fs.ErrExist) {
		return err
	}
	have, err := os.ReadFile(path)
	if err == nil && !bytes.Equal(have, data) {
		err = fmt.Errorf("%s: a twin of this task has made something else: %w", path, errBytes)
	}
	return err
}

// put writes a file, in the place of one that is there.
func put(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return file.WriteFile(path, data, 0o644)
}

// Put writes a record, in the place of one that is there.
func (f *Folder) Put(name string, v any) error {
	data, err := seal(v)
	if err != nil {
		return err
	}
	return put(f.in(name), data)
}

// Read reads a record. The error matches fs.ErrNotExist if there is none.
func (f *Folder) Read(name string, v any) error { return read(f.in(name), v) }

// Names returns the names of the records of a folder, Done or Runs.
func (f *Folder) Names(dir string) (names []string, err error) {
	entries, err := os.ReadDir(f.in(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// PutPlan writes the plan of a folder unless there is one, and reports which it was.
func PutPlan(folder string, plan any) (made bool, err error) {
	data, err := seal(plan)
	if err != nil {
		return false, err
	}
	err = create(filepath.Join(folder, PlanName), data)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// ReadPlan reads the plan of a work folder. The error matches fs.ErrNotExist if there is none.
func ReadPlan(folder string, plan any) error { return read(filepath.Join(folder, PlanName), plan) }

// PutFile writes a file for all tasks.
func (f *Folder) PutFile(name string, data []byte) error {
	return put(filepath.Join(f.From(Files), name), data)
}
