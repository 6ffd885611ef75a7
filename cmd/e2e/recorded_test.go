package e2e

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/edge"
)

// A recording is one recorded response with its request.
type recording struct {
	file, fidelity, request, status, date, note string
}

// recordings returns the recordings of status 200 whose files begin with one of the prefixes.
func recordings(t *testing.T, prefixes ...string) []recording {
	t.Helper()
	return slices.DeleteFunc(allRecordings(t), func(r recording) bool {
		return r.status != "200" || !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(r.file, p) })
	})
}

// allRecordings returns every recorded response of a GET.
func allRecordings(t *testing.T) []recording {
	t.Helper()
	f, err := os.Open(sharedtest.Path(t, "recorded", "SOURCES.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []recording
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		c := strings.Split(s.Text(), "\t")
		if len(c) < 10 || c[3] != "GET" {
			continue
		}
		r := recording{file: c[0], fidelity: c[2], request: c[4], status: c[5], date: c[9]}
		if len(c) > 10 {
			r.note = c[10]
		}
		out = append(out, r)
	}
	return out
}

// body returns the recorded body.
func (r recording) body(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile(sharedtest.Path(t, "recorded", filepath.FromSlash(r.file)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// operation is a recording's file name without its variant: "tv/details-append".
func (r recording) operation() string {
	name, _, _ := strings.Cut(r.file, "--")
	return name
}

// group is the folder of a recording.
func (r recording) group() string {
	g, _, _ := strings.Cut(r.file, "/")
	return g
}

// served are the recordings of one resource, of find, and of lists that need no dump. Lists over the whole catalogue
// are in recorded_lists_test.go.
var served = []string{
	"movie/", "tv/", "tv-season/", "tv-episode/", "tv-episode-group/", "person/", "collection/", "company/",
	"network/", "keyword/", "review/", "credit/", "find/",
	"movie-list/latest--", "tv-list/latest--", "person-list/latest--",
	"configuration/", "genre/list--", "genre/movie_list--", "genre/tv_list--", "certification/", "watch-providers/",
}

// inNoOrder are operations whose arrays have no order in the API.
var inNoOrder = map[string]bool{
	"configuration/jobs": true, "configuration/job_list_legacy": true, "configuration/languages": true,
	"certification/movie": true, "certification/tv": true, "watch-providers/regions": true,
}

// unordered reports whether the order of a recording's arrays is irrelevant.
func (r recording) unordered() bool {
	return inNoOrder[r.operation()] || strings.HasSuffix(r.note, "sorted")
}

// TestRecorded proves fidelity: every recorded response, ingested like a crawler's file, built and requested again,
// equals the recording, with members in the API's order. testdata/exceptions.tsv lists differences with their
// reasons; it must be complete and without obsolete entries.
func TestRecorded(t *testing.T) {
	skipLarge(t)
	compared := recordings(t, served...)
	exceptions := loadExceptions(t, "exceptions.tsv", compared)
	keyOrder := loadOrders(t)
	for _, r := range compared {
		t.Run(r.file, func(t *testing.T) {
			t.Parallel() // they wait for the disk half of their time
			exceptions.judge(t, r, checkRecording(t, r, keyOrder))
		})
	}
}

// checkRecording serves a recording again and returns the differences.
func checkRecording(t *testing.T, r recording, keyOrder orders) (differences []string) {
	t.Helper()
	body := r.body(t)
	want := jsonOf(t, string(body))
	response, err := serveRecording(t, r, body, want)
	if err != nil {
		return []string{err.Error()}
	}
	got := jsonOf(t, string(response))
	ordered := keyOrder.check(strings.TrimSuffix(r.operation(), "-append"), "", got, nil)
	if r.unordered() {
		got, want = unordered(got), unordered(want)
	}
	return append(diff("", got, want, nil), ordered...)
}

// serveRecording ingests one recording like a crawler's file, builds, and requests it again.
func serveRecording(t *testing.T, r recording, body []byte, parsed *value) ([]byte, error) {
	t.Helper()
	c, err := crawlOf(r, body, parsed)
	if err != nil {
		return nil, err
	}
	var rel *release.Reader
	if len(c.files) > 0 {
		dir := t.TempDir()
		writeFiles(t, filepath.Join(dir, "crawl"), c.files)
		if rel, err = buildFrom(t, dir, filepath.Join(dir, "crawl"), c.language); err != nil {
			return nil, err
		}
		defer rel.Close()
	}
	got, err := edge.Inspect(rel, c.target)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", c.target, err)
	}
	if got.Status != 200 {
		return nil, fmt.Errorf("GET %s: status %d: %s", c.target, got.Status, got.Body)
	}
	return got.Body, nil
}

// buildFrom ingests src in a language and opens the release that comes of it.
func buildFrom(t *testing.T, dir, src, language string) (*release.Reader, error) {
	t.Helper()
	report, err := ingest.Run(t.Context(), ingest.Config{
		Catalog: filepath.Join(dir, "catalog"), Sources: []string{src}, Language: language,
	})
	if err != nil {
		return nil, fmt.Errorf("ingest: %w", err)
	}
	if report.Quarantined > 0 {
		return nil, fmt.Errorf("ingest: %d rows in quarantine: %s", report.Quarantined, report.Bad)
	}
	rel, err := buildRelease(t, dir)
	if err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	return rel, nil
}

// An exception is an intended difference.
type exception struct {
	differences *regexp.Regexp // the lines of differences that it covers
	reason      string
	used        bool
}

// exceptions are the exceptions of a file of testdata, by the file of the recording.
type exceptions map[string][]exception

// loadExceptions reads a file of testdata: recording, pattern of differences, reason.
func loadExceptions(t *testing.T, name string, compared []recording) exceptions {
	t.Helper()
	out := exceptions{}
	for _, c := range readTSV(t, name, 3) {
		re, err := regexp.Compile(c[1])
		if err != nil {
			t.Fatalf("testdata/%s: %s: %v", name, c[0], err)
		}
		out[c[0]] = append(out[c[0]], exception{differences: re, reason: c[2]})
		if !slices.ContainsFunc(compared, func(r recording) bool { return r.file == c[0] }) {
			t.Errorf("testdata/%s: %s is no recording that is compared", name, c[0])
		}
	}
	return out
}

// judge reports differences of a recording without an exception, and exceptions without a difference.
func (x exceptions) judge(t *testing.T, r recording, differences []string) {
	t.Helper()
	excepted := x[r.file]
	left := slices.DeleteFunc(differences, func(d string) bool {
		i := slices.IndexFunc(excepted, func(e exception) bool { return e.differences.MatchString(d) })
		if i >= 0 {
			excepted[i].used = true
		}
		return i >= 0
	})
	if len(left) > 0 {
		t.Errorf("GET %s (%s): %d differences:\n%s", r.request, r.date, len(left), strings.Join(left[:min(len(left), 8)], "\n"))
	}
	for _, e := range excepted {
		if !e.used {
			t.Errorf("no difference is like %q, but the exception is: %s", e.differences, e.reason)
		}
	}
}

// readTSV reads a file of testdata: rows with a fixed number of non-empty fields, and comments that begin with #.
func readTSV(t *testing.T, name string, fields int) [][]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c := strings.Split(line, "\t")
		if len(c) != fields || slices.Contains(c, "") {
			t.Fatalf("testdata/%s: %q: want %d fields with tabs between them", name, line, fields)
		}
		out = append(out, c)
	}
	return out
}
