package build

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/reelsplice/reelsplice/build/task"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/release"
)

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
