// Package build turns a catalogue into a release: plan -> map -> reduce -> index -> users -> changes -> seal.
//
// The plan divides the catalogue into shards and writes what all of them share. Map
// renders and compresses the titles, a shard at a time, and sends what they say of
// people, companies and the like to partitions on disk. Reduce builds those resources,
// a partition at a time, from their records and from what was sent. Index makes the tables
// that queries are answered from, of what the stages before have collected, and joins the
// shards. Changes tells what differs from a previous release. Seal gives the release its
// manifest and its name. Each task is a function of the catalogue and the plan, so tasks of
// a stage may run in any order, anywhere, and again. The release's bytes follow from the
// catalogue, the previous release and the parameters alone: neither jobs nor memory show in
// them.
package build

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"reelsplice/build/index"
	"reelsplice/build/render"
	"reelsplice/build/segment"
	"reelsplice/build/shuffle"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
)

// Config says what to build and with how much of the machine.
type Config struct {
	Catalog  string // folder of the catalogue
	Releases string // folder of the releases, made when it is missing
	Level    int    // deflate level, 1 to 9; 6 by default
	Jobs     int    // shards built at once; the number of CPUs by default
	Memory   int64  // bytes that the build may use; 2 GiB by default
	// Previous is the id of the release that this one is made upon: by it trends are measured,
	// and what differs from it are the changes that the release tells of. Without one it
	// tells of none.
	Previous string
	// Full renders all of the release. Otherwise the build may reuse parts of Previous.
	Full bool
	// Date is the time of those changes: the clock's by default. It does not count without
	// a previous release.
	Date time.Time
	// Access tells how often a resource was asked for in the last day and the last week. It
	// may be nil; otherwise it has a share in the bytes of the release.
	Access func(kind fragment.Kind, id uint64) (day, week uint64)
	// Progress is told how many records of how many are done. It may be nil, and
	// is called from several goroutines.
	Progress func(done, total int64)
	Log      *slog.Logger
}

// DefaultConfig returns the defaults; Catalog and Releases have none.
func DefaultConfig() Config {
	return Config{Level: segment.DefaultLevel, Jobs: runtime.GOMAXPROCS(0), Memory: 2 << 30}
}

// minMemory is what one worker needs at the least.
const minMemory = 64 << 20

// Validate reports everything that is wrong with c.
func (c *Config) Validate() error {
	var errs []error
	if c.Catalog == "" {
		errs = append(errs, errors.New("catalog: want a folder"))
	}
	if c.Releases == "" {
		errs = append(errs, errors.New("releases: want a folder"))
	}
	if c.Level < 1 || c.Level > 9 {
		errs = append(errs, fmt.Errorf("level %d: want 1 to 9", c.Level))
	}
	if c.Jobs < 1 {
		errs = append(errs, fmt.Errorf("jobs %d: want 1 or more", c.Jobs))
	}
	if c.Memory < minMemory {
		errs = append(errs, fmt.Errorf("memory %d: want at least 64MiB", c.Memory))
	}
	return errors.Join(errs...)
}

// A Report says what a build did. It lies in the release as report.json; only its
// times and its memory differ between builds of one catalogue.
type Report struct {
	Release     string           `json:"release"`
	BuiltAt     time.Time        `json:"built_at"`
	Records     map[string]int64 `json:"records"` // by kind
	Derived     int64            `json:"derived"` // resources that no dump has a record of
	Removed     int64            `json:"removed"` // resources said to be deleted or merged
	Resources   int64            `json:"resources"`
	Fragments   int64            `json:"fragments"`
	Segments    int64            `json:"segments"`
	RawBytes    int64            `json:"raw_bytes"`
	StoredBytes int64            `json:"stored_bytes"`
	Level       int              `json:"level"`
	Jobs        int              `json:"jobs"`
	// SharedIMDbIDs counts movies whose IMDb id a movie with a lower id has too;
	// only the first is found by it.
	SharedIMDbIDs int64 `json:"shared_imdb_ids"`
	// Tables holds how many bytes the table of each kind has.
	Tables map[string]int64 `json:"tables"`
	// Previous is the release that this one was made upon; "" for none.
	Previous string `json:"previous"`
	// Unchanged says that there were no news: Release is Previous, and no other was made.
	Unchanged bool `json:"unchanged"`
	// Kept counts the targets that were reused from Previous.
	Kept int64 `json:"kept"`
	// Changed counts, by kind, what changed since the previous release.
	Changed map[string]int `json:"changed,omitempty"`
	// Stages holds how many seconds each stage took.
	Stages       map[string]float64 `json:"stages"`
	Seconds      float64            `json:"seconds"`
	PeakRSSBytes int64              `json:"peak_rss_bytes"`
}

// Run builds a release and returns its report. It is not published.
func Run(ctx context.Context, c Config) (Report, error) {
	if err := c.Validate(); err != nil {
		return Report{}, err
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	// The collector works harder near the bound rather than passing it. The rest is what
	// the process has beside the heap.
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(c.Memory / 10 * 9))
	start := time.Now()
	r, err := once(ctx, c, start)
	if c.Previous != "" && errors.Is(err, release.ErrCorrupt) {
		c.Log.Warn("previous release is damaged: the release is made without it, with neither its changes nor trends", "previous", c.Previous, "because", err)
		c.Previous = ""
		r, err = once(ctx, c, start)
	}
	return r, err
}

// once is Run for a Config that is valid.
func once(ctx context.Context, c Config, start time.Time) (Report, error) {
	b := &builder{Config: c, start: start, stages: map[string]float64{}}
	var err error
	b.inputs, err = openInputs(c.Catalog)
	defer closeInputs(b.inputs)
	if err != nil {
		return Report{}, err
	}
	removed, err := catalog.ReadRemoved(c.Catalog)
	if err != nil {
		return Report{}, err
	}
	b.removed = catalog.NewRemovedSet(removed)
	defer b.closePrevious()
	if err := release.Guard(b.openPrevious); err != nil {
		return Report{}, err
	}
	manifest, err := b.run(ctx)
	if err != nil {
		return Report{}, err
	}
	r := b.report(manifest)
	if b.unchanged {
		return r, nil // the release keeps the report of its own build
	}
	return r, writeReport(filepath.Join(c.Releases, manifest.ID), r)
}

// builder is one build at work.
type builder struct {
	Config
	inputs  map[fragment.Kind]*input
	removed *catalog.RemovedSet
	work    string // folder of temporary files
	plan    plan
	reduced *shuffle.Shuffle // contributions of titles to other resources
	found   *shuffle.Shuffle // what external ids find
	rows    *index.Collector // what tables are made of
	done    atomic.Int64     // records
	total   int64            // likewise, of the catalogue
	derived atomic.Int64
	start   time.Time
	stages  map[string]float64

	previous  *release.Reader // nil without one
	unchanged bool            // the previous release has all of it
	changed   map[fragment.Kind]int
}

func (b *builder) run(ctx context.Context) (release.Manifest, error) {
	b.plan.divide(b.inputs)
	for _, n := range b.records() {
		b.total += n
	}
	w, err := release.Create(b.Releases, release.WriterOptions{
		Params:  b.params(),
		Parent:  b.Previous,
		Sources: b.sources(),
		Parts:   b.shardCount(),
	})
	if err != nil {
		return release.Manifest{}, err
	}
	var m release.Manifest
	err = release.Guard(func() (err error) {
		m, err = b.make(ctx, w)
		return err
	})
	if err != nil || b.unchanged {
		return m, errors.Join(err, w.Abort())
	}
	return m, nil
}

// make runs the stages.
func (b *builder) make(ctx context.Context, w *release.Writer) (m release.Manifest, err error) {
	// The next builder removes what a killed one left under such names.
	if b.work, err = os.MkdirTemp(b.Releases, release.BuildingPrefix+"*"); err != nil {
		return m, fmt.Errorf("make folder for temporary files: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.work)) }()
	defer b.closeTables()
	if err := b.stage("plan", func() error { return b.makePlan(ctx) }); err != nil {
		return m, err
	}
	if b.reduced, err = shuffle.New(b.work, b.plan.partitions, b.Memory/8); err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, b.reduced.Close()) }()
	if b.found, err = shuffle.New(b.work, b.plan.finds, b.Memory/32); err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, b.found.Close()) }()
	if b.rows, err = index.New(b.work); err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, b.rows.Close()) }()
	if err := b.common(w); err != nil {
		return m, err
	}
	if err := b.shards(ctx, w); err != nil {
		return m, err
	}
	if err := b.stage("index", func() error { return b.writeTables(ctx, w) }); err != nil {
		return m, err
	}
	if err := b.stage("users", func() error { return b.userTables(ctx, w) }); err != nil {
		return m, err
	}
	if err := b.stage("changes", func() error { return b.sinceLast(ctx, w) }); err != nil {
		return m, err
	}
	if b.unchanged {
		return *b.previous.Manifest(), nil
	}
	err = b.stage("seal", func() error {
		m, err = w.Seal(ctx)
		return err
	})
	return m, err
}

// shards runs the stages that build shards. Shard 0 is the common one.
func (b *builder) shards(ctx context.Context, w *release.Writer) error {
	first := 1
	run := func(name string, tasks []task) error {
		from := first
		first += len(tasks)
		return b.stage(name, func() error { return b.runTasks(ctx, w, from, tasks) })
	}
	if err := run("map", b.mapTasks()); err != nil {
		return err
	}
	b.plan.latest[fragment.KindPerson] = b.plan.persons.Load() // all credits have been seen
	if err := run("reduce", b.reduceTasks()); err != nil {
		return err
	}
	if err := run("find", b.findTasks()); err != nil {
		return err
	}
	return run("removed", b.removedTasks())
}

// writeTables makes the tables, and joins the shards. What the stages before have sorted is
// done with.
func (b *builder) writeTables(ctx context.Context, w *release.Writer) error {
	if err := errors.Join(b.reduced.Close(), b.found.Close()); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(b.workers())
	g.Go(func() error { return w.Join(ctx) })
	g.Go(func() error {
		return b.rows.WriteTables(ctx, w, index.Options{
			Work: b.work, Memory: b.Memory / 2, Jobs: b.workers(), Previous: b.previous, Access: b.Access,
		})
	})
	return g.Wait()
}

// stage runs one stage and notes how long it took.
func (b *builder) stage(name string, run func() error) error {
	start := time.Now()
	err := run()
	b.stages[name] = time.Since(start).Seconds()
	return err
}

// records returns how many records the catalogue has, by kind.
func (b *builder) records() map[string]int64 {
	n := map[string]int64{}
	for kind, in := range b.inputs {
		n[kind.String()] = in.rows()
	}
	return n
}

// advance counts records that are done.
func (b *builder) advance(n int64) {
	if done := b.done.Add(n); b.Progress != nil {
		b.Progress(done, b.total)
	}
}

// A task builds one shard.
type task func(ctx context.Context, o *output) error

// runTasks runs the tasks of a stage. Their shards are numbered in a row.
func (b *builder) runTasks(ctx context.Context, w *release.Writer, first int, tasks []task) error {
	return b.atOnce(ctx, len(tasks), func(ctx context.Context, i int) error {
		o, err := b.newOutput(w, first+i)
		if err != nil {
			return err
		}
		if err := tasks[i](ctx, o); err != nil {
			return err
		}
		return o.close()
	})
}

// atOnce calls fn with the numbers below n, as many at once as the memory allows. ctx of fn
// ends with the first error.
func (b *builder) atOnce(ctx context.Context, n int, fn func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(b.workers())
	for i := range n {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return release.Guard(func() error { return fn(ctx, i) })
		})
	}
	return g.Wait()
}

// mapTasks are the shards of titles. Those of series come first, because they take longest:
// what is started last is what CPUs wait for at the end of a stage.
func (b *builder) mapTasks() []task {
	var tasks []task
	for _, s := range b.plan.series {
		tasks = append(tasks, func(ctx context.Context, o *output) error { return b.mapSeries(ctx, o, s) })
	}
	for _, s := range b.plan.movies {
		tasks = append(tasks, func(ctx context.Context, o *output) error { return b.mapMovies(ctx, o, s) })
	}
	return tasks
}

// reduceTasks are the partitions of everything that titles refer to, in the order of
// their numbers.
func (b *builder) reduceTasks() []task {
	tasks := make([]task, b.plan.partitions)
	addReducers(b, tasks, fragment.KindPerson, buildPerson)
	addReducers(b, tasks, fragment.KindCollection, buildCollection)
	addReducers(b, tasks, fragment.KindCompany, buildCompany)
	addReducers(b, tasks, fragment.KindNetwork, buildNetwork)
	addReducers(b, tasks, fragment.KindKeyword, buildKeyword)
	addReducers(b, tasks, fragment.KindReview, buildReview)
	addReducers(b, tasks, fragment.KindCredit, buildCredit)
	addReducers(b, tasks, fragment.KindEpisodeGroup, buildEpisodeGroup)
	addReducers(b, tasks, fragment.KindList, buildList)
	return tasks
}

func addReducers[T any](b *builder, tasks []task, kind fragment.Kind,
	build func(r *reducer[T], key catalog.Key, record *T, said [][]byte) error,
) {
	p := b.plan.reduce[kind]
	for i := range p.partitions() {
		tasks[p.first+i] = func(ctx context.Context, o *output) error {
			return reduce(ctx, &reducer[T]{b: b, o: o, plan: p, build: build}, i)
		}
	}
}

// findTasks are the partitions of what external ids find.
func (b *builder) findTasks() []task {
	var tasks []task
	for i := range b.plan.finds {
		tasks = append(tasks, func(ctx context.Context, o *output) error { return b.reduceFind(ctx, o, i) })
	}
	return tasks
}

// workers bounds the shards in work by the memory that each takes.
func (b *builder) workers() int {
	return max(1, min(b.Jobs, int(b.Memory/minMemory)))
}

// reduceMemory is what sorting one partition may take.
func (b *builder) reduceMemory() int64 { return b.Memory / 4 / int64(b.workers()) }

// common writes shard 0: what all resources of a kind share.
func (b *builder) common(w *release.Writer) error {
	o, err := b.newOutput(w, 0)
	if err != nil {
		return err
	}
	for _, t := range catalog.Types() {
		defaults := render.Defaults(t.Kind)
		if len(defaults) == 0 {
			continue
		}
		key := fragment.AppendShared(nil, fragment.KindDefault, t.Kind, "")
		if err := o.add(o.keySpec(key, 0), defaults); err != nil {
			return err
		}
	}
	for _, kind := range []fragment.Kind{fragment.KindMovie, fragment.KindTV} {
		for _, name := range b.plan.genreNames(kind) {
			key := fragment.AppendShared(nil, fragment.KindGenres, kind, name)
			if err := o.add(o.keySpec(key, 0), render.SharedGenres(kind, b.plan.genres[kind][name])); err != nil {
				return err
			}
		}
	}
	return o.close()
}

func (b *builder) report(m release.Manifest) Report {
	r := Report{
		Release: m.ID, BuiltAt: time.Now().UTC().Truncate(time.Second),
		Records: b.records(), Derived: b.derived.Load(), Removed: int64(b.removed.Len()),
		Fragments: m.Counts.Fragments, Segments: m.Counts.Segments,
		RawBytes: m.Counts.RawBytes, StoredBytes: m.Counts.StoredBytes,
		Level: b.Level, Jobs: b.workers(), SharedIMDbIDs: b.plan.sharedIMDb,
		Previous: b.Previous, Unchanged: b.unchanged, Changed: changedByName(b.changed),
		Tables: map[string]int64{}, Stages: b.stages, Seconds: time.Since(b.start).Seconds(), PeakRSSBytes: peakRSS(),
	}
	for _, n := range m.Counts.Resources {
		r.Resources += n
	}
	for _, f := range m.Tables {
		if name, ok := release.TableName(f.Name); ok {
			r.Tables[name] = f.Size
		}
	}
	return r
}
