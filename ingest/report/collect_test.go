package report

import (
	"fmt"
	"testing"
	"time"
)

// TestTallies: of more files than have a tally of their own, the sums are those of all, also of rows
// that turn out bad later; the files with the most bad rows are listed.
func TestTallies(t *testing.T) {
	const files = 5 * maxTallies
	c := collector()
	for n := range files {
		c.BeginFile(n, File{Name: fmt.Sprint(n), Bytes: 10})
		tally := c.Of(n)
		tally.Rows.Kept = 3
		if n%1000 == 0 {
			tally.Quarantined("1", "id", "bad")
			tally.Fail("torn")
		}
		c.EndFile(n)
	}
	if len(c.sources) >= 2*maxTallies {
		t.Errorf("%d tallies are kept", len(c.sources))
	}
	for n := range files { // a merge finds a row of each file bad
		c.Of(n).Rows.Kept--
		c.Of(n).Rows.Duplicates++
	}
	r := c.Report(End{Elapsed: time.Second})
	if r.Files != files || r.FailedFiles != 1 || r.OtherFiles != files-MaxListed || len(r.Sources) != MaxListed || r.Sources[0].Name != "0" {
		t.Errorf("files = %d, %d failed, %d others, %d listed, the first %q", r.Files, r.FailedFiles, r.OtherFiles, len(r.Sources), r.Sources[0].Name)
	}
	want := Outcome{Kept: 2 * files, Duplicates: files, Quarantined: 1}
	if r.Totals.Outcome != want || r.Totals.Bytes != 10*files {
		t.Errorf("totals = %+v, %d bytes, want %+v", r.Totals.Outcome, r.Totals.Bytes, want)
	}
}
