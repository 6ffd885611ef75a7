package ingest

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"

	"github.com/reelsplice/reelsplice/ingest/report"
)

// A Report summarises an ingest. The written report has more.
type Report struct {
	Records map[string]int64 `json:"records"` // now in the catalogue, by kind
	Rows    int64            `json:"rows"`    // rows read: the sum of Kept, Blank, Duplicates and Quarantined
	report.Outcome
	// Bad holds one line for each of the first quarantined rows: place, field, reason.
	Bad            []string `json:"bad,omitempty"`
	QuarantineFile string   `json:"quarantine_file,omitempty"`
	// FailedFiles counts files that could not be read completely. Rows before the damage are in the catalogue. Failed has a
	// line for each of the first.
	FailedFiles int64    `json:"failed_files"`
	Failed      []string `json:"failed,omitempty"`
	Conflicts   int64    `json:"conflicts"`                  // fields on which two sources disagreed
	Samples     []string `json:"conflict_samples,omitempty"` // samples for each field
	Merged      int64    `json:"merged_minted,omitempty"`    // records with minted IDs, merged into records with TMDB IDs
	Removed     int64    `json:"removed,omitempty"`          // deleted or merged IDs, now in the catalogue
	// RemovedRecords counts the records that this ingest removed, by kind.
	RemovedRecords map[string]int64 `json:"removed_records,omitempty"`
	// SkippedFiles counts the files that were left out; Skipped has the first, with the reason.
	SkippedFiles int64    `json:"skipped_files,omitempty"`
	Skipped      []string `json:"skipped,omitempty"`
	// Silent has a line for each source of the command line whose files were all left out.
	Silent  []string         `json:"silent_sources,omitempty"`
	Unknown map[string]int64 `json:"unknown_fields,omitempty"` // kept, by path
	Coerced map[string]int64 `json:"coerced_fields,omitempty"` // values read as another type, or in another form
	Dropped map[string]int64 `json:"dropped_fields,omitempty"` // values without a place in the API, by path
	Whole   map[string]int64 `json:"kept_whole,omitempty"`     // joined lists that could not be split, by table and column
	// ValuesLeftOut counts values that fit no field, although their rows were kept; LeftOut has the first of each field.
	// ValuesCoerced is the total of Coerced.
	ValuesLeftOut int64            `json:"values_left_out"`
	LeftOut       []report.LeftOut `json:"left_out_values,omitempty"`
	ValuesCoerced int64            `json:"values_coerced"`
	Columns       []report.FileFit `json:"columns"`           // fate of each file's values, by column
	Stopped       bool             `json:"stopped,omitempty"` // too many bad rows or values, or a poor fit: the catalogue is unchanged
	ReportFile    string           `json:"report_file"`
	Seconds       float64          `json:"seconds"`
	// Details is the complete report, as written.
	Details report.Report `json:"-"`
}

// listedFits is the largest number of files in a Report's Columns.
const listedFits = 100

// writeReport writes the report files and returns a summary.
func (r *run) writeReport(e report.End) (Report, error) {
	for _, f := range r.fits.order {
		e.Fits = append(e.Fits, r.fitOf(f))
	}
	slices.SortStableFunc(e.Fits, func(a, b report.FileFit) int { return cmp.Compare(len(b.Problems), len(a.Problems)) })
	e.Fits, e.Skipped = e.Fits[:min(len(e.Fits), listedFits)], r.list.skipped
	e.Catalog, e.Parameters, e.Elapsed = r.Catalog, r.Parameters, time.Since(r.start)
	d := r.report.Report(e)
	if err := d.Write(r.Catalog); err != nil {
		return Report{}, err
	}
	t := &d.Totals
	out := Report{
		Records: map[string]int64{}, RemovedRecords: map[string]int64{}, Rows: t.Rows, Outcome: t.Outcome,
		FailedFiles: r.progress.failed, Failed: r.progress.failures, Conflicts: d.Conflicts.Count,
		Merged: r.progress.merged,
		Whole:  counts(t.Whole), Unknown: counts(t.Unknown), Coerced: counts(t.Coerced), Dropped: counts(t.Dropped),
		ValuesLeftOut: r.progress.leftOut, LeftOut: t.LeftOut.Top, ValuesCoerced: t.Coerced.MoreCount,
		ReportFile: filepath.Join(r.Catalog, report.HTMLFile), Details: d, Bad: r.quarantine.First(), Columns: e.Fits,
	}
	out.Quarantined = r.quarantine.Count()
	for _, c := range d.Conflicts.Fields.Top {
		out.Samples = append(out.Samples, c.Samples...)
	}
	for _, c := range t.Coerced.Top {
		out.ValuesCoerced += c.Count
	}
	for _, k := range d.Records {
		out.Records[k.Kind] = k.Now
		if k.Removed > 0 {
			out.RemovedRecords[k.Kind] = k.Removed
		}
	}
	out.Silent = r.list.silentSources(r.Sources)
	out.Skipped, out.SkippedFiles = r.list.firstSkipped()
	if out.Quarantined > 0 {
		out.QuarantineFile = filepath.Join(r.Catalog, r.work.badRows)
	}
	return out, nil
}

func counts(top report.Top[report.FieldCount]) map[string]int64 {
	out := map[string]int64{}
	for _, m := range top.Top {
		out[m.Path] = m.Count
	}
	return out
}
