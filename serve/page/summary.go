package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/changelog"
)

// A Summary is the JSON of /page/release. Unknown values are null, or "".
type Summary struct {
	Release     string           `json:"release"`
	Parent      string           `json:"parent"` // the release before; "" for the first one
	Built       string           `json:"built"`  // RFC 3339
	Resources   map[string]int64 `json:"resources"`
	Fragments   int64            `json:"fragments"`
	Segments    int64            `json:"segments"`
	RawBytes    int64            `json:"raw_bytes"`    // size of the inflated segments
	StoredBytes int64            `json:"stored_bytes"` // size of the segments
	FilesBytes  int64            `json:"files_bytes"`  // size of all files
	Years       []Year           `json:"years"`        // years with titles; null without tables
	Releases    []Release        `json:"releases"`     // releases of the store, the oldest first
	Changes     *Changes         `json:"changes"`
	// ChangesAt is the time that the lists of changes have for them, RFC 3339; "" without a parent.
	ChangesAt string    `json:"changes_at"`
	Data      *day.Days `json:"data"` // the days on which records were fetched
	// Quarantine and Conflicts are from the ingest's report that the build found.
	Quarantine json.RawMessage `json:"quarantine"`
	Conflicts  json.RawMessage `json:"conflicts"`
}

// A Year counts titles by their first day.
type Year struct {
	Year   int `json:"year"`
	Movies int `json:"movies"`
	Series int `json:"series"`
}

// A Release is one of the store.
type Release struct {
	Release string `json:"release"`
	Built   string `json:"built"`
	Bytes   int64  `json:"bytes"` // size of all files
}

// Changes counts the movies, series and people that differ from the previous release.
type Changes struct {
	Created int64 `json:"created"`
	Changed int64 `json:"changed"` // neither created nor deleted
	Deleted int64 `json:"deleted"`
}

// maxReport is the largest report of a build that is read, in bytes.
const maxReport = 4 << 20

// buildReport is the part of report.json that a Summary has.
type buildReport struct {
	BuiltAt  time.Time        `json:"built_at"`
	Previous string           `json:"previous"`
	Created  map[string]int64 `json:"created"`
	Changed  map[string]int64 `json:"changed"`
	Deleted  map[string]int64 `json:"deleted"`
	Ingest   *struct {
		Quarantine json.RawMessage `json:"quarantine"`
		Conflicts  json.RawMessage `json:"conflicts"`
	} `json:"ingest"`
}

// Describe returns the summary of a release, which the caller holds, in the folder of its store. The error matches
// release.ErrCorrupt, or a file is unreadable.
func Describe(rel *release.Reader, folder store.Folder) (s *Summary, err error) {
	err = release.Guard(func() error { s, err = describe(rel, folder); return err })
	return s, err
}

func describe(rel *release.Reader, folder store.Folder) (*Summary, error) {
	m := rel.Manifest()
	s := &Summary{
		Release: m.ID, Parent: m.Parent, Resources: m.Counts.Resources, Fragments: m.Counts.Fragments,
		Segments: m.Counts.Segments, RawBytes: m.Counts.RawBytes, StoredBytes: m.Counts.StoredBytes,
		FilesBytes: store.Describe(m, time.Time{}).Bytes, Releases: []Release{},
	}
	if days := day.All(day.FromSources(m.Sources)); days.Records > 0 {
		s.Data = &days
	}
	var err error
	if s.Years, err = years(rel); err != nil {
		return nil, err
	}
	if log := changelog.Open(rel); log.Builds() > 0 {
		s.ChangesAt = timeOf(time.Unix(log.Time(log.Builds()-1), 0))
	}
	r, err := readReport(folder, m.ID)
	if err != nil {
		return nil, err
	}
	s.Built, s.Changes = timeOf(r.BuiltAt), r.changes()
	if r.Ingest != nil {
		s.Quarantine, s.Conflicts = r.Ingest.Quarantine, r.Ingest.Conflicts
	}
	infos, err := folder.List(context.Background())
	if err != nil && !errors.Is(err, release.ErrCorrupt) { // a broken pointer is no failure
		return nil, err
	}
	for _, i := range slices.Backward(infos) {
		if i.Err == nil { // it is a release
			s.Releases = append(s.Releases, Release{i.ID, timeOf(i.Built), i.Bytes})
		}
	}
	return s, nil
}

// readReport reads the report of a build. A release without one has an empty report.
func readReport(folder store.Folder, id string) (r buildReport, err error) {
	data, err := file.Read(filepath.Join(folder.Path(id), release.ReportName), maxReport)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, file.ErrTooLarge) {
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("read report of release %s: %w", id, err)
	}
	if !json.Valid(data) || json.Unmarshal(data, &r) != nil {
		r = buildReport{} // no checksum guards it: an invalid one counts as absent
	}
	return r, nil
}

// changes returns nil for a first release, and for reports of older builds.
func (r *buildReport) changes() *Changes {
	if r.Previous == "" || r.Created == nil || r.Deleted == nil {
		return nil
	}
	c := new(Changes)
	for _, k := range []fragment.Kind{fragment.KindMovie, fragment.KindTV, fragment.KindPerson} {
		name := k.String()
		c.Created, c.Deleted = c.Created+r.Created[name], c.Deleted+r.Deleted[name]
		c.Changed += max(0, r.Changed[name]-r.Created[name]-r.Deleted[name])
	}
	return c
}

// timeOf returns a time as a Summary has it.
func timeOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// The years that are counted.
const firstYear, lastYear = 1870, 2100

// years counts titles by year, in a few steps for each year at any size.
func years(rel *release.Reader) ([]Year, error) {
	var out []Year
	for _, k := range []fragment.Kind{fragment.KindMovie, fragment.KindTV} {
		t, err := tables.Open(rel, k)
		if err != nil {
			return nil, err
		}
		if t == nil {
			continue
		}
		if out == nil {
			out = make([]Year, lastYear-firstYear+1)
		}
		days := t.Range(tables.Day)
		for i := range out {
			y := firstYear + i
			n, err := days.Count(int32(day.First(y)), int32(day.First(y+1))-1)
			if err != nil {
				return nil, err
			}
			out[i].Year = y
			if k == fragment.KindMovie {
				out[i].Movies = n
			} else {
				out[i].Series = n
			}
		}
	}
	return slices.DeleteFunc(out, func(y Year) bool { return y.Movies+y.Series == 0 }), nil
}
