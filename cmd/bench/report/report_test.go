package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reelsplice/cmd/bench/host"
	"reelsplice/cmd/bench/peer"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// noon is when the runs of these tests start.
var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// golden compares got with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got); go test ./cmd/bench/report -update writes it:\n%s", path, d)
	}
}

var testMachine = host.Machine{CPU: "Some CPU", Cores: 2, Kernel: "Linux 6.1"}

// testReport has something to say everywhere.
func testReport() *Report {
	r := New(5, 2, noon)
	r.Machine, r.Versions = testMachine, map[string]string{"go": "go1.26", "nginx": "1.22.1", "wrk": "4.1.0"}
	r.Missing = []string{Varnish}
	r.Release = Release{ID: "r0123456789abcdef", Movies: 10_000}
	r.Subjects = []Subject{{Case: Detail, Path: "/3/movie/5", Gzip: 1000, Raw: 1700}, {Case: Five, Path: "/3/movie/6?append_to_response=credits,images,keywords,release_dates,videos", Gzip: 27_000, Raw: 128_000}}
	round := func(rate, cpu, p99, busy float64) Round {
		return Round{Rate: rate, CPU: cpu, P50: p99 / 4, P99: p99, Max: 2 * p99, Busy: busy, Load: 0.9, Bytes: 1373}
	}
	for _, n := range []int{32, 256} {
		r.Cases = append(r.Cases,
			measured(Detail, Edge, n, round(90_000, 11, 800, 0.99)), measured(Detail, Nginx, n, round(70_000, 13, 900, 0.95)),
			measured(NotModified, Edge, n, round(120_000, 8, 500, 0.99)), measured(NotModified, Nginx, n, round(80_000, 12, 700, 0.99)),
			measured(Five, Edge, n, round(50_000, 12, 1100, 0.6)), measured(Five, Nginx, n, round(50_000, 13, 1000, 0.7)),
			measured(Five, Merge, n, round(500, 2000, 90_000, 1)))
	}
	cold := round(5000, 40, 9000, 0.3)
	cold.Read = 30 << 20
	r.Mix = []Measure{measured(Mix, Edge, 32, round(60_000, 16, 900, 0.99)), measured(Cold, Edge, 32, cold)}
	for i, n := range []int{1, 8, 32} {
		rate := float64(10_000 * (i + 1))
		r.Connections = append(r.Connections, measured(Detail, Edge, n, round(rate, 11, 300, 0.8)), measured(Five, Edge, n, round(rate/2, 14, 400, 0.8)))
		part := measured(Parts, Edge, 1, round(rate, 11, 300, 0.4))
		part.Parts = 2*i + 1
		r.Parts = append(r.Parts, part)
	}
	r.Edge = EdgeFigures{Anon: 70 << 20, File: 300 << 20, Starts: []float64{40, 50, 60}, StartsCold: []float64{100, 250, 300}}
	r.Sizes = &Sizes{Answers: 200, Raw: 1000, Gzip: 104, OnePass: 100, Ratio: 1.04}
	r.Finish(noon.Add(time.Minute))
	return r
}

func testBuildReport() *BuildReport {
	r := NewBuild(3, 2<<30, noon)
	r.Machine, r.Go = testMachine, "go1.26"
	for i, movies := range []int64{1000, 5000} {
		f := float64(i + 1)
		one := NewBuildRound(Cost{Wall: 10 * f, CPU: 18.5 * f, Peak: 900 << 20, Bytes: 5 << 20}, map[string]float64{"map": 7 * f, "reduce": 2 * f},
			peer.Compressed{Level: 6, Texts: 1000, Raw: 9 << 20, Stored: 4 << 20, Seconds: 12 * f})
		one.Before = Cost{Wall: 11 * f, CPU: 18 * f, Peak: 1000 << 20, Bytes: 9 << 20}
		m := BuildMeasure{Movies: movies, Series: movies / 5, Fragments: 1000, Segments: 900, RawBytes: 8 << 20, StoredBytes: 3 << 20, Rounds: []BuildRound{one, one, one}}
		m.Summarize()
		m.Incremental = &Incremental{Titles: 20, Cost: Cost{Wall: f, CPU: 1.5 * f, Peak: 1 << 20}, WallShare: 0.1, CPUShare: 0.12}
		r.Builds = append(r.Builds, m)
	}
	return r
}

// TestReports holds the tables to the goldens.
func TestReports(t *testing.T) {
	for _, c := range []struct {
		name   string
		report interface{ WriteText(w io.Writer) }
	}{{"bench", testReport()}, {"build", testBuildReport()}} {
		var text bytes.Buffer
		c.report.WriteText(&text)
		golden(t, c.name+".txt", text.Bytes())
	}
}

func TestWriteFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "report")
	want := testReport()
	if err := want.WriteFolder(dir); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "bench.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got Report
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, &got); d != "" {
		t.Errorf("bench.json, read again (-want +got):\n%s", d)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "table.txt")); err != nil || !bytes.Contains(data, []byte("Query mix")) {
		t.Errorf("table.txt: %d bytes, %v, want the report", len(data), err)
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"one two three", []string{"one two", "three"}},
		{"extraordinary one", []string{"extraordinary", "one"}},
	} {
		if d := cmp.Diff(c.want, wrap(c.text, 8)); d != "" {
			t.Errorf("wrap(%q) (-want +got):\n%s", c.text, d)
		}
	}
}
