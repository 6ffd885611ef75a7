package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reelsplice/reelsplice/cmd/bench/host"
)

var update = flag.Bool("update", false, "rewrite the golden")

// testReport has a figure everywhere.
func testReport() *Report {
	noon := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	r := New(5, 2, 32, noon)
	r.Machine, r.Movies = "Some CPU, 2 cores", 10_000
	r.Note("five: %s", "/3/movie/6")
	round := func(rate, cpu, p99, busy float64) Round {
		return Round{Rate: rate, CPU: cpu, P50: p99 / 4, P99: p99, Busy: busy, Bytes: 1373}
	}
	cold := round(5000, 40, 9000, 0.3)
	cold.Read = 30 << 20
	r.Measures = []Measure{
		measured(Detail, Edge, round(90_000, 11, 800, 0.99)), measured(Detail, Before, round(90_000, 11, 900, 0.95)),
		measured(Detail, Nginx, round(70_000, 13, 900, 0.95)), measured(NotModified, Edge, round(120_000, 8, 500, 0.99)),
		measured(Five, Edge, round(50_000, 12, 1100, 0.6)), measured(Five, Nginx, round(50_000, 13, 1000, 0.7)),
		measured(Cold, Edge, cold), measured(Cold, Nginx, cold),
	}
	r.Sizes = Sizes{Responses: 200, Gzip: 104, OnePass: 100}
	own := Made{Ingest: host.Cost{Wall: 10, CPU: 18.5, Peak: 900 << 20}, Build: host.Cost{Wall: 10, CPU: 18.5, Peak: 900 << 20}, Bytes: 5 << 20}
	old := Made{Ingest: own.Ingest, Build: host.Cost{Wall: 11, CPU: 18, Peak: 1000 << 20}, Bytes: 9 << 20}
	one := BuildRound{Own: own, Before: old}
	r.Builds = Builds{Memory: 2 << 30, Rounds: []BuildRound{one, one, one}, Incremental: host.Cost{Wall: 3, CPU: 6, Peak: 500 << 20}}
	r.Finish(noon.Add(time.Minute))
	return r
}

// TestMarkdown holds the tables to the golden.
func TestMarkdown(t *testing.T) {
	var got bytes.Buffer
	testReport().WriteMarkdown(&got)
	const path = "testdata/bench.md"
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("%s (-want +got); go test ./cmd/bench/report -update writes it:\n%s", path, d)
	}
}

func TestJSON(t *testing.T) {
	want := testReport()
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Report
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, &got); d != "" {
		t.Errorf("the report, read again (-want +got):\n%s", d)
	}
}
