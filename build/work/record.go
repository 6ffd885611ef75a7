package work

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/schemas/object"
)

const (
	doneDir = "done/"
	runsDir = "runs/"
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

// unseal decodes a record.
func unseal(data []byte, v any) error {
	var s sealed
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("%w: %w", errBytes, err)
	}
	if fmt.Sprintf("%016x", xxh3.Hash(s.Record)) != s.Checksum {
		return errBytes
	}
	return json.Unmarshal(s.Record, v)
}

// records returns the folder of records and the prefix of their names.
func (f *Folder) records() (object.Folder, string) {
	if f.shared != nil {
		return f.shared, f.prefix
	}
	return object.Local(f.files), ""
}

// RecordName returns the name of the record of a task.
func RecordName(stage string, index int) string {
	return fmt.Sprintf("%s%05d.json", RecordsOf(stage), index)
}

// RecordsOf returns how the names of the records of all tasks of a stage start.
func RecordsOf(stage string) string { return doneDir + stage + "-" }

// PutDone writes the record of a task that is done. If there is one already, it has to be the same.
func (f *Folder) PutDone(ctx context.Context, stage string, index int, v any) error {
	to, prefix := f.records()
	name := prefix + RecordName(stage, index)
	data, err := seal(v)
	if err != nil {
		return err
	}
	if f.shared == nil {
		return to.Put(ctx, name, data)
	}
	return create(ctx, to, name, data)
}

// create makes a file unless there is one, which has to have the same bytes.
func create(ctx context.Context, to object.Folder, name string, data []byte) error {
	err := to.Create(ctx, name, data)
	if errors.Is(err, object.ErrUnsupported) {
		return to.Put(ctx, name, data) // a twin writes the same
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	return again(ctx, func() error {
		have, _, err := to.ReadAll(ctx, name)
		if err == nil && !bytes.Equal(have, data) {
			err = fmt.Errorf("%s: a twin of this task has made something else: %w", to.URL(name), errBytes)
		}
		return err
	})
}

// ReadDone reads the record of a task. The error matches fs.ErrNotExist if the task is not done.
func (f *Folder) ReadDone(ctx context.Context, stage string, index int, v any) error {
	from, prefix := f.records()
	return read(ctx, from, prefix+RecordName(stage, index), v)
}

func read(ctx context.Context, from object.Folder, name string, v any) error {
	return again(ctx, func() error {
		data, _, err := from.ReadAll(ctx, name)
		if err == nil {
			if err = unseal(data, v); err != nil {
				err = fmt.Errorf("read %s: %w", from.URL(name), err)
			}
		}
		return err
	})
}

// DoneOf returns the names of all records of tasks that are done, as RecordName returns them.
func (f *Folder) DoneOf(ctx context.Context) (map[string]bool, error) {
	from, prefix := f.records()
	all, err := from.List(ctx, prefix+doneDir)
	if err != nil {
		return nil, err
	}
	names := make(map[string]bool, len(all))
	for _, o := range all {
		names[o.Key[len(prefix):]] = true
	}
	return names, nil
}

// PutPlan writes the plan of a shared folder unless there is one, and reports which it was.
func PutPlan(ctx context.Context, shared object.Folder, plan any) (made bool, err error) {
	data, err := seal(plan)
	if err != nil {
		return false, err
	}
	err = shared.Create(ctx, PlanName, data)
	if errors.Is(err, object.ErrUnsupported) {
		if _, err = shared.Stat(ctx, PlanName); errors.Is(err, fs.ErrNotExist) {
			return true, shared.Put(ctx, PlanName, data)
		}
		return false, err
	}
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// ReadPlan reads the plan of a shared folder. The error matches fs.ErrNotExist if there is none.
func ReadPlan(ctx context.Context, shared object.Folder, plan any) error {
	return read(ctx, shared, PlanName, plan)
}

// PutRun writes what a process is at, or what it has cost, in the place of what it wrote before. It
// is for those who watch the build.
func (f *Folder) PutRun(ctx context.Context, run string, v any) error {
	to, prefix := f.records()
	data, err := seal(v)
	if err != nil {
		return err
	}
	return to.Put(ctx, prefix+runsDir+run+".json", data)
}

// Runs calls fn with a function that reads what a process has written, for each process.
func (f *Folder) Runs(ctx context.Context, fn func(run string, read func(v any) error) error) error {
	from, prefix := f.records()
	all, err := from.List(ctx, prefix+runsDir)
	if err != nil {
		return err
	}
	for _, o := range all {
		name := filepath.Base(o.Key)
		if err := fn(name[:len(name)-len(".json")], func(v any) error { return read(ctx, from, o.Key, v) }); err != nil {
			return err
		}
	}
	return nil
}
