// Package journal lets an ingest that was killed go on where it stood. An ingest works in a
// folder of the catalogue, .ingest:
//
//	plan.json     the sources and flags of the ingest; another of the same plan goes on here
//	journal.json  Progress: how far the ingest is
//	runs/         sorted rows
//	quarantine    rows that did not validate
//	out/          complete files of the new catalogue
//
// Progress is written when rows go to disk, about once for every memory full of them, at the end
// of reading, and when all files are complete. An ingest that went on gives the same catalogue,
// byte for byte, as one process. When all is complete, the files of out/ move to their places;
// from there on, any next ingest ends what a killed one has begun.
package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/bytedance/sonic"

	"github.com/reelsplice/reelsplice/ingest/quarantine"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/ingest/source/limit"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/durable"
)

// Dir is the working folder, in the catalogue.
const Dir = ".ingest"

// Files and folders of the working folder.
const (
	PlanFile       = "plan.json"
	ProgressFile   = "journal.json"
	RunsDir        = "runs"
	OutDir         = "out"
	QuarantineFile = "quarantine.ndjson"
)

// ReplayDir is the folder, in the catalogue, of quarantined rows that are ingested once more. Its
// files are sources, so it outlives an ingest of them that was killed.
const ReplayDir = ".replay"

// version counts up when this program cannot continue the work of an earlier one.
const version = 8

// A Plan is the sources and flags of an ingest. Two ingests with equal plans, but for Run and
// Start, come to the same result.
type Plan struct {
	Version  int       `json:"version"`
	Records  string    `json:"records"` // catalog.Fingerprint: runs hold records in binary form
	Run      string    `json:"run"`     // names the quarantine file
	Start    time.Time `json:"start"`
	Flags    Flags     `json:"flags"`
	Mappings []File    `json:"mappings"`
	Order    []File    `json:"order"` // the file of the precedence
	Inputs   []File    `json:"inputs"`
	Catalog  []File    `json:"catalog"` // before the ingest
}

// Flags are the settings that change what an ingest does.
type Flags struct {
	Layout   string       `json:"layout"`
	Kind     string       `json:"kind"`
	Language string       `json:"language"`
	Overlay  bool         `json:"overlay"`
	Update   bool         `json:"update"`
	Replay   bool         `json:"replay"`
	MaxBad   string       `json:"max_bad"`
	Memory   int64        `json:"memory"`
	Limits   limit.Limits `json:"limits"`
}

// A File is a file as it was when an ingest began.
type File struct {
	Path     string    `json:"path"`
	Kind     string    `json:"kind,omitempty"`
	Layout   string    `json:"layout,omitempty"`
	Number   int       `json:"number,omitempty"` // of the source
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
}

// encoding sorts the keys of maps, so that equal plans are equal as JSON.
var encoding = sonic.ConfigStd

// same reports whether work of a plan can go on under another.
func (p Plan) same(o Plan) bool {
	p.Run, p.Start, o.Run, o.Start = "", time.Time{}, "", time.Time{}
	a, err := encoding.Marshal(p)
	b, err2 := encoding.Marshal(o)
	return err == nil && err2 == nil && string(a) == string(b)
}

// A Stage is a part of an ingest that is complete.
type Stage int

// The stages, in order.
const (
	Reading Stage = iota
	Sorted        // all rows are in runs
	Written       // all files of the catalogue are in OutDir
)

// Progress is how far an ingest is: its whole state apart from its files.
type Progress struct {
	Stage Stage    `json:"stage"`
	At    Position `json:"at"`
	Seq   uint64   `json:"seq"`  // of the last sorted row
	Rows  int64    `json:"rows"` // that were read
	Files Files    `json:"files"`
	IDs   IDs      `json:"ids"`
	Moves []Move   `json:"moves"`

	Runs       []string         `json:"runs"` // of the sorter
	Quarantine quarantine.State `json:"quarantine"`
	Report     report.Collector `json:"report"`
}

// A Position is how far the reading is: the input at hand, and how many of its rows were taken.
type Position struct {
	Input int   `json:"input"`
	Rows  int64 `json:"rows"`
}

// Files counts the files that were read.
type Files struct {
	Failed   int64            `json:"failed"`
	Failures []string         `json:"failures"` // of the first
	Kinds    map[string]bool  `json:"kinds"`    // of records, by the files' names
	Skipped  []report.Skipped `json:"skipped"`  // left out while they were read
}

// IDs is the state of the list of ids that rows gave; see package crosswalk.
type IDs struct {
	Bytes     int64 `json:"bytes"`
	Turn      int   `json:"turn"`       // of the reading
	TurnBytes int64 `json:"turn_bytes"` // when the turn began
	Merged    int64 `json:"merged"`     // records with minted ids, into others
}

// A Move gives a complete file its place, or removes the file at that place.
type Move struct {
	From string `json:"from"` // below the working folder; "" to remove the file at To
	To   string `json:"to"`   // below the catalogue
}

// A Journal is the working folder of one ingest. It is for one goroutine, and for one process at
// a time: the caller holds the catalogue's lock.
type Journal struct {
	Plan     Plan
	Progress Progress

	catalog string
	work    string
	saved   time.Time // when Progress was written, or that was found needless
	any     bool      // Progress was written
	resumed bool
}

// Resume returns the journal of an interrupted ingest of the same plan, nil if there is none.
// restart gives such an ingest up.
func Resume(dir string, now Plan, restart bool, log *slog.Logger) (*Journal, error) {
	j := &Journal{catalog: dir, work: filepath.Join(dir, Dir), saved: time.Now()}
	for name, to := range map[string]any{PlanFile: &j.Plan, ProgressFile: &j.Progress} {
		if ok, err := j.read(name, to); !ok {
			return nil, err
		}
	}
	now.complete()
	var err error
	if now.Catalog, err = catalogFiles(dir); err != nil {
		return nil, err
	}
	before := j.Plan
	if j.Progress.Stage == Written {
		before.Catalog = now.Catalog // some of its files have moved
	}
	switch {
	case restart:
		log.Info("an interrupted ingest is given up")
	case !before.same(now):
		log.Warn("an interrupted ingest of other sources or flags, or of another version, is given up")
	default:
		j.any, j.resumed = true, j.Progress.Seq > 0 || j.Progress.Rows > 0
		return j, nil
	}
	return nil, nil
}

// complete fills in what every plan of this program has.
func (p *Plan) complete() { p.Version, p.Records = version, catalog.Fingerprint() }

// read reads a JSON file of the folder. It returns false for one that is not there, torn, or of
// another version.
func (j *Journal) read(name string, to any) (bool, error) {
	b, err := os.ReadFile(filepath.Join(j.work, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read journal of an interrupted ingest: %w", err)
	}
	return encoding.Unmarshal(b, to) == nil, nil
}

// New begins an ingest in an empty folder. It first ends what a killed ingest was at: giving
// complete files their places.
func New(dir string, now Plan, log *slog.Logger) (*Journal, error) {
	j := &Journal{catalog: dir, work: filepath.Join(dir, Dir), saved: time.Now()}
	if err := j.endMoves(log); err != nil {
		return nil, err
	}
	var err error
	if now.Catalog, err = catalogFiles(dir); err != nil {
		return nil, err
	}
	if err := j.clear(now.Flags.Replay); err != nil {
		return nil, err
	}
	now.complete()
	j.Plan = now
	b, err := encoding.MarshalIndent(now, "", " ")
	if err == nil {
		err = durable.WriteFile(j.Path(PlanFile), b, 0o644)
	}
	if err != nil {
		return nil, fmt.Errorf("write plan of the ingest: %w", err)
	}
	return j, nil
}

// Path returns the path of a file of the working folder.
func (j *Journal) Path(name string) string { return filepath.Join(j.work, name) }

// QuarantinePath returns where the rows in quarantine are in the end.
func (j *Journal) QuarantinePath() string { return filepath.Join(j.catalog, j.quarantine()) }

func (j *Journal) quarantine() string {
	return filepath.Join(catalog.QuarantineDir, j.Plan.Run+".ndjson")
}

// KeepQuarantine is the move that gives the quarantine file its place.
func (j *Journal) KeepQuarantine() Move { return Move{QuarantineFile, j.quarantine()} }

// Resumed reports whether rows of an earlier process are part of this ingest.
func (j *Journal) Resumed() bool { return j.resumed }

// saveEvery is how long rows are held in memory alone, at most.
const saveEvery = 30 * time.Second

// Due reports whether Save was called long ago.
func (j *Journal) Due() bool { return time.Since(j.saved) >= saveEvery }

// Delay puts off Due without Save, for a step that cannot be resumed in its middle.
func (j *Journal) Delay() { j.saved = time.Now() }

// Save writes Progress. All that it counts must be on disk.
func (j *Journal) Save() error {
	b, err := encoding.Marshal(&j.Progress)
	if err == nil {
		err = j.write(b)
	}
	if err != nil {
		return fmt.Errorf("write journal of the ingest: %w", err)
	}
	j.saved = time.Now()
	return nil
}

// write replaces the file. Only Written waits for the disk: files move then. Without an earlier
// journal an ingest starts anew and loses time alone.
func (j *Journal) write(b []byte) error {
	path := j.Path(ProgressFile)
	j.any = true
	if j.Progress.Stage == Written {
		return durable.WriteFile(path, b, 0o644)
	}
	next := path + ".next"
	if err := os.WriteFile(next, b, 0o644); err != nil {
		return err
	}
	return durable.Rename(next, path)
}

// CanGoOn reports whether another process can go on where this one ends.
func (j *Journal) CanGoOn() bool {
	if !j.any {
		return false
	}
	_, err := os.Stat(j.Path(ProgressFile))
	return err == nil
}

// Remove removes the working folder.
func (j *Journal) Remove() error { return os.RemoveAll(j.work) }

// Size returns the bytes of all files in the working folder, as far as they can be seen.
func (j *Journal) Size() (n int64) {
	_ = filepath.WalkDir(j.work, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // unseen files are not counted
		}
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n
}
