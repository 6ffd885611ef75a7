// Package work divides the work of a build into tasks, and gives them their inputs: the plan, the records of the
// catalogue by spans, and the folder that all tasks share, on this machine or on a file system that several machines
// reach.
//
// A Plan is a function of the catalogue and of the build's parameters, and all tasks read the same one. Tasks exchange
// data in files with sections, which the Plan numbers.
//
//	plan.json                   the plan; created once
//	<plan>/done/<task>.json     record of a task: created once, when all of its files exist
//	<plan>/files/<name>         for later tasks
//	<plan>/release/<name>       files of the unfinished release
//	<plan>/runs/<run>.json      progress of a process, or its cost
//	<plan>/report.json          report of a build whose release is in the store
//
// The name of a file depends on its task, and its bytes on the task's inputs. So a task may run again, twice at the
// same time, or resume after the end of its build: it writes the same bytes under the same name, or in the folder of a
// plan that nobody reads. Readers trust records, compare file sizes with them, and verify the checksums in each file.
//
// On one machine, tasks write files where others read them. Otherwise each process has its own folders, from which
// Share moves the files of a task. Files appear whole or not at all; names that start with a dot are unfinished files.
package work

import (
	"bytes"
	"encoding/hex"
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

// planName is the name of the plan in a work folder.
const planName = "plan.json"

// An area is a part of the folder.
type area string

// The areas.
const (
	Files   area = "files"   // for later tasks
	Release area = "release" // files of the unfinished release
)

// dirs are the folders below a plan.
var dirs = [...]string{string(Files), string(Release), Done, Runs}

// A File is an output of a task. Its checksums are in the file.
type File struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// A Folder is a process's view of the work folder of a build. It is safe for concurrent use.
type Folder struct {
	files, release string // output folders of this process
	shared         string // folder of the plan; "" if files and release are shared themselves
}

// Local returns the Folder of a build on one machine. files is the folder for files between tasks.
func Local(files, release string) *Folder { return &Folder{files: files, release: release} }

// Shared returns the Folder of a process that shares the tasks of a plan with others. SetScratch comes before the
// first task.
func Shared(folder, plan string) *Folder {
	return &Folder{shared: filepath.Join(folder, plan)}
}

// SetScratch creates folders for unfinished files.
func (f *Folder) SetScratch(dir string) error {
	f.files, f.release = filepath.Join(dir, string(Files)), filepath.Join(dir, string(Release))
	for _, dir := range []string{f.files, f.release} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make folder for unfinished files: %w", err)
		}
	}
	return nil
}

// OutDir returns the folder where tasks write files of an area, and temporary ones.
func (f *Folder) OutDir(a area) string {
	if a == Release {
		return f.release
	}
	return f.files
}

// InDir returns the folder where tasks find the files of an area.
func (f *Folder) InDir(a area) string {
	if f.shared == "" {
		return f.OutDir(a)
	}
	return filepath.Join(f.shared, string(a))
}

// Describe describes a file in OutDir of Files.
func (f *Folder) Describe(name string) (File, error) {
	info, err := os.Stat(filepath.Join(f.files, name))
	if err != nil {
		return File{}, err
	}
	return File{name, info.Size()}, nil
}

// Path returns the path of a file of Files, or an error if its size differs.
func (f *Folder) Path(file File) (string, error) {
	path := filepath.Join(f.InDir(Files), file.Name)
	info, err := os.Stat(path)
	if err == nil && info.Size() != file.Size {
		err = fmt.Errorf("%s: it has %d bytes, its record %d: %w", path, info.Size(), file.Size, errMismatch)
	}
	return path, err
}

// errMismatch matches errors about files whose bytes differ from their record.
var errMismatch = errors.New("its bytes differ from its task's output")

// Share moves a file from OutDir of an area to the shared folder. It replaces the file of another run of the task,
// which has the same bytes. Two tasks of this process may write the same file, if it is named by its content: the first
// one then shares it for both.
func (f *Folder) Share(a area, name string) error {
	if f.shared == "" {
		return nil
	}
	src, dst := filepath.Join(f.OutDir(a), name), filepath.Join(f.InDir(a), name)
	err := os.MkdirAll(filepath.Dir(dst), 0o755)
	if err == nil && file.Rename(src, dst) != nil { // it is already moved, or dst is on another file system
		if err = file.Copy(src, dst); err == nil {
			err = remove(src)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		if _, shared := os.Stat(dst); shared == nil {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("share %s: %w", name, err)
	}
	return nil
}

// Clean removes all files of tasks of any plan from a folder, including unfinished ones. It removes the report and the
// plan last, so that an interrupted Clean can be repeated.
func Clean(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var plans []string
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		switch {
		case isPlanID(e.Name()):
			plans = append(plans, path)
			err = errors.Join(err, discard(path))
		case strings.HasPrefix(e.Name(), unfinishedPrefix):
			err = errors.Join(err, remove(path))
		}
	}
	if err != nil {
		return err
	}
	for _, plan := range plans {
		err = errors.Join(err, remove(filepath.Join(plan, Report)))
	}
	if err = errors.Join(err, remove(filepath.Join(folder, planName))); err != nil {
		return err
	}
	for _, plan := range plans { // tasks may have written there until the plan was removed
		err = errors.Join(err, discard(plan))
	}
	return err
}

// remove removes a file if it exists.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Discard removes the files of the plan's tasks from the shared folder. Other plans stay.
func (f *Folder) Discard() error { return discard(f.shared) }

// discard removes the files of tasks from the folder of a plan.
func discard(plan string) (err error) {
	for _, dir := range dirs {
		err = errors.Join(err, removeAll(filepath.Join(plan, dir)))
	}
	_ = os.Remove(plan) // fails if others have files there
	return err
}

// removeAll removes a folder, even while a task of a finished build still writes there. It retries after each new file.
func removeAll(dir string) (err error) {
	for range 100 {
		if err = os.RemoveAll(dir); !errors.Is(err, fs.ErrExist) { // matches ENOTEMPTY too
			return err
		}
	}
	return err
}

// isPlanID reports whether the name of a folder is the ID of a plan.
func isPlanID(name string) bool {
	_, err := hex.DecodeString(name)
	return err == nil && len(name) == 16 && name == strings.ToLower(name)
}

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

// unfinishedPrefix starts the names of unfinished plans and records.
const unfinishedPrefix = ".new-"

// create creates a file with data. If it exists, the error matches fs.ErrExist: linking a complete file succeeds only
// if the name is free.
func create(path string, data []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), unfinishedPrefix+"*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), file.Sync(f), f.Close()); err == nil {
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
		return fmt.Errorf("read %s: %w: %w", path, errMismatch, err)
	}
	if fmt.Sprintf("%016x", xxh3.Hash(s.Record)) != s.Checksum {
		return fmt.Errorf("read %s: %w", path, errMismatch)
	}
	return json.Unmarshal(s.Record, v)
}

// recordPath returns the path of a record.
func (f *Folder) recordPath(name string) string {
	if f.shared == "" {
		return filepath.Join(f.files, name)
	}
	return filepath.Join(f.shared, name)
}

// Names of records.
const (
	Done   = "done" // folder of the records of tasks
	Runs   = "runs" // folder of progress and costs of processes, for watching the build
	Report = "report.json"
)

// DoneName returns the name of the record of a task in Done.
func DoneName(stage string, index int) string { return fmt.Sprintf("%s-%05d.json", stage, index) }

// PutDone writes the record of a finished task. An existing one must be equal.
func (f *Folder) PutDone(stage string, index int, v any) error {
	name := Done + "/" + DoneName(stage, index)
	if f.shared == "" {
		return f.Put(name, v)
	}
	data, err := seal(v)
	if err != nil {
		return err
	}
	path := f.recordPath(name)
	if err := create(path, data); !errors.Is(err, fs.ErrExist) {
		return err
	}
	existing, err := os.ReadFile(path)
	if err == nil && !bytes.Equal(existing, data) {
		err = fmt.Errorf("%s: another run of this task wrote different bytes: %w", path, errMismatch)
	}
	return err
}

// Put writes a record, replacing an existing one.
func (f *Folder) Put(name string, v any) error {
	data, err := seal(v)
	if err != nil {
		return err
	}
	path := f.recordPath(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return file.WriteFile(path, data, 0o644)
}

// Read reads a record. The error matches fs.ErrNotExist if it does not exist.
func (f *Folder) Read(name string, v any) error { return read(f.recordPath(name), v) }

// Names returns the names of the records of a folder, Done or Runs.
func (f *Folder) Names(dir string) (names []string, err error) {
	entries, err := os.ReadDir(f.recordPath(dir))
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

// PutPlan writes the plan of a folder unless there is one, and reports whether it did.
func PutPlan(folder string, plan *Plan) (created bool, err error) {
	data, err := seal(plan)
	if err != nil {
		return false, err
	}
	err = create(filepath.Join(folder, planName), data)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// ReadPlan reads the plan of a work folder. The error matches fs.ErrNotExist if it does not exist.
func ReadPlan(folder string) (*Plan, error) {
	p := &Plan{}
	err := read(filepath.Join(folder, planName), p)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("no plan in %s: run build plan first: %w", folder, err)
	}
	return p, err
}
