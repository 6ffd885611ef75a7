package journal

import (
	"bytes"
	"log/slog"
	"os"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/catalog"
)

// TestResume: an ingest goes on with its whole progress, and only with an equal plan of a program
// with the same record types.
func TestResume(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	plan := Plan{Run: "one", Flags: Flags{Layout: "auto"}, Inputs: []File{{Path: "movies.ndjson", Bytes: 7}}}
	begin := func() (dir string) {
		t.Helper()
		dir = t.TempDir()
		j, err := New(dir, plan, log)
		if err != nil {
			t.Fatal(err)
		}
		if j.CanGoOn() {
			t.Error("goes on without progress")
		}
		j.Progress.Rows, j.Progress.At, j.Progress.Runs = 5, Position{1, 2}, []string{"1.run"}
		j.Progress.Report.Skip("notes.txt", "no dump")
		if err := j.Save(); err != nil || !j.CanGoOn() {
			t.Fatalf("saved, and can go on: %v (%v)", j.CanGoOn(), err)
		}
		return dir
	}
	resumed := func(dir string, now Plan, restart bool) *Journal {
		t.Helper()
		j, err := Resume(dir, now, restart, log)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	now := plan
	now.Run = "another"
	j := resumed(begin(), now, false)
	if j == nil || !j.Resumed() || j.Plan.Run != "one" || j.Progress.Rows != 5 || j.Progress.At != (Position{1, 2}) || len(j.Progress.Runs) != 1 || len(j.Progress.Report.Skipped.Top) != 1 {
		t.Errorf("resumed %+v", j)
	}
	if resumed(begin(), plan, true) != nil {
		t.Error("resumed though it was to begin anew")
	}
	now.Flags.Kind = "movie"
	if resumed(begin(), now, false) != nil {
		t.Error("resumed with other flags")
	}
	dir := begin()
	path := (&Journal{work: dir + "/" + Dir}).Path(PlanFile)
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, bytes.Replace(b, []byte(catalog.Fingerprint()), []byte("3-abc"), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if resumed(dir, plan, false) != nil {
		t.Error("resumed work of a program with other record types")
	}
}
