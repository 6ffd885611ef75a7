package roundtrip

import (
	"bufio"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"reelsplice/build"
	"reelsplice/ingest"
	"reelsplice/schemas/release"
	"reelsplice/schemas/sharedtest"
	"reelsplice/serve"
)

// A recording is one recorded answer of which the request is known.
type recording struct {
	file, fidelity, request, date string
}

func recordings(t *testing.T, group string) []recording {
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
		if len(c) > 9 && strings.HasPrefix(c[0], group+"/") && c[3] == "GET" && c[5] == "200" {
			out = append(out, recording{c[0], c[2], c[4], c[9]})
		}
	}
	return out
}

var moviePath = regexp.MustCompile(`^/3/movie/([^/?]+)(?:/([^?]+))?$`)

// serveRecording ingests one recording as a crawler would have kept it, builds, and
// asks for it again.
func serveRecording(t *testing.T, r recording, body []byte) (*value, error) {
	t.Helper()
	u, err := url.Parse(r.request)
	if err != nil {
		return nil, err
	}
	path := moviePath.FindStringSubmatch(u.Path)
	if path == nil {
		return nil, fmt.Errorf("no request of a movie: %s", r.request)
	}
	id, sub := path[1], path[2]
	if _, err := strconv.Atoi(id); err != nil {
		id = "550" // the source does not say which movie it was
		if v, err := parseJSON(body); err == nil && v.members["id"] != nil {
			id = fmt.Sprint(v.members["id"].scalar)
		}
	}
	name := id + ".json"
	if sub != "" {
		name = id + "-" + strings.ReplaceAll(sub, "/", "_") + ".json"
	}
	dir := t.TempDir()
	src := filepath.Join(dir, "movie")
	if err := os.MkdirAll(src, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(src, name), body, 0o600); err != nil {
		return nil, err
	}
	rel, err := buildFrom(t, dir, src, u.Query().Get("language"))
	if err != nil {
		return nil, err
	}
	defer rel.Close()
	target := "/3/movie/" + id
	if strings.HasPrefix(path[1], "tt") {
		target = "/3/movie/" + path[1]
	}
	if sub != "" {
		target += "/" + sub
	}
	if u.RawQuery != "" {
		target += "?" + u.RawQuery
	}
	got, err := serve.Inspect(rel, target)
	if err != nil {
		return nil, err
	}
	if got.Status != 200 {
		return nil, fmt.Errorf("GET %s: status %d: %s", target, got.Status, got.Body)
	}
	return parseJSON(got.Body)
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
	c := build.DefaultConfig()
	c.Catalog, c.Releases = filepath.Join(dir, "catalog"), filepath.Join(dir, "releases")
	b, err := build.Run(t.Context(), c)
	if err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	return release.Open(filepath.Join(c.Releases, b.Release))
}

// TestRecordedMovies is the proof of fidelity: every recorded answer of a movie,
// ingested, built and asked for again, is equal to the recording. What differs is
// listed with its reason in testdata/exceptions.tsv; the list must neither lack a
// difference nor name one that is gone.
func TestRecordedMovies(t *testing.T) {
	exceptions := loadExceptions(t)
	keyOrder := loadOrders(t)
	table := map[string][2]int{}
	for _, r := range recordings(t, "movie") {
		t.Run(strings.TrimPrefix(r.file, "movie/"), func(t *testing.T) {
			body, err := os.ReadFile(sharedtest.Path(t, "recorded", filepath.FromSlash(r.file)))
			if err != nil {
				t.Fatal(err)
			}
			want, err := parseJSON(body)
			if err != nil {
				t.Fatal(err)
			}
			var differences []string
			if got, err := serveRecording(t, r, body); err != nil {
				differences = append(differences, err.Error())
			} else {
				differences = diff("", got, want, nil)
				differences = append(differences, keyOrder.check(operation(r.file), "", got, nil)...)
			}
			row := table[group(r.file)]
			row[1]++
			if len(differences) == 0 {
				row[0]++
			}
			table[group(r.file)] = row
			reason, listed := exceptions[r.file]
			switch {
			case len(differences) > 0 && !listed:
				t.Errorf("%s (%s): differs:\n%s", r.request, r.date, strings.Join(differences, "\n"))
			case len(differences) == 0 && listed:
				t.Errorf("is equal, but testdata/exceptions.tsv says: %s", reason)
			}
		})
	}
	report(t, table)
}

// operation is the name that KEY_ORDER.tsv has for a recording's operation.
func operation(file string) string {
	return strings.TrimSuffix(group(file), "-append")
}

// group is a recording's file name without its variant.
func group(file string) string {
	name, _, _ := strings.Cut(file, "--")
	return name
}

func report(t *testing.T, table map[string][2]int) {
	t.Helper()
	names := make([]string, 0, len(table))
	equal, all := 0, 0
	for n, row := range table {
		names = append(names, n)
		equal, all = equal+row[0], all+row[1]
	}
	sort.Strings(names)
	for _, n := range names {
		t.Logf("%-28s %3d of %3d equal", n, table[n][0], table[n][1])
	}
	t.Logf("%-28s %3d of %3d equal", "all", equal, all)
}

// loadExceptions reads testdata/exceptions.tsv: file, reason.
func loadExceptions(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "exceptions.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		file, reason, ok := strings.Cut(line, "\t")
		if !ok || reason == "" {
			t.Fatalf("testdata/exceptions.tsv: %q: want a file, a tab and a reason", line)
		}
		out[file] = reason
	}
	return out
}
