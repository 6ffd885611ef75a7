package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"

	"reelsplice/ingest/quarantine"
	"reelsplice/ingest/report"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/extsort"
)

// An ingest works in a folder of the catalogue, workDir:
//
//	plan.json     what is ingested; another ingest of the same goes on here
//	journal.json  how far it is
//	runs/         sorted rows
//	quarantine    rows that did not validate
//	tallies       counts of the files that are read
//	out/          complete files of the new catalogue
//
// The journal is written when rows go to disk, about once for every Config.Memory bytes
// of them, at the end of reading, and when all is complete. What comes of an ingest that
// went on is the same, byte for byte, as what one process makes. When all is complete,
// the files of out/ move to their places; from there on any next ingest ends what a
// killed one has begun.

// workDir is the folder of an ingest's temporary files, in the catalogue.
const workDir = ".ingest"

const (
	planFile       = "plan.json"
	journalFile    = "journal.json"
	runsDir        = "runs"
	outDir         = "out"
	quarantineFile = "quarantine.ndjson"
	talliesFile    = "tallies.ndjson"
)

// planVersion counts up when work of an earlier program cannot be continued.
const planVersion = 5

// A plan is what an ingest is about. Two ingests with equal plans, but for Run and
// Start, come to the same result.
type plan struct {
	Version  int           `json:"version"`
	Format   string        `json:"format"` // catalog.FormatVersion
	Run      string        `json:"run"`    // names the quarantine file
	Start    time.Time     `json:"start"`
	Layout   string        `json:"layout"`
	Kind     string        `json:"kind"`
	Language string        `json:"language"`
	Overlay  bool          `json:"overlay"`
	Update   bool          `json:"update"`
	Replay   bool          `json:"replay"`
	MaxBad   string        `json:"max_bad"`
	Memory   int64         `json:"memory"`
	Limits   string        `json:"limits"`
	Mappings []plannedFile `json:"mappings"`
	Order    []plannedFile `json:"order"` // the file of the precedence
	Inputs   []plannedFile `json:"inputs"`
	Catalog  []plannedFile `json:"catalog"` // as it was
}

// A plannedFile is a file as it was when an ingest began.
type plannedFile struct {
	Path     string    `json:"path"`
	Kind     string    `json:"kind,omitempty"`
	Layout   string    `json:"layout,omitempty"`
	Number   int       `json:"number,omitempty"` // of the source
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
}

// same reports whether work of a plan can go on under another.
func (p *plan) same(o *plan) bool {
	a, b := *p, *o
	a.Run, a.Start, b.Run, b.Start = "", time.Time{}, "", time.Time{}
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(x) == string(y)
}

// A stage is a part of an ingest that is complete.
type stage int

const (
	stageReading stage = iota
	stageSorted        // all rows are in runs
	stageWritten       // all files of the catalogue are in out
)

// A position is how far the reading is: rows of the input that were taken.
type position struct {
	Input int   `json:"input"`
	Rows  int64 `json:"rows"`
}

// progress is what an ingest knows of itself, apart from its files.
type progress struct {
	stage    stage
	at       position
	seq      uint64 // of the last record in the sorter
	rows     int64
	failed   int64           // files
	failures []string        // of the first
	kinds    map[string]bool // of the files that were read
	passed   []skippedFile   // that were left out when they were read
	moves    []move          // of complete files

	// What is known once the files are written.
	duplicates int64
	conflicts  int64
	samples    []string // of the first conflicts
	removed    int64    // ids that are

	merged    int64 // records with minted ids, into others
	idBytes   int64 // of notedFile
	turn      int   // of the reading
	turnBytes int64 // of notedFile, when the turn began
}

// A move gives a complete file its place, or takes away one that there is to be no more.
type move struct {
	From string `json:"from"` // below workDir; "" to remove what is at the place
	To   string `json:"to"`   // below the catalogue
}

// A checkpoint is progress as the journal has it.
type checkpoint struct {
	Stage      stage            `json:"stage"`
	At         position         `json:"at"`
	Seq        uint64           `json:"seq"`
	Rows       int64            `json:"rows"`
	Failed     int64            `json:"failed"`
	Failures   []string         `json:"failures"`
	Kinds      map[string]bool  `json:"kinds"`
	Passed     []skippedFile    `json:"passed"`
	Moves      []move           `json:"moves"`
	Duplicates int64            `json:"duplicates"`
	Conflicts  int64            `json:"conflicts"`
	Samples    []string         `json:"samples"`
	Removed    int64            `json:"removed"`
	Merged     int64            `json:"merged"`
	IDBytes    int64            `json:"id_bytes"`
	Turn       int              `json:"turn"`
	TurnBytes  int64            `json:"turn_bytes"`
	Runs       []string         `json:"runs"`
	Quarantine quarantine.State `json:"quarantine"`
	Report     report.State     `json:"report"`
	Tallies    tallyState       `json:"tallies"`
}

// A journal is the file that tells how far an ingest is.
type journal struct {
	path string
	any  bool // something was written
}

// prepare finds out where to begin: at the start, or where an ingest of the same sources
// was killed.
func (i *ingester) prepare() error {
	i.work = filepath.Join(i.Catalog, workDir)
	now, err := i.plan()
	if err != nil {
		return err
	}
	c, before, err := i.resumable(now)
	if err != nil {
		return err
	}
	if c != nil {
		if err = i.restore(c, before); err == nil {
			i.Log.Info("going on with an ingest that was interrupted", "rows", i.rows)
			return nil
		}
		i.Log.Warn("an interrupted ingest cannot go on: it starts anew", "reason", err)
	}
	if err := i.endMoves(); err != nil {
		return err
	}
	if now.Catalog, err = i.stored(); err != nil {
		return err
	}
	if err := i.clear(); err != nil {
		return err
	}
	b, err := json.MarshalIndent(now, "", " ")
	if err == nil {
		err = renameio.WriteFile(filepath.Join(i.work, planFile), b, 0o644)
	}
	if err != nil {
		return fmt.Errorf("write plan of the ingest: %w", err)
	}
	return i.restore(&checkpoint{}, now)
}

// resumable returns how far an earlier ingest of the same plan came; nil when there is
// none.
func (i *ingester) resumable(now *plan) (*checkpoint, *plan, error) {
	var before plan
	var c checkpoint
	for _, f := range []struct {
		name string
		to   any
	}{{planFile, &before}, {journalFile, &c}} {
		b, err := os.ReadFile(filepath.Join(i.work, f.name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read journal of an interrupted ingest: %w", err)
		}
		if json.Unmarshal(b, f.to) != nil {
			return nil, nil, nil //nolint:nilerr // of another version, or torn: start anew
		}
	}
	switch {
	case i.Restart:
		i.Log.Info("an interrupted ingest is given up")
	case c.Stage == stageWritten:
		before.Catalog = now.Catalog // some of its files have moved
		fallthrough
	default:
		if before.same(now) {
			return &c, &before, nil
		}

		i.Log.Warn("an interrupted ingest of other sources or flags is given up")
	}
	return nil, nil, nil
}

// restore sets i to a checkpoint.
func (i *ingester) restore(c *checkpoint, p *plan) error {
	var err error
	i.start, i.runName = p.Start, p.Run
	i.progress = progress{
		stage: c.Stage, at: c.At, seq: c.Seq, rows: c.Rows, failed: c.Failed, failures: c.Failures, kinds: c.Kinds, passed: c.Passed,
		moves: c.Moves, duplicates: c.Duplicates, conflicts: c.Conflicts, samples: c.Samples, removed: c.Removed,
		merged: c.Merged, idBytes: c.IDBytes, turn: c.Turn, turnBytes: c.TurnBytes,
	}
	if i.kinds == nil {
		i.kinds = map[string]bool{}
	}
	i.resumed = c.Seq > 0 || c.Rows > 0
	for _, dir := range []string{runsDir, outDir} {
		if err := os.MkdirAll(filepath.Join(i.work, dir), 0o700); err != nil {
			return fmt.Errorf("make folder for temporary files: %w", err)
		}
	}
	if i.sorter, err = extsort.Resume(extsort.Options{Dir: filepath.Join(i.work, runsDir), Memory: i.Memory}, c.Runs); err != nil {
		return err
	}
	bad := filepath.Join(i.work, quarantineFile)
	if _, err := os.Stat(bad); err != nil && c.Stage == stageWritten {
		bad = i.quarantinePath() // it has its place already
	}
	if i.quarantine, err = quarantine.Resume(bad, c.Quarantine); err != nil {
		return err
	}
	i.collector = report.NewCollector(i.start)
	i.collector.Restore(c.Report)
	i.tallies = newTallies(i.collector, filepath.Join(i.work, talliesFile))
	if err := i.tallies.restore(c.Tallies); err != nil {
		return err
	}
	i.done = 0
	for n := range i.at.Input {
		i.done += i.inputs[n].Bytes
	}
	i.journal = &journal{path: filepath.Join(i.work, journalFile), any: i.resumed}
	i.saved = time.Now()
	return nil
}

// checkpoint writes how far the ingest is. What is in memory must be on disk.
func (i *ingester) checkpoint() error {
	q, err := i.quarantine.State()
	if err == nil {
		err = i.flushIDs()
	}
	var counted tallyState
	if err == nil {
		counted, err = i.tallies.state()
	}
	if err != nil {
		return err
	}
	c := checkpoint{
		Stage: i.stage, At: i.at, Seq: i.seq, Rows: i.rows, Failed: i.failed, Failures: i.failures, Kinds: i.kinds, Passed: i.passed,
		Moves: i.moves, Duplicates: i.duplicates, Conflicts: i.conflicts, Samples: i.samples, Removed: i.removed, Merged: i.merged, IDBytes: i.idBytes, Turn: i.turn, TurnBytes: i.turnBytes, Runs: i.sorter.Runs(), Quarantine: q,
		Report: i.collector.State(), Tallies: counted,
	}
	b, err := json.Marshal(&c)
	if err == nil {
		err = i.journal.write(b, i.stage == stageWritten)
	}
	if err != nil {
		return fmt.Errorf("write journal of the ingest: %w", err)
	}
	i.saved = time.Now()
	return nil
}

// write replaces the journal. Only where it must outlive the machine is that waited for:
// without it an ingest starts anew, and loses time alone.
func (j *journal) write(b []byte, durable bool) error {
	j.any = true
	if durable {
		return renameio.WriteFile(j.path, b, 0o644)
	}
	next := j.path + ".next"
	if err := os.WriteFile(next, b, 0o644); err != nil {
		return err
	}
	return os.Rename(next, j.path)
}

// makeRoom sees to it that the records of a batch fit into memory: where they do not, or
// when those that are there have been there for long, what is there goes to disk.
func (i *ingester) makeRoom(b *batch) error {
	held, used := i.sorter.Held()
	const entryBytes = 3 * 48 // while a list of them grows
	need := used + int64(len(b.payloads)) + int64(len(b.records))*entryBytes + int64(held)*entryBytes/3
	if held == 0 || need <= i.Memory && time.Since(i.saved) < checkpointEvery {
		return nil
	}
	if err := i.sorter.Flush(); err != nil {
		return err
	}
	if b.group { // all of the group is one step
		i.saved = time.Now() // or every batch from now on would make a run of its own
		return nil
	}
	return i.checkpoint()
}

// clear makes an empty folder for temporary files, and removes those of killed ingests
// that others made.
func (i *ingester) clear() error {
	if err := removeLeftovers(i.Catalog); err != nil {
		return err
	}
	if !i.Replay {
		if err := os.RemoveAll(filepath.Join(i.Catalog, replayDir)); err != nil {
			return fmt.Errorf("remove what an earlier ingest left: %w", err)
		}
	}
	if err := os.MkdirAll(i.work, 0o700); err != nil {
		return fmt.Errorf("make folder for temporary files: %w", err)
	}
	return nil
}

// removeLeftovers removes the temporary files of an ingest that was killed. The
// caller holds the lock, so that none of them is in use.
func removeLeftovers(dir string) error {
	var errs []error
	patterns := []string{workDir, workDir + "-*", filepath.Join(catalog.QuarantineDir, ".*.tmp")}
	for _, t := range catalog.Types() {
		// A dot is before the names of files being written by package catalog.
		patterns = append(patterns, "."+t.File()+"*", "."+t.Name()+".overlay.new.parquet", "..*.overlay.new.parquet*")
	}
	for _, pattern := range patterns {
		names, err := fs.Glob(os.DirFS(dir), filepath.ToSlash(pattern))
		errs = append(errs, err)
		for _, name := range names {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, filepath.FromSlash(name))))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove what an earlier ingest left: %w", err)
	}
	return nil
}

// abandon ends an ingest that failed. What it has done stays if the next one can go on
// there.
func (i *ingester) abandon(err error) error {
	if i.sorter != nil {
		_ = i.sorter.Close()
	}
	if i.resumes() && !errors.Is(err, extsort.ErrDamaged) {
		return nil
	}
	if i.quarantine != nil {
		_ = i.quarantine.Close()
	}
	return os.RemoveAll(i.work)
}

// stopped ends an ingest with too many bad rows: these are kept, and a report is written.
func (i *ingester) stopped(bad *TooManyBadError) (Report, error) {
	_ = i.sorter.Close()
	if err := i.keepQuarantine(); err != nil {
		return Report{}, err
	}
	bad.File = i.quarantinePath()
	r, err := i.failedReport(bad)
	return r, errors.Join(err, os.RemoveAll(i.work))
}

// move gives complete files their places, in order. Those that have them are passed over.
func (i *ingester) move(moves []move) error {
	dirs := map[string]bool{}
	for _, m := range moves {
		to := filepath.Join(i.Catalog, m.To)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		err := m.make(i.work, to)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("put %s in its place: %w", m.To, err)
		}
		dirs[filepath.Dir(to)] = true
	}
	for dir := range dirs {
		if err := syncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// make makes the move of a file below work to the path to.
func (m move) make(work, to string) error {
	if m.From == "" {
		return os.Remove(to)
	}
	return os.Rename(filepath.Join(work, m.From), to)
}

// endMoves ends what an ingest was killed at: giving complete files their places.
func (i *ingester) endMoves() error {
	var c checkpoint
	b, err := os.ReadFile(filepath.Join(i.work, journalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read journal of an interrupted ingest: %w", err)
	}
	if json.Unmarshal(b, &c) != nil || c.Stage != stageWritten {
		return nil //nolint:nilerr // nothing moved yet: the ingest starts anew
	}
	i.Log.Info("completing the catalogue of an interrupted ingest")
	if err := i.move(c.Moves); err != nil {
		return err
	}
	return os.RemoveAll(i.work)
}

// syncDir makes renames in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
