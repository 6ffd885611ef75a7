// Package work is the folder that the tasks of a build share: a folder of this machine, or one of a
// file system that several machines reach.
//
//	plan.json                   the plan; made once
//	<plan>/done/<task>.json     record of a task: made once, when all of its files are there
//	<plan>/files/<name>         for later tasks
//	<plan>/release/<name>       of the release in the making
//	<plan>/runs/<run>.json      what a process is at, or what it has cost
//	<plan>/report.json          the report of a build whose release is in the store
//
// The name of a file follows from the task that makes it, and its bytes follow from the task's inputs. So a
// task that runs again, that runs twice at a time or that comes back when its build is over harms
// nothing: it writes the same bytes under the same name, or below a plan that nobody reads. Readers trust records,
// compare files with the sizes there, and check the checksums that each file has.
//
// On one machine, tasks write their files where others read them. Otherwise a process has
// folders of its own, from which Share moves what a task has made. Files appear whole or not at all; names that
// start with a dot are files in the making.
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

// PlanName is the name of the plan in a work folder.
const PlanName = "plan.json"

// An Area is a part of the folder.
type Area string

// The areas.
const (
	Files   Area = "files"   // for later tasks
	Release Area = "release" // of the release in the making
)

// dirs are the folders below a plan.
var dirs = [...]string{string(Files), string(Release), Done, Runs}

// A File is an output of a task. Its checksums lie in the file.
type File struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// A Folder is the work folder of a build as a process sees it. It is safe for concurrent use.
type Folder struct {
	files, release string // where the tasks of this process write
	shared         string // folder of the plan; "" where files and release are what tasks share
}

// Local returns the Folder of a build on one machine, by the folder of files between tasks and that
// of the release.
func Local(files, release string) *Folder { return &Folder{files: files, release: release} }

// Shared returns the Folder of a process that shares the tasks of a plan with others in a folder. SetScratch comes before
// the first task.
func Shared(folder, plan string) *Folder {
	return &Folder{shared: filepath.Join(folder, plan)}
}

// SetScratch makes folders for files in the making.
func (f *Folder) SetScratch(dir string) error {
	f.files, f.release = filepath.Join(dir, string(Files)), filepath.Join(dir, string(Release))
	for _, dir := range []string{f.files, f.release} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make folder for files in the making: %w", err)
		}
	}
	return nil
}

// Dir returns the folder where tasks write files of an area, and temporary ones.
func (f *Folder) Dir(a Area) string {
	if a == Release {
		return f.release
	}
	return f.files
}

// From returns the folder where tasks find the files of an area.
func (f *Folder) From(a Area) string {
	if f.shared == "" {
		return f.Dir(a)
	}
	return filepath.Join(f.shared, string(a))
}

// Describe describes a file in Dir of Files.
func (f *Folder) Describe(name string) (File, error) {
	info, err := os.Stat(filepath.Join(f.files, name))
	if err != nil {
		return File{}, err
	}
	return File{name, info.Size()}, nil
}

// Path returns the path of a file of Files, which has to have its size.
func (f *Folder) Path(file File) (string, error) {
	path := filepath.Join(f.From(Files), file.Name)
	info, err := os.Stat(path)
	if err == nil && info.Size() != file.Size {
		err = fmt.Errorf("%s: it has %d bytes, its record %d: %w", path, info.Size(), file.Size, errBytes)
	}
	return path, err
}

// errBytes is matched by errors about files with other bytes than their record has.
var errBytes = errors.New("its bytes are not those that its task wrote")

// Share moves a file from Dir of an area to where other tasks find it. It replaces what a twin of
// the task has put there, which has the same bytes. Two tasks of this process may make a file of one name too,
// which is named by its content: then the first one shares it for both.
func (f *Folder) Share(a Area, name string) error {
	if f.shared == "" {
		return nil
	}
	from, to := filepath.Join(f.Dir(a), name), filepath.Join(f.From(a), name)
	err := os.MkdirAll(filepath.Dir(to), 0o755)
	if err == nil && file.Rename(from, to) != nil { // it is gone, or in another file system
		if err = file.Copy(from, to); err == nil {
			err = remove(from)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		if _, shared := os.Stat(to); shared == nil {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("share %s: %w", name, err)
	}
	return nil
}

// Clean removes all that tasks of any plan have left in a folder, files in the making too. The report and the plan go
// after all else: who is interrupted can come back.
func Clean(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var plans []string
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		switch {
		case isPlan(e.Name()):
			plans = append(plans, path)
			err = errors.Join(err, discard(path))
		case strings.HasPrefix(e.Name(), making):
			err = errors.Join(err, remove(path))
		}
	}
	if err != nil {
		return err
	}
	for _, plan := range plans {
		err = errors.Join(err, remove(filepath.Join(plan, Report)))
	}
	if err = errors.Join(err, remove(filepath.Join(folder, PlanName))); err != nil {
		return err
	}
	for _, plan := range plans { // a task may have written there until its plan was gone
		err = errors.Join(err, discard(plan))
	}
	return err
}

// remove removes a file, if it is there.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Discard removes all that tasks of the plan have left in the shared folder, and leaves other plans alone.
func (f *Folder) Discard() error { return discard(f.shared) }

// discard removes what tasks have left in the folder of a plan.
func discard(plan string) (err error) {
	for _, dir := range dirs {
		err = errors.Join(err, removeAll(filepath.Join(plan, dir)))
	}
	_ = os.Remove(plan) // unless it holds files of others
	return err
}

// removeAll removes a folder, also while a task of a build that is over still writes there: each file that it
// makes meanwhile keeps the folder once more.
func removeAll(dir string) (err error) {
	for range 100 {
		if err = os.RemoveAll(dir); !errors.Is(err, fs.ErrExist) { // which is ENOTEMPTY too
			return err
		}
	}
	return err
}

// isPlan reports whether a name is that of a plan's folder.
func isPlan(name string) bool {
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
