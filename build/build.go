// Package build turns a catalogue into a release. The plan divides the work into tasks, in stages with this order:
//
//	survey     data that titles share: lists of genres, claimed ids, features of neighbours
//	prepare    the common part of the release, owners of ids, tables of neighbours
//	titles     movies, and series with their seasons and episodes
//	resources  people, companies and other resources that titles contribute to
//	find       the resources that external ids find
//	index      the indexes of the release
//	ranges     the columns of tables, by ranges of ranks
//	tables     the tables that queries read
//	accounts   the tables of lists and accounts
//	changes    the table of changes
//	seal       the manifest
//
// Package plan divides the work, package task does it; the goroutines are here. A task is a function of the plan and
// its index, so tasks of a stage may run in any order, anywhere, and again. The release's bytes depend only on the
// catalogue, the previous release and the parameters, not on jobs or memory.
package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/build/render"
	"github.com/reelsplice/reelsplice/build/segment"
	"github.com/reelsplice/reelsplice/build/task"
	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
)

// Config has the inputs of a build and its limits.
type Config struct {
	Catalog  string // folder of the catalogue
	Releases string // folder of the releases, created if missing
	Level    int    // deflate level, 1 to 9; 6 by default
	// Fallback lists the languages whose texts replace missing ones of other languages, such as "en-US,de-DE";
	// "" for none.
	Fallback string
	Jobs     int   // tasks that run in parallel; the number of CPUs by default
	Memory   int64 // memory limit in bytes; 2 GiB by default
	// Previous is the id of the previous release, the baseline of trends.
	Previous string
	// Full rebuilds everything. Otherwise unchanged resources and segments of Previous are reused.
	Full bool
	// Version is the program version for the manifest.
	Version string
	// Progress receives the number of processed records and of all records. It may be nil, and is called from several
	// goroutines.
	Progress func(done, total int64)
	Log      *slog.Logger
}

// DefaultConfig returns the defaults; Catalog and Releases have none.
func DefaultConfig() Config {
	return Config{Level: segment.DefaultLevel, Jobs: runtime.GOMAXPROCS(0), Memory: 2 << 30}
}

// Validate reports all errors in c.
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
	if _, err := render.ParseFallback(c.Fallback); err != nil {
		errs = append(errs, err)
	}
	if c.Jobs < 1 {
		errs = append(errs, fmt.Errorf("jobs %d: want 1 or more", c.Jobs))
	}
	if c.Memory < MinMemory {
		errs = append(errs, fmt.Errorf("memory %d: want at least 64MiB", c.Memory))
	}
	return errors.Join(errs...)
}

// Run builds a release without publishing it, and returns its report.
func Run(ctx context.Context, c Config) (Report, error) {
	if err := c.Validate(); err != nil {
		return Report{}, err
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	// Near the limit, the garbage collector runs more often. The other tenth is for memory outside the Go heap.
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(c.Memory / 10 * 9))
	start := time.Now()
	r, err := runOnce(ctx, c, start)
	if c.Previous != "" && !c.Full && errors.Is(err, release.ErrCorrupt) {
		c.Log.Warn("previous release is damaged: rebuilding the whole release", "previous", c.Previous, "because", err)
		c.Full = true
		r, err = runOnce(ctx, c, start)
	}
	if c.Previous != "" && errors.Is(err, release.ErrCorrupt) {
		c.Log.Warn("previous release is damaged: building without it and its trends", "previous", c.Previous, "because", err)
		c.Previous = ""
		r, err = runOnce(ctx, c, start)
	}
	return r, err
}

// runOnce runs all tasks, and gives the release its name.
func runOnce(ctx context.Context, c Config, start time.Time) (r Report, err error) {
	in, err := work.OpenCatalog(c.Catalog)
	if err != nil {
		return Report{}, err
	}
	p, err := work.MakePlan(in, work.Params{Catalog: c.Catalog, Releases: c.Releases, Previous: c.Previous, Full: c.Full, Level: c.Level, Fallback: c.Fallback, Version: c.Version})
	in.Close()
	if err != nil {
		return Report{}, err
	}
	w, err := store.Create(c.Releases)
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, w.Abort()) }()
	// The next builder removes files that a killed one left under such names.
	folder, err := os.MkdirTemp(c.Releases, store.BuildingPrefix+"*")
	if err != nil {
		return Report{}, fmt.Errorf("make folder for temporary files: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	workers := Workers(c.Jobs, c.Memory)
	b, err := task.Open(p, work.Local(folder, w.Dir()), c.Catalog, store.Folder{Dir: c.Releases}, c.Memory/int64(workers))
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	var total int64
	for _, n := range p.Records {
		total += n
	}
	if c.Progress != nil {
		var done atomic.Int64
		b.Advance = func() { c.Progress(done.Add(1), total) }
	}
	stages := map[string]float64{"plan": time.Since(start).Seconds()}
	for _, s := range task.Stages() {
		start := time.Now()
		if _, err := RunStage(ctx, b, s, workers, nil); err != nil {
			return Report{}, err
		}
		stages[s.Name] = time.Since(start).Seconds()
	}
	if c.Progress != nil {
		c.Progress(total, total) // removed records were skipped
	}
	r, err = NewReport(b, c.Catalog, c.Log)
	if err != nil {
		return Report{}, err
	}
	r.Jobs, r.Stages = workers, stages
	var m release.Manifest
	if r.Unchanged {
		m, err = release.ReadManifest(store.Folder{Dir: c.Releases}.Path(c.Previous))
	} else {
		m, err = w.Install()
	}
	if err != nil {
		return Report{}, err
	}
	r.Describe(m)
	r.Seconds, r.PeakRSSBytes = time.Since(start).Seconds(), PeakRSS()
	if r.Unchanged {
		return r, nil // keep the report of the build that made it
	}
	return r, r.Write(filepath.Join(c.Releases, m.ID))
}

// MinMemory is the minimum memory of a task, in bytes.
var MinMemory int64 = 64 << 20 // tests lower it

// Workers returns how many tasks run in parallel.
func Workers(jobs int, memory int64) int { return max(1, min(jobs, int(memory/MinMemory))) }

// RunStage runs tasks of a stage in parallel, or all if indexes is nil, and returns the number of finished ones.
// The first error ends the run.
func RunStage(ctx context.Context, b *task.Build, s task.Stage, workers int, indexes []int) (done int, err error) {
	var stage *task.Opened
	if err := release.Guard(func() (err error) { stage, err = s.Open(b); return err }); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, stage.Close()) }()
	if indexes == nil {
		for i := range stage.Count {
			indexes = append(indexes, i)
		}
	}
	var finished atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for _, i := range indexes {
		g.Go(func() error {
			err := ctx.Err()
			if err == nil {
				err = stage.Run(ctx, i)
			}
			if err == nil {
				finished.Add(1)
			}
			return err
		})
	}
	err = g.Wait()
	return int(finished.Load()), err
}

// A Report describes a build. It is stored in the release as report.json. Only its times and its memory differ
// between builds of one catalogue.
type Report struct {
	task.Outcome
	BuiltAt time.Time        `json:"built_at"`
	Records map[string]int64 `json:"records"` // by kind
	// Fetched has the days on which records were fetched; nil if unknown. FetchedByKind has the kinds with known
	// days.
	Fetched       *day.Days           `json:"fetched,omitempty"`
	FetchedByKind map[string]day.Days `json:"fetched_by_kind,omitempty"`
	Removed       int64               `json:"removed"` // deleted or merged resources
	Resources     int64               `json:"resources"`
	Fragments     int64               `json:"fragments"`
	Segments      int64               `json:"segments"`
	RawBytes      int64               `json:"raw_bytes"`
	StoredBytes   int64               `json:"stored_bytes"`
	Level         int                 `json:"level"`
	Fallback      string              `json:"fallback,omitempty"` // languages whose texts replace missing ones of others
	Jobs          int                 `json:"jobs"`
	Tables        map[string]int64    `json:"tables"`           // size of each kind's table in bytes
	Previous      string              `json:"previous"`         // previous release; "" without one
	Ingest        *ingestReport       `json:"ingest,omitempty"` // report of the last ingest into the catalogue, or nil
	Stages        map[string]float64  `json:"stages"`           // seconds of each
	Seconds       float64             `json:"seconds"`
	PeakRSSBytes  int64               `json:"peak_rss_bytes"`
	Tasks         *Tasks              `json:"tasks,omitempty"` // nil for a build in one process
}

// Tasks is the total cost of the processes of a build.
type Tasks struct {
	Processes  int     `json:"processes"`
	CPUSeconds float64 `json:"cpu_seconds"`
}

// An ingestReport is the part of an ingest's report that concerns a release: rows that are not in it, and fields on which
// sources disagreed. Both lists are copied from the ingest report, which limits their length.
type ingestReport struct {
	Quarantine quarantine      `json:"quarantine"`
	Conflicts  json.RawMessage `json:"conflicts"`
}

// A quarantine counts the rejected rows.
type quarantine struct {
	Rows    int64           `json:"rows"`
	Reasons json.RawMessage `json:"reasons"`
}

// readIngest reads the ingest report in the folder of a catalogue; nil if it has none.
func readIngest(dir string) (*ingestReport, error) {
	path := filepath.Join(dir, catalog.ReportName)
	data, err := file.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var v struct {
		Totals struct {
			Quarantined int64
			Reasons     json.RawMessage
		}
		Conflicts json.RawMessage
	}
	var line bytes.Buffer // reports are printed on one line
	if err = json.Compact(&line, data); err == nil {
		err = json.Unmarshal(line.Bytes(), &v)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return &ingestReport{quarantine{v.Totals.Quarantined, v.Totals.Reasons}, v.Conflicts}, nil
}

// NewReport returns the report of a finished build from the plan, the tasks and the ingest into the catalogue in dir.
// It logs their warnings.
func NewReport(b *task.Build, dir string, log *slog.Logger) (Report, error) {
	p := b.Plan
	o, err := b.Outcome()
	if err != nil {
		return Report{}, err
	}
	if o.Warning != "" {
		log.Warn(o.Warning)
	}
	r := Report{
		Outcome: o, BuiltAt: time.Now().UTC().Truncate(time.Millisecond), Records: p.Records, Removed: int64(p.Removed),
		Level: p.Level, Fallback: p.Fallback, Previous: p.Previous, FetchedByKind: p.Fetched,
	}
	if all := day.All(p.Fetched); all.Records > 0 {
		r.Fetched = &all
	}
	if r.Ingest, err = readIngest(dir); err != nil {
		log.Warn("the release's report lacks the ingest report", "because", err)
	}
	return r, nil
}

// Describe adds the counts of the release.
func (r *Report) Describe(m release.Manifest) {
	r.Release = m.ID
	r.Fragments, r.Segments = m.Counts.Fragments, m.Counts.Segments
	r.RawBytes, r.StoredBytes = m.Counts.RawBytes, m.Counts.StoredBytes
	for _, n := range m.Counts.Resources {
		r.Resources += n
	}
	r.Tables = map[string]int64{}
	for _, f := range m.Tables {
		if name, ok := release.TableName(f.Name); ok {
			r.Tables[name] = f.Size
		}
	}
}

// Write puts the report beside the files of a release. If the release existed before, its report is replaced, so that
// the newest report belongs to the last build.
func (r *Report) Write(dir string) error {
	path := filepath.Join(dir, release.ReportName)
	b, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = file.WriteFile(path, append(b, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
