package changelog

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// newRelease opens a release with nothing but the table.
func newRelease(t *testing.T, sections map[string][]byte) *release.Reader {
	t.Helper()
	dir := t.TempDir()
	w, err := releasetest.Create(dir)
	sharedtest.NoError(t, err)
	out, err := w.Table(Table, len(sections[SectionBuilds])/8)
	sharedtest.NoError(t, err)
	for name, data := range sections {
		if _, err := out.Section(name).Write(data); err != nil {
			t.Fatal(err)
		}
	}
	sharedtest.NoError(t, out.Close())
	return releasetest.MustOpen(t, filepath.Join(dir, releasetest.Seal(t, w).ID))
}

// sectionsOf writes lists of movies: of each build its time and ids.
func sectionsOf(times []int64, ids [][]uint64) map[string][]byte {
	s := map[string][]byte{}
	list, starts := ListSection(fragment.KindMovie), StartsSection(fragment.KindMovie)
	n := uint64(0)
	for i, at := range times {
		s[SectionBuilds] = le.AppendUint64(s[SectionBuilds], uint64(at))
		s[starts] = le.AppendUint64(s[starts], n)
		for _, id := range ids[i] {
			row := Row{ID: id, Newer: None, Adult: Flag(id % 3)}
			for j := len(ids) - 1; j > i; j-- {
				if slices.Contains(ids[j], id) {
					row.Newer = uint32(j)
				}
			}
			s[list] = row.Append(s[list])
			n++
		}
	}
	s[starts] = le.AppendUint64(s[starts], n)
	return s
}

// TestList: pages of every window are those of a list made the plain way.
func TestList(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var times []int64
	var ids [][]uint64
	for i := range 15 {
		times = append(times, int64(1000*(i+1)))
		var list []uint64
		for id := range uint64(40) {
			if r.IntN(4) == 0 {
				list = append(list, id)
			}
		}
		ids = append(ids, list)
	}
	l := Open(newRelease(t, sectionsOf(times, ids)))
	for range 500 {
		from, to := r.IntN(17), r.IntN(17)
		var want []uint64
		for i := min(to, 15); i >= max(from, 1); i-- {
			for _, id := range ids[i-1] {
				if !slices.Contains(want, id) {
					want = append(want, id)
				}
			}
		}
		page, size := 1+r.IntN(5), 1+r.IntN(20)
		rows, total := l.List(nil, fragment.KindMovie, Window{int64(1000 * from), int64(1000 * to)}, page, size)
		var got []uint64
		for _, row := range rows {
			got = append(got, row.ID)
			if row.Adult != Flag(row.ID%3) {
				t.Errorf("adult of %d is %s", row.ID, row.Adult)
			}
		}
		first := min(len(want), (page-1)*size)
		if part := want[first:min(len(want), first+size)]; total != len(want) || !slices.Equal(got, part) {
			t.Errorf("builds %d to %d, page %d of %d rows = %v of %d, want %v of %d", from, to, page, size, got, total, part, len(want))
		}
	}
	if rows, total := l.List(nil, fragment.KindPerson, Window{0, 1 << 40}, 1, 100); len(rows) != 0 || total != 0 {
		t.Errorf("people: %v of %d, want none", rows, total)
	}
}

// TestRow: rows look as recorded ones do.
func TestRow(t *testing.T) {
	for want, row := range map[string]Row{
		`{"id":1064213,"adult":false,"softcore":false}`: {ID: 1064213},
		`{"id":1585885,"adult":true,"softcore":false}`:  {ID: 1585885, Adult: Yes},
		`{"id":1585741,"adult":null,"softcore":null}`:   {ID: 1585741, Adult: Null, Softcore: Null},
	} {
		if got := string(row.AppendJSON(nil)); got != want {
			t.Errorf("row = %s, want %s", got, want)
		}
		if got := Rows(row.Append(nil)).At(0); got != row {
			t.Errorf("row comes back as %+v, want %+v", got, row)
		}
	}
}

// TestListAllocates: a page takes no memory but its rows.
func TestListAllocates(t *testing.T) {
	l := Open(newRelease(t, sectionsOf([]int64{1, 2}, [][]uint64{{1, 2}, {2, 3}})))
	dst := make([]Row, 0, 100)
	if n := testing.AllocsPerRun(100, func() { _, _ = l.List(dst, fragment.KindMovie, Window{0, 9}, 1, 100) }); n != 0 {
		t.Errorf("List allocates %v times", n)
	}
}

// TestWindow: what days stand for.
func TestWindow(t *testing.T) {
	now := time.Date(2026, 11, 22, 4, 30, 0, 0, time.UTC)
	today := int32(now.Unix() / day)
	text := func(w Window) string {
		const layout = "01-02 15:04:05"
		return fmt.Sprintf("%s to %s", time.Unix(w.From, 0).UTC().Format(layout), time.Unix(w.To, 0).UTC().Format(layout))
	}
	builtAt := func(hours int) *Log {
		return &Log{builds: le.AppendUint64(nil, uint64(now.Add(-time.Duration(hours)*time.Hour).Unix()))}
	}
	for _, c := range []struct {
		log  *Log
		days Days
		want string
	}{
		{&Log{}, Days{}, "11-21 04:30:00 to 11-22 04:30:00"},
		{builtAt(1), Days{}, "11-21 04:30:00 to 11-22 04:30:00"},
		{builtAt(25), Days{}, "11-21 03:30:00 to 11-22 04:30:00"},
		{builtAt(49), Days{}, "11-21 04:30:00 to 11-22 04:30:00"},
		{&Log{}, Days{Start: today - 3, HasStart: true, End: today - 1, HasEnd: true}, "11-19 00:00:00 to 11-21 23:59:59"},
		{&Log{}, Days{Start: today - 3, HasStart: true}, "11-19 00:00:00 to 11-22 04:30:00"},
		{&Log{}, Days{Start: today - 30, HasStart: true}, "10-23 00:00:00 to 11-06 23:59:59"},
		{&Log{}, Days{End: today, HasEnd: true}, "11-21 00:00:00 to 11-22 23:59:59"},
	} {
		if got := text(c.log.Window(c.days, now)); got != c.want {
			t.Errorf("Window(%+v) = %s, want %s", c.days, got, c.want)
		}
	}
}

// TestCheck: a table that is not in order is refused.
func TestCheck(t *testing.T) {
	sound := func() map[string][]byte {
		s := sectionsOf([]int64{1, 2}, [][]uint64{{1, 2}, {2, 3}})
		for _, key := range []string{"images", "title"} {
			s[SectionKeys] = AppendKey(s[SectionKeys], key)
		}
		for i := range uint32(2) {
			it := Items{ID: 2, Build: 1, Key: i, Offset: uint64(3 * i), Segment: release.Segment{Stored: []byte("abc")}}
			s[ItemSection(fragment.KindMovie)] = it.Append(s[ItemSection(fragment.KindMovie)])
			s[SectionData] = append(s[SectionData], it.Segment.Stored...)
		}
		return s
	}
	if err := Open(newRelease(t, sound())).Check(); err != nil {
		t.Errorf("Check of a sound table: %v", err)
	}
	list, item := ListSection(fragment.KindMovie), ItemSection(fragment.KindMovie)
	for name, breakIt := range map[string]func(map[string][]byte){
		"builds":   func(s map[string][]byte) { s[SectionBuilds][0] = 3 },
		"keys":     func(s map[string][]byte) { s[SectionKeys][0] = 'z' },
		"ids":      func(s map[string][]byte) { s[list][0] = 2 },
		"newer":    func(s map[string][]byte) { s[list][rowLen+8] = 0 },
		"starts":   func(s map[string][]byte) { s[StartsSection(fragment.KindMovie)][8] = 1 },
		"order":    func(s map[string][]byte) { s[item][0] = 3 },
		"offset":   func(s map[string][]byte) { s[item][itemLen+16] = 2 },
		"stored":   func(s map[string][]byte) { s[item][itemLen+24] = 4 },
		"build":    func(s map[string][]byte) { s[item][8] = 2 },
		"key":      func(s map[string][]byte) { s[item][itemLen+12] = 2 },
		"too much": func(s map[string][]byte) { s[SectionData] = append(s[SectionData], 0) },
	} {
		s := sound()
		breakIt(s)
		if err := Open(newRelease(t, s)).Check(); !errors.Is(err, release.ErrCorrupt) {
			t.Errorf("%s: Check = %v, want an error that matches ErrCorrupt", name, err)
		}
	}
}
