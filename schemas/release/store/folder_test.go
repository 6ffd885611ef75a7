package store_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/file"
	. "github.com/reelsplice/reelsplice/schemas/release"
	. "github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// storeOf makes a store of n releases, built a minute apart, the oldest first.
func storeOf(tb testing.TB, n int) (store.Folder, []string) {
	tb.Helper()
	s := store.Folder{Dir: tb.TempDir()}
	var ids []string
	for i := range n {
		ids = append(ids, Tiny(tb, s.Dir, fmt.Sprint(i)).ID)
		builtAt(tb, s.Path(ids[i]), i)
	}
	return s, ids
}

func TestPublishRefuses(t *testing.T) {
	s, ids := storeOf(t, 2)
	publish(t, s, ids[0])
	broken := filepath.Join(s.Path(ids[1]), PackOf(t, s.Path(ids[1]), Movie(550)))
	sharedtest.NoError(t, os.Truncate(broken, 80))
	sharedtest.NoError(t, os.CopyFS(s.Path("r0000000000000001"), os.DirFS(s.Path(ids[0]))))
	for id, want := range map[string]string{
		"r0000000000000000":   "release r0000000000000000 is not in",
		"r0000000000000001":   "the folder is r0000000000000001",
		"../" + ids[0]:        "is not a release id",
		"":                    "is not a release id",
		"R" + ids[0][1:]:      "is not a release id",
		"r000000000000000G":   "is not a release id",
		ids[0] + "/../" + "x": "is not a release id",
		ids[1]:                filepath.Base(broken) + ": offset 80: file is 80 bytes long, the manifest has ",
	} {
		if _, err := store.Publish(t.Context(), s, id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Publish(%q) = %v, want an error with %q", id, err, want)
		}
	}
	isCurrent(t, s, ids[0])
	for _, bad := range []string{"", "\n", "r0\n", ids[0], ids[0] + "\n\n"} {
		sharedtest.NoError(t, os.WriteFile(s.Path("current"), []byte(bad), 0o600))
		if _, err := store.Current(t.Context(), s); !errors.Is(err, ErrCorrupt) {
			t.Errorf("Current() of %q = %v, want ErrCorrupt", bad, err)
		}
		if _, err := store.Publish(t.Context(), s, ids[0]); err != nil {
			t.Errorf("Publish() over %q = %v, want it mended", bad, err)
		}
		isCurrent(t, s, ids[0])
	}
}

func TestRollbackToWhatIsGone(t *testing.T) {
	s, ids := storeOf(t, 2)
	publish(t, s, ids...)
	sharedtest.NoError(t, os.RemoveAll(s.Path(ids[0])))
	if _, _, err := store.Rollback(t.Context(), s); err == nil || !strings.Contains(err.Error(), "release "+ids[0]+" is not in") {
		t.Errorf("Rollback() = %v, want an error that names %s", err, ids[0])
	}
	isCurrent(t, s, ids[1])
}

func TestHistoryIsBounded(t *testing.T) {
	s, ids := storeOf(t, 2)
	for range 100 {
		publish(t, s, ids...)
	}
	data, err := os.ReadFile(s.Path("current"))
	sharedtest.NoError(t, err)
	if got, err := store.ParseHistory(data); err != nil || len(got) != 100 || got[0] != ids[1] {
		t.Errorf("current has %d ids, %v, want 100", len(got), err)
	}
}

func TestList(t *testing.T) {
	s, ids := storeOf(t, 3)
	publish(t, s, ids[2], ids[0])
	sharedtest.NoError(t, os.Mkdir(s.Path("notes"), 0o755))
	infos, err := s.List(t.Context())
	sharedtest.NoError(t, err)
	var got []string
	for _, i := range infos {
		got = append(got, fmt.Sprintf("%s %v %v %v", i.ID, i.Current, i.Previous, i.Err == nil))
		if i.Err == nil && (i.Fragments != 16 || i.Bytes != 2365) {
			t.Errorf("%s has %d fragments, %d bytes, want 16, 2365", i.ID, i.Fragments, i.Bytes)
		}
	}
	want := []string{"notes false false false", ids[2] + " false true true", ids[1] + " false false true", ids[0] + " true false true"}
	if !slices.Equal(got, want) {
		t.Errorf("List() =\n%q, want\n%q", got, want)
	}
	if !infos[3].Built.Equal(time.Unix(0, 0)) {
		t.Errorf("Built = %v, want that of the report", infos[3].Built)
	}

	sharedtest.NoError(t, os.RemoveAll(s.Path(ids[0])))
	infos, err = s.List(t.Context())
	if err != nil || len(infos) != 4 || !infos[3].Current || !errors.Is(infos[3].Err, fs.ErrNotExist) {
		t.Errorf("List() without the current release = %+v, %v, want it as missing", infos, err)
	}
	sharedtest.NoError(t, os.WriteFile(s.Path("canary"), []byte("x\n"), 0o600))
	if infos, err = s.List(t.Context()); !errors.Is(err, ErrCorrupt) || len(infos) != 4 || !infos[3].Current {
		t.Errorf("List() with a damaged canary = %+v, %v, want all and ErrCorrupt", infos, err)
	}
	if _, err := (store.Folder{Dir: s.Path("nowhere")}).List(t.Context()); err == nil {
		t.Error("List() of no folder succeeds")
	}
}

func TestPrune(t *testing.T) {
	s, ids := storeOf(t, 5)
	publish(t, s, ids[1], ids[0])
	for _, junk := range []string{store.BuildingPrefix + "1", ".deleting-x", "notes"} {
		sharedtest.NoError(t, os.Mkdir(s.Path(junk), 0o755))
	}
	if _, err := s.Prune(t.Context(), 0, 0); err == nil {
		t.Error("Prune(0) succeeds")
	}
	for _, c := range []struct {
		keep int
		want []string
	}{
		{5, nil},
		{4, []string{ids[2]}},
		{3, []string{ids[3]}},
		{1, []string{ids[4]}},
		{1, nil},
	} {
		if got, err := s.Prune(t.Context(), c.keep, 0); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("Prune(%d) = %v, %v, want %v", c.keep, got, err, c.want)
		}
	}
	onlyThese(t, s.Dir, ids[0], ids[1], "notes")
	isCurrent(t, s, ids[0])
}

// TestPruneUnread: a release that cannot be read at the moment is not taken for a broken one, which would stay for ever
// while others go in its place.
func TestPruneUnread(t *testing.T) {
	s, ids := storeOf(t, 4)
	publish(t, s, ids[3], ids[2])
	manifest := filepath.Join(s.Path(ids[0]), ManifestName)
	if err := errors.Join(os.Remove(manifest), os.Mkdir(manifest, 0o700)); err != nil { // reading it is an error of the disk
		t.Fatal(err)
	}
	if removed, err := s.Prune(t.Context(), 1, 0); err == nil || len(removed) > 0 || !strings.Contains(err.Error(), ids[0]) {
		t.Errorf("Prune = %v, %v, want an error with %s", removed, err, ids[0])
	}
	onlyThese(t, s.Dir, ids...)
}

// onlyThese checks what is in a folder of releases, apart from locks and current.
func onlyThese(tb testing.TB, dir string, want ...string) {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	sharedtest.NoError(tb, err)
	var got []string
	for _, e := range entries {
		if n := e.Name(); n != ".lock" && n != ".store-lock" && n != "current" {
			got = append(got, n)
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		tb.Errorf("in the folder: %v, want %v", got, want)
	}
}

// TestPruneBesideBuilder leaves the builder's folder alone.
func TestPruneBesideBuilder(t *testing.T) {
	s := store.Folder{Dir: t.TempDir()}
	w, err := Create(s.Dir)
	sharedtest.NoError(t, err)
	if _, err := s.Prune(t.Context(), 1, 0); err != nil {
		t.Fatal(err)
	}
	sharedtest.NoError(t, FillTiny(w))
	noProblems(t, s.Path(Seal(t, w).ID))
}

// TestInstallAndRemove gives a complete folder its name, replaces a broken release, and removes all but the current one.
func TestInstallAndRemove(t *testing.T) {
	s, ids := storeOf(t, 2)
	move := func() {
		t.Helper()
		sharedtest.NoError(t, os.Rename(s.Path(ids[1]), s.Path(".incoming")))
	}
	move()
	if id, err := s.Install(".incoming"); err != nil || id != ids[1] {
		t.Fatalf("Install = %q, %v, want %s", id, err, ids[1])
	}
	move()
	if err := os.Mkdir(s.Path(ids[1]), 0o700); err != nil { // a broken one
		t.Fatal(err)
	}
	if _, err := s.Install(".incoming"); err != nil {
		t.Fatal(err)
	}
	publish(t, s, ids...)
	sharedtest.NoError(t, os.Truncate(filepath.Join(s.Path(ids[0]), "index-0000"), 10))
	if _, err := s.Install(ids[0]); !errors.Is(err, ErrCorrupt) {
		t.Errorf("Install of a broken release = %v, want ErrCorrupt", err)
	}
	if err := s.Remove(ids[1]); err == nil || !strings.Contains(err.Error(), "current") {
		t.Errorf("Remove(current) = %v, want an error", err)
	}
	if err := s.Remove("../x"); err == nil {
		t.Error("Remove(../x) = nil, want an error")
	}
	if err := s.Remove(ids[0]); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(s.Path(ids[0])); !os.IsNotExist(err) {
		t.Errorf("the folder of the removed release: %v, want none", err)
	}
	isCurrent(t, s, ids[1])
}

// FuzzHistory reads the file current.
func FuzzHistory(f *testing.F) {
	f.Add([]byte("r0123456789abcdef\n"))
	f.Add([]byte("r0123456789abcdef\nr0123456789abcdee\n"))
	f.Add([]byte("../../etc\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ids, err := store.ParseHistory(data)
		if err == nil && len(data) != 18*len(ids) {
			t.Errorf("ParseHistory(%q) = %q", data, ids)
		}
	})
}

// TestPruneReports removes what a killed build left of the report of a release.
func TestPruneReports(t *testing.T) {
	s, ids := storeOf(t, 1)
	publish(t, s, ids...)
	report := filepath.Join(s.Path(ids[0]), ReportName)
	sharedtest.NoError(t, os.WriteFile(report, []byte("{}"), 0o600))
	if _, err := file.Create(report, 0o600); err != nil { // and the build is gone
		t.Fatal(err)
	}
	if _, err := s.Prune(t.Context(), 1, 0); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(s.Path(ids[0]) + "/*" + ReportName + "*"); err != nil || len(left) != 1 {
		t.Errorf("reports after prune: %q, %v, want one", left, err)
	}
}
