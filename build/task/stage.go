// Package task has the work of a build, cut into stages of tasks. A task is a function of the plan
// and its index. Its inputs and its outputs are named files in the work folder, and it shares
// nothing else with other tasks: it may run in any process, in any order within its stage, and
// again, and writes the same bytes. Each stage has a file here; Stages lists them.
//
// A task writes its record last: done/<stage>-<index>.json has the size and the checksum of each
// output, and what later stages need of it. A stage begins when all tasks of those before are done.
package task

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"github.com/zeebo/xxh3"

	"reelsplice/build/index"
	"reelsplice/build/plan"
	"reelsplice/build/records"
	"reelsplice/build/reuse"
	"reelsplice/schemas/release"
)

// A Stage is a list of tasks that may run side by side.
type Stage struct {
	Name string
	// count returns the number of tasks. All tasks of the stages before must be done.
	count func(b *Build) (int, error)
	// open opens what the tasks read in common.
	open func(b *Build) (tasks, error)
}

// Stages returns the stages behind the plan, in order.
func Stages() []Stage {
	return []Stage{
		{"survey", planned((*plan.Plan).TitleTasks), openSurvey},
		{"prepare", planned(prepareTasks), openPrepare},
		{"titles", planned((*plan.Plan).TitleTasks), openTitles},
		{"resources", planned((*plan.Plan).Partitions), openResources},
		{"find", planned(func(p *plan.Plan) int { return p.Finds }), openFind},
		{"index", indexTasks, openIndex},
		{"tables", planned(func(*plan.Plan) int { return index.Tables }), openTables},
		{"accounts", planned(func(*plan.Plan) int { return 1 }), openAccounts},
		{"compare", compareTasks, openCompare},
		{"changes", changesTasks, openChanges},
		{"changelog", changelogTasks, openChangelog},
		{"seal", planned(func(*plan.Plan) int { return 1 }), openSeal},
	}
}

// planned returns the count of a stage that the plan alone divides.
func planned(count func(p *plan.Plan) int) func(b *Build) (int, error) {
	return func(b *Build) (int, error) { return count(b.Plan), nil }
}

// StageOf returns the stage of a name.
func StageOf(name string) (Stage, error) {
	for _, s := range Stages() {
		if s.Name == name {
			return s, nil
		}
	}
	return Stage{}, fmt.Errorf("there is no stage %q", name)
}

// A Task is a task of a stage.
type Task struct {
	Stage   string
	Index   int
	Inputs  []string // names of files in the work folder
	Outputs []string // likewise; the files of the release that it writes are in its record
	Run     func(ctx context.Context) error
}

// tasks are the tasks of a stage, with what they read in common. They may run side by side.
type tasks interface {
	// files returns the names of the inputs and outputs of task i.
	files(i int) (inputs, outputs []string)
	// run does task i, and adds to its record.
	run(ctx context.Context, i int, d *Done) error
	// close gives up what the tasks read in common.
	close() error
}

// A Build is what all tasks of a build read; none changes it.
type Build struct {
	Plan    *plan.Plan
	Work    string // folder of the files between tasks
	Release string // folder of the release in the making
	Memory  int64  // bytes that a task may use
	// Advance gets the number of records that a task has done since its last call. It may be nil,
	// and is called from several goroutines.
	Advance  func(records int64)
	inputs   *records.Inputs
	previous *release.Reader // nil without one
	reuse    *reuse.Source   // the previous release, nil if nothing of it is taken over
}

// Open opens the build of a work folder whose plan is written.
func Open(work, releaseDir string, memory int64) (*Build, error) {
	p, err := plan.Read(filepath.Join(work, plan.File))
	if err != nil {
		return nil, err
	}
	b := &Build{Plan: p, Work: work, Release: releaseDir, Memory: memory}
	if b.inputs, err = records.Open(p.Catalog); err != nil {
		return nil, err
	}
	if p.Previous == "" {
		return b, nil
	}
	if b.previous, err = release.Open(release.Store{Dir: p.Releases}.Path(p.Previous)); err != nil {
		return nil, errors.Join(fmt.Errorf("previous release: %w", err), b.Close())
	}
	if !p.Full {
		b.reuse = reuse.From(b.previous, p.Level, memory/4)
	}
	return b, nil
}

// Close closes the catalogue and the previous release.
func (b *Build) Close() error {
	b.inputs.Close()
	if b.previous == nil {
		return nil
	}
	return b.previous.Close()
}

// advance counts records that are done.
func (b *Build) advance(n int64) {
	if b.Advance != nil {
		b.Advance(n)
	}
}

// path returns the path of a file of the work folder.
func (b *Build) path(name string) string { return filepath.Join(b.Work, name) }

// An Opened is a stage whose tasks can run. It is safe for concurrent use.
type Opened struct {
	b     *Build
	stage Stage
	tasks tasks
	count int
}

// Open opens a stage of a build. All tasks of the stages before must be done.
func (s Stage) Open(b *Build) (*Opened, error) {
	n, err := s.count(b)
	if err != nil || n == 0 {
		return &Opened{}, err
	}
	t, err := s.open(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return &Opened{b, s, t, n}, nil
}

// Count returns the number of tasks.
func (o *Opened) Count() int { return o.count }

// Close ends the stage.
func (o *Opened) Close() error {
	if o.tasks == nil {
		return nil
	}
	return o.tasks.close()
}

// Task returns task i, 0 <= i < Count.
func (o *Opened) Task(i int) Task {
	in, out := o.tasks.files(i)
	return Task{Stage: o.stage.Name, Index: i, Inputs: in, Outputs: out, Run: func(ctx context.Context) error {
		d := &Done{Stage: o.stage.Name, Index: i, Counts: map[string]int64{}}
		err := release.Guard(func() error { return o.tasks.run(ctx, i, d) })
		for _, name := range out {
			if err == nil {
				err = d.addFile(o.b.Work, name)
			}
		}
		if err == nil {
			err = d.write(o.b.Work)
		}
		if err != nil {
			return fmt.Errorf("%s %d: %w", o.stage.Name, i, err)
		}
		return nil
	}}
}

// A Done is the record of a task that is done. Equal inputs give equal records.
type Done struct {
	Stage string `json:"stage"`
	Index int    `json:"index"`
	Files []File `json:"files,omitempty"` // in the work folder
	// Parts, Indexes and Tables are the files of the release that the task wrote.
	Parts   []release.Part `json:"parts,omitempty"`
	Indexes []release.File `json:"indexes,omitempty"`
	Tables  []release.File `json:"tables,omitempty"`
	// Counts are what the report and later stages add up, by name.
	Counts map[string]int64 `json:"counts,omitempty"`
	// LatestPerson is the highest id of a person in the credits.
	LatestPerson int64 `json:"latest_person,omitempty"`
	// Warning is for the log of the build.
	Warning string `json:"warning,omitempty"`
	// Unchanged is set if the previous release has all that this one would have.
	Unchanged bool `json:"unchanged,omitempty"`
	// Release is the id of the release that is sealed.
	Release string `json:"release,omitempty"`
}

// A File is an output of a task in the work folder.
type File struct {
	Name     string `json:"name"`
	Size     int64  `json:"size"`
	Checksum string `json:"checksum"` // 128-bit xxh3, hex
}

// addFile describes an output.
func (d *Done) addFile(work, name string) error {
	f, err := os.Open(filepath.Join(work, name))
	if err != nil {
		return err
	}
	defer f.Close()
	h := xxh3.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return err
	}
	sum := h.Sum128().Bytes()
	d.Files = append(d.Files, File{name, n, hex.EncodeToString(sum[:])})
	return nil
}

// doneName returns the name of the record of a task in the work folder.
func doneName(stage string, index int) string {
	return fmt.Sprintf("done/%s-%05d.json", stage, index)
}

func (d *Done) write(work string) error {
	path := filepath.Join(work, doneName(d.Stage, d.Index))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return renameio.WriteFile(path, append(data, '\n'), 0o644, renameio.WithTempDir(filepath.Dir(path)))
}

// Read returns the records of all tasks of the stages with these names, in order.
func (b *Build) Read(stages ...string) (all []Done, err error) {
	for _, name := range stages {
		s, err := StageOf(name)
		if err != nil {
			return nil, err
		}
		n, err := s.count(b)
		if err != nil {
			return nil, err
		}
		for i := range n {
			d, err := b.readDone(name, i)
			if err != nil {
				return nil, err
			}
			all = append(all, d)
		}
	}
	return all, nil
}

func (b *Build) readDone(stage string, i int) (d Done, err error) {
	data, err := os.ReadFile(b.path(doneName(stage, i)))
	if err != nil {
		return d, fmt.Errorf("task %s %d is not done: %w", stage, i, err)
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return d, fmt.Errorf("read %s: %w", doneName(stage, i), err)
	}
	return d, nil
}

// doneNames returns the names of the records of all tasks of a stage.
func doneNames(stage string, n int) []string {
	return namesOf(n, func(i int) string { return doneName(stage, i) })
}

// namesOf returns the names of n files.
func namesOf(n int, name func(i int) string) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = name(i)
	}
	return names
}
