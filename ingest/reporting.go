package ingest

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"reelsplice/ingest/quarantine"
	"reelsplice/ingest/refs"
	"reelsplice/ingest/report"
	"reelsplice/ingest/source"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
)

// report writes the files of the report and returns its sum.
func (i *ingester) report(ctx context.Context) (Report, error) {
	if err := i.tallies.end(); err != nil {
		return Report{}, err
	}
	i.reportSkipped()
	gone, err := catalog.ReadRemoved(i.Catalog)
	if err != nil {
		return Report{}, err
	}
	found, err := refs.Check(ctx, i.Catalog, refs.Options{Removed: removedIDs(gone)})
	if err != nil {
		return Report{}, err
	}
	details := i.collector.Report(report.End{
		Catalog: i.CatalogName, Parameters: i.parameters(), Elapsed: time.Since(i.start), References: references(found),
	})
	if err := details.WriteJSON(i.Catalog); err != nil {
		return Report{}, err
	}
	if err := details.WriteHTML(i.Catalog); err != nil {
		return Report{}, err
	}
	return i.sum(details), nil
}

// failedReport writes the report of an ingest that was stopped, and returns its sum.
func (i *ingester) failedReport(err error) (Report, error) {
	if err := i.tallies.end(); err != nil {
		return Report{}, err
	}
	i.reportSkipped()
	details := i.collector.Report(report.End{
		Catalog: i.CatalogName, Parameters: i.parameters(), Elapsed: time.Since(i.start), Err: err,
	})
	if err := errors.Join(details.WriteJSON(i.Catalog), details.WriteHTML(i.Catalog)); err != nil {
		return Report{}, err
	}
	r := i.sum(details)
	r.Records, r.Stopped = nil, true // the catalogue is as it was
	return r, nil
}

// reportSkipped reports the files that were left out, when they were listed or read.
func (i *ingester) reportSkipped() {
	i.skipped = append(i.skipped, i.passed...)
	for _, s := range i.skipped {
		i.collector.Skip(s.Name, s.Reason)
	}
}

// removedIDs knows what was removed by the numbers of resources that have one.
func removedIDs(list []catalog.Removed) refs.Removed {
	ids := make(idSet, len(list))
	for _, r := range list {
		switch r.Kind {
		case fragment.KindSeason, fragment.KindEpisode, fragment.KindReview, fragment.KindCredit, fragment.KindEpisodeGroup:
		default:
			ids[idOf{r.Kind, int64(r.Key.ID())}] = true
		}
	}
	return ids
}

type idOf struct {
	kind fragment.Kind
	id   int64
}

type idSet map[idOf]bool

func (s idSet) Contains(kind fragment.Kind, id int64) bool { return s[idOf{kind, id}] }

// parameters says how the ingest was asked for, by the names of flags.
func (i *ingester) parameters() map[string]string {
	p := map[string]string{"layout": i.Layout, "memory": strconv.FormatInt(i.Memory, 10)}
	for _, f := range []struct{ name, value string }{{"kind", i.Kind}, {"language", i.Language}} {
		if f.value != "" {
			p[f.name] = f.value
		}
	}
	for _, f := range []struct {
		name string
		set  bool
	}{{"overlay", i.Overlay}, {"update", i.Update}, {"replay", i.Replay}} {
		if f.set {
			p[f.name] = "true"
		}
	}
	if i.Precedence != nil {
		p["precedence"] = i.Precedence.file[0].Path
	}
	if len(i.Mappings) > 0 {
		p["mapping"] = strings.Join(i.Mappings, ", ")
	}
	if i.MaxBad != AnyNumber {
		p["max-bad"] = i.MaxBad.String()
	}
	return p
}

// references takes over what package refs found.
func references(r refs.Result) []report.Reference {
	out := make([]report.Reference, 0, len(r.Relations))
	for _, rel := range r.Relations {
		ref := report.Reference{
			Kind: rel.Kind, Path: rel.Path, Target: rel.Target, TargetRecords: rel.TargetRecords,
			References: rel.References, Dangling: rel.Dangling, Unset: rel.Unset, Distinct: rel.Distinct,
			Missing: rel.Missing, Removed: rel.Removed, MissingShare: rel.MissingShare,
		}
		for _, s := range rel.Samples {
			ref.Samples = append(ref.Samples, report.ReferenceSample(s))
		}
		out = append(out, ref)
	}
	return out
}

// sum returns the report in short.
func (i *ingester) sum(d report.Report) Report {
	r := Report{
		Records: map[string]int64{}, Rows: d.Totals.Rows, Kept: d.Totals.Kept, Blank: d.Totals.Blank, Quarantined: i.quarantine.Count(), Bad: bad(i.quarantine),
		FailedFiles: i.failed, Failed: i.failures, Duplicates: i.duplicates, Conflicts: i.conflicts, Samples: i.samples,
		Matched: d.Totals.Matched, Minted: d.Totals.Minted, NoID: d.Totals.NoID, Merged: i.merged, Removed: i.removed, Whole: counts(d.Totals.Whole), Unknown: counts(d.Totals.Unknown), Coerced: counts(d.Totals.Coerced), Dropped: counts(d.Totals.Dropped),
		Resumed: i.resumed, ReportFile: filepath.Join(i.Catalog, report.HTMLFile), Details: d,
	}
	for _, k := range d.Records {
		r.Records[k.Kind] = k.Now
	}
	r.SkippedFiles = int64(len(i.skipped))
	for _, s := range i.skipped[:min(len(i.skipped), maxSamples)] {
		r.Skipped = append(r.Skipped, s.String())
	}
	if r.Quarantined > 0 {
		r.QuarantineFile = i.quarantinePath()
	}
	return r
}

func counts(top report.Top[report.Member]) map[string]int64 {
	out := map[string]int64{}
	for _, m := range top.Top {
		out[m.Path] = m.Count
	}
	return out
}

// bad lists the first of the rows in quarantine.
func bad(w *quarantine.Writer) []string {
	var out []string
	for _, e := range w.First(maxSamples) {
		out = append(out, badLine(e))
	}
	return out
}

// badLine is a quarantined row for people: place, field, reason.
func badLine(e quarantine.Entry) string {
	place := source.Place{File: e.File, Row: e.Row, Line: e.Line}.String()
	if e.Field != "" {
		return place + ": " + e.Field + ": " + e.Reason
	}
	return place + ": " + e.Reason
}
