package e2e

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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
	for i, crawls := range grouped(t, compared) {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			rel, err := buildCrawls(t, crawls)
			for j := range crawls {
				t.Run(crawls[j].file, func(t *testing.T) {
					differences := crawls[j].check(rel, err, keyOrder)
					if len(differences) > 0 && len(crawls) > 1 { // its lists may have values of the other resources
						rel, err := buildCrawls(t, crawls[j:j+1])
						differences = crawls[j].check(rel, err, keyOrder)
					}
					exceptions.judge(t, crawls[j].recording, differences)
				})
			}
		})
	}
}

// grouped returns the crawls of recordings in groups that can share a release: their languages are equal, and their
// resources differ.
func grouped(t *testing.T, compared []recording) (groups [][]crawl) {
	t.Helper()
	var taken []map[string]bool // resources of each group
next:
	for _, r := range compared {
		c, err := crawlOf(r, r.body(t))
		if err != nil {
			t.Fatal(err)
		}
		resources := map[string]bool{}
		for file := range c.files {
			resource, _, _ := strings.Cut(strings.TrimSuffix(file, ".json"), "-")
			resources[resource] = true
		}
		for i, other := range groups {
			overlap := slices.ContainsFunc(slices.Collect(maps.Keys(resources)), func(name string) bool { return taken[i][name] })
			if !overlap && other[0].language == c.language && (len(other[0].files) == 0) == (len(c.files) == 0) {
				groups[i] = append(other, c)
				maps.Copy(taken[i], resources)
				continue next
			}
		}
		groups, taken = append(groups, []crawl{c}), append(taken, resources)
	}
	return groups
}

// buildCrawls ingests the files of crawls of one language and builds a release, nil without any file.
func buildCrawls(t *testing.T, crawls []crawl) (*release.Reader, error) {
	t.Helper()
	if len(crawls[0].files) == 0 {
		return nil, nil
	}
	dir := t.TempDir()
	for i := range crawls {
		writeFiles(t, filepath.Join(dir, "crawl"), crawls[i].files)
	}
	rel, err := buildFrom(t, dir, filepath.Join(dir, "crawl"), crawls[0].language)
	if err == nil {
		t.Cleanup(func() { _ = rel.Close() })
	}
	return rel, err
}

// check requests a recording from a release and returns the differences; err is the build's.
func (c *crawl) check(rel *release.Reader, err error, keyOrder orders) []string {
	if err != nil {
		return []string{err.Error()}
	}
	response, err := edge.Inspect(rel, c.target)
	if err != nil || response.Status != 200 {
		return []string{fmt.Sprintf("GET %s: status %d, %v: %s", c.target, response.Status, err, response.Body)}
	}
	got, err := parseJSON(response.Body)
	if err != nil {
		return []string{fmt.Sprintf("GET %s: %v", c.target, err)}
	}
	want := c.want
	ordered := keyOrder.check(strings.TrimSuffix(c.operation(), "-append"), "", got, nil)
	if c.unordered() {
		got, want = unordered(got), unordered(want)
	}
	return append(diff("", got, want, nil), ordered...)
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
