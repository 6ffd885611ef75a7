// Package task implements a build as stages of tasks. A task is a function of the plan and its index. It reads and
// writes named files of the work folder and shares nothing else with other tasks. It may run in any process, in any
// order within its stage, and again, and always writes the same bytes. Each stage has a file here; Stages lists them.
//
// A task writes its record last: done/<stage>-<index>.json has the size of each output, the checksums of release
// files, and data for later stages. A stage begins when all tasks of the earlier stages are done.
package task

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/build/index"
	"github.com/reelsplice/reelsplice/build/render"
	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/bug"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
)

// A Stage is a list of tasks that may run in parallel.
type Stage struct {
	Name string
	// Count returns the number of tasks. If it depends on tasks of earlier stages, they must be done.
	Count func(b *Build) (int, error)
	// open opens the inputs that the tasks share.
	open func(b *Build) (tasks, error)
}

// Stages returns the stages after the plan, in order.
func Stages() []Stage {
	return []Stage{
		{"survey", fromPlan((*work.Plan).TitleTasks), stateless(survey)},
		{"prepare", fromPlan(func(p *work.Plan) int {
			return prepareOwners + p.Finds + p.Near[fragment.KindMovie] + p.Near[fragment.KindTV]
		}), openPrepare},
		{"titles", fromPlan((*work.Plan).TitleTasks), openTitles},
		{"resources", fromPlan((*work.Plan).Partitions), openResources},
		{"find", fromPlan(func(p *work.Plan) int { return p.Finds }), openFind},
		{"index", indexTasks, stateless(writeIndex)},
		{"ranges", fromPlan((*work.Plan).RangeTasks), openRanges},
		{"tables", fromPlan(func(*work.Plan) int { return index.Tables }), stateless(writeTable)},
		{"accounts", oneTask, stateless(writeAccounts)},
		{"changes", oneTask, stateless(writeChanges)},
		{"seal", oneTask, stateless(seal)},
	}
}

// fromPlan returns the count of a stage that the plan alone divides.
func fromPlan(count func(p *work.Plan) int) func(b *Build) (int, error) {
	return func(b *Build) (int, error) { return count(b.Plan), nil }
}

// oneTask is the count of a stage of one task.
func oneTask(*Build) (int, error) { return 1, nil }

// stateless opens a stage whose tasks share no open inputs.
func stateless(run func(ctx context.Context, b *Build, i int, d *taskRecord) error) func(b *Build) (tasks, error) {
	return func(b *Build) (tasks, error) {
		return tasks{run: func(ctx context.Context, i int, d *taskRecord) error { return run(ctx, b, i, d) }}, nil
	}
}

// StageOf returns the stage with a name.
func StageOf(name string) (Stage, error) {
	for _, s := range Stages() {
		if s.Name == name {
			return s, nil
		}
	}
	return Stage{}, fmt.Errorf("there is no stage %q", name)
}

// tasks are the tasks of a stage and their shared inputs. They may run in parallel.
type tasks struct {
	// run runs task i and adds its results to d, including the files that it writes for other tasks.
	run func(ctx context.Context, i int, d *taskRecord) error
	// close releases the shared inputs. It may be nil.
	close func() error
}

// A Build holds the inputs of all tasks. No task changes it.
type Build struct {
	Plan   *work.Plan
	Folder *work.Folder
	Memory int64 // memory limit of a task, in bytes
	// Advance is called for each processed record, from several goroutines. It may be nil.
	Advance     func()
	inputs      *work.Inputs
	previous    *release.Reader // nil without one
	previousDir string
	reuse       *release.Reader // the previous release; nil if nothing of it is reused, as after another encoder

	mu   sync.Mutex
	done map[string][]taskRecord // records read so far, by stage
}

// New returns the build of a plan without opening its inputs, for counting tasks.
func New(p *work.Plan, f *work.Folder) *Build {
	return &Build{Plan: p, Folder: f, done: map[string][]taskRecord{}}
}

// Open opens the catalogue and the previous release for the tasks of a build.
func Open(p *work.Plan, f *work.Folder, catalog string, releases store.Folder, memory int64) (b *Build, err error) {
	b = New(p, f)
	b.Memory = memory
	if b.inputs, err = work.OpenCatalog(catalog); err != nil || p.Previous == "" {
		return b, err
	}
	b.previousDir = releases.Path(p.Previous)
	if err := release.Guard(func() error { b.previous, err = release.Open(b.previousDir); return err }); err != nil {
		b.inputs.Close()
		return nil, fmt.Errorf("previous release: %w", err)
	}
	if !p.Full && isReusable(b.previous, p.Level) {
		b.reuse = b.previous
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

// advance counts a processed record.
func (b *Build) advance() {
	if b.Advance != nil {
		b.Advance()
	}
}

// temp returns the folder for temporary files and for files that other tasks will read.
func (b *Build) temp() string { return b.Folder.OutDir(work.Files) }

// An Opened is a stage whose tasks can run. It is safe for concurrent use.
type Opened struct {
	Count int // number of tasks
	b     *Build
	stage Stage
	tasks tasks
}

// Open opens a stage of a build. All tasks of the earlier stages must be done.
func (s Stage) Open(b *Build) (*Opened, error) {
	n, err := s.Count(b)
	if err != nil || n == 0 {
		return &Opened{}, err
	}
	t, err := s.open(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return &Opened{n, b, s, t}, nil
}

// Close ends the stage.
func (o *Opened) Close() error {
	if o.tasks.close == nil {
		return nil
	}
	return o.tasks.close()
}

// Run runs task i, 0 <= i < Count. A panic of the task is an error.
func (o *Opened) Run(ctx context.Context, i int) error {
	d := &taskRecord{Stage: o.stage.Name, Index: i}
	err := func() (err error) {
		defer bug.Catch(&err)
		return release.Guard(func() error { return o.tasks.run(ctx, i, d) })
	}()
	if err == nil {
		err = o.b.share(d)
	}
	if err != nil {
		return fmt.Errorf("%s %d: %w", o.stage.Name, i, err)
	}
	return nil
}

// A taskRecord is the record of a finished task. Equal inputs give equal records.
type taskRecord struct {
	Stage string      `json:"stage"`
	Index int         `json:"index"`
	Files []work.File `json:"files,omitempty"` // files for other tasks
	// Parts, Indexes and Tables are the files that the task wrote for the release.
	Parts   []release.Part `json:"parts,omitempty"`
	Indexes []release.File `json:"indexes,omitempty"`
	Tables  []release.File `json:"tables,omitempty"`
	// Count is a number that later stages sum up: titles of a survey, rows of a range, terms of a table.
	Count int64 `json:"made,omitempty"`
	// LatestPerson is the highest person ID in the credits.
	LatestPerson int64 `json:"latest_person,omitempty"`
	// Warning is for the log of the build.
	Warning string `json:"warning,omitempty"`
	Outcome
}

// share publishes the files of a task for other tasks, and then its record.
func (b *Build) share(d *taskRecord) error {
	for _, f := range d.Files {
		if err := b.Folder.Share(work.Files, f.Name); err != nil {
			return err
		}
	}
	var previous []release.File // packs of the previous release, by name
	if b.previous != nil {
		previous = b.previous.Manifest().Packs
	}
	var names []string // files that the task made for the release
	for i := range d.Parts {
		p := &d.Parts[i]
		names = append(names, p.Name, p.Keys)
		for _, pack := range p.Packs {
			_, reused := slices.BinarySearchFunc(previous, pack.Name, func(f release.File, name string) int { return strings.Compare(f.Name, name) })
			if !reused {
				names = append(names, pack.Name)
			}
		}
	}
	for _, f := range slices.Concat(d.Indexes, d.Tables) {
		names = append(names, f.Name)
	}
	for _, name := range names {
		if err := b.Folder.Share(work.Release, name); err != nil {
			return err
		}
	}
	return b.Folder.PutDone(d.Stage, d.Index, d)
}

// taskRecords returns the records of all tasks of the named stages, in order. All of them must be done.
func (b *Build) taskRecords(stages ...string) (all []taskRecord, err error) {
	for _, name := range stages {
		done, err := b.recordsOf(name)
		if err != nil {
			return nil, err
		}
		all = append(all, done...)
	}
	return all, nil
}

// reads is the number of files that are opened or read at once.
var reads = 16 // tests lower it

func (b *Build) recordsOf(stage string) ([]taskRecord, error) {
	b.mu.Lock()
	done, ok := b.done[stage]
	b.mu.Unlock()
	if ok {
		return done, nil
	}
	s, err := StageOf(stage)
	if err != nil {
		return nil, err
	}
	n, err := s.Count(b)
	if err != nil {
		return nil, err
	}
	done = make([]taskRecord, n)
	var g errgroup.Group
	g.SetLimit(reads)
	for i := range done {
		g.Go(func() error {
			err := b.Folder.Read(work.Done+"/"+work.DoneName(stage, i), &done[i])
			if errors.Is(err, fs.ErrNotExist) {
				err = fmt.Errorf("task %s %d is not done: %w", stage, i, err)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.done[stage] = done
	b.mu.Unlock()
	return done, nil
}

// outputs returns the files from the tasks of some stages whose names start with a prefix, in order.
func (b *Build) outputs(prefix string, stages ...string) (files []work.File, err error) {
	done, err := b.taskRecords(stages...)
	for i := range done {
		for _, f := range done[i].Files {
			if strings.HasPrefix(f.Name, prefix) {
				files = append(files, f)
			}
		}
	}
	return files, err
}

// An output writes the resources of a task into its part of the release.
type output struct {
	*resourceWriter
	render *render.Renderer
	inputs resourceInputs // inputs of the current resource
	key    []byte
}

// Parts of the release, in order: the common part, one for each task of the stages titles, resources and find, and
// the part of removed resources.
const (
	commonPart     = 0
	firstTitlePart = 1
)

func (b *Build) resourcePart(i int) int { return firstTitlePart + b.Plan.TitleTasks() + i }
func (b *Build) findPart(i int) int     { return b.resourcePart(b.Plan.Partitions()) + i }

// writePart writes a part of the release with fn, and adds the part to the record of the task.
func (b *Build) writePart(d *taskRecord, part int, fn func(o *output) error) error {
	fallback, err := render.ParseFallback(b.Plan.Fallback)
	if err != nil {
		return err
	}
	p, err := release.CreatePart(release.PartOptions{Dir: b.Folder.OutDir(work.Release), Number: part, Previous: b.reuse})
	if err != nil {
		return err
	}
	w, err := newResourceWriter(b.reuse, p, b.Plan.Level)
	if err != nil {
		_, closing := p.Close()
		return errors.Join(err, closing)
	}
	err = fn(&output{resourceWriter: w, render: render.New(fallback...), inputs: resourceInputs{fallback: b.Plan.Fallback}})
	closed, closing := w.close()
	d.Parts = append(d.Parts, closed)
	d.Reused += w.copied
	return errors.Join(err, closing)
}

// spec starts the resource of a record with the fingerprint of its inputs. id is the id in standalone responses. The
// key is valid until the next call.
func (o *output) spec(kind fragment.Kind, k catalog.Key, id, fingerprint uint64) release.ResourceSpec {
	o.key = k.Append(o.key[:0], kind)
	return release.ResourceSpec{Key: o.key, ID: id, Fingerprint: fingerprint}
}

// addInputs writes a resource that depends on its key and the current inputs only.
func (o *output) addInputs(key []byte, render func() []release.FragmentSpec) error {
	return o.add(release.ResourceSpec{Key: key, Fingerprint: o.inputs.Fingerprint()}, render)
}
