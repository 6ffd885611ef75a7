package credits

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/compare"
	"github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// specs are credits by id: as many as make several blocks.
func specs(n int) (ids [][]byte, list []Spec) {
	for i := range n {
		id, _ := hex.DecodeString(fmt.Sprintf("%024x", 7*i+3))
		s := Spec{Credit: Credit{
			Role: Crew, Kind: fragment.KindMovie, Title: 550, Person: uint64(i%3 + 1), Department: []byte("Sound"), Job: fmt.Appendf(nil, "Job %d", i%5),
		}}
		switch i % 3 {
		case 1:
			s.Role, s.Department, s.Job, s.Character = Cast, []byte("Acting"), []byte("Actor"), []byte(`\"T\"`)
		case 2:
			s.Kind, s.Title = fragment.KindTV, 1399
			s.Episodes, s.Seasons = []Episode{{1, 2}, {0, 300}}, []uint32{1}
		}
		ids, list = append(ids, id), append(list, s)
	}
	return ids, list
}

// open returns a release with the credits, and the resources that they lead to but for missing.
func open(t *testing.T, ids [][]byte, list []Spec, missing string) *release.Reader {
	t.Helper()
	dir := t.TempDir()
	w, err := releasetest.Create(dir)
	sharedtest.NoError(t, err)
	var resources []release.ResourceSpec
	for _, key := range [][]byte{
		fragment.AppendID(nil, fragment.KindMovie, 550), fragment.AppendID(nil, fragment.KindTV, 1399), fragment.AppendSeason(nil, 1399, 1),
		fragment.AppendEpisode(nil, 1399, 1, 2), fragment.AppendEpisode(nil, 1399, 0, 300),
		fragment.AppendID(nil, fragment.KindPerson, 1), fragment.AppendID(nil, fragment.KindPerson, 2), fragment.AppendID(nil, fragment.KindPerson, 3),
	} {
		if fragment.DescribeKey(key) != missing {
			resources = append(resources, release.ResourceSpec{Key: key})
		}
	}
	sharedtest.NoError(t, w.Add(resources...))
	table, err := w.Table(Table, 0)
	sharedtest.NoError(t, err)
	out := NewWriter(table)
	for i := range ids {
		sharedtest.NoError(t, out.Add(ids[i], list[i].Append(nil)))
	}
	sharedtest.NoError(t, out.Close())
	table.SetRows(len(ids))
	sharedtest.NoError(t, table.Close())
	return releasetest.MustOpen(t, filepath.Join(dir, releasetest.Seal(t, w).ID))
}

func TestFind(t *testing.T) {
	for _, n := range []int{0, 1, blockRows, 3*blockRows + 1} {
		ids, list := specs(n)
		r := open(t, ids, list, "")
		sharedtest.NoError(t, Check(t.Context(), r, all))
		for i, id := range ids {
			c, ok, err := Find(r, fmt.Appendf(nil, "%x", id))
			if err != nil || !ok {
				t.Fatalf("Find(%x) = %t, %v", id, ok, err)
			}
			got := Spec{Credit: c}
			err = c.Parts(
				func(_ int, e Episode) error { got.Episodes = append(got.Episodes, e); return nil },
				func(_ int, n uint32) error { got.Seasons = append(got.Seasons, n); return nil },
			)
			if c.Kind == fragment.KindTV && err != nil || !bytes.Equal(got.Append(nil), list[i].Append(nil)) {
				t.Errorf("Find(%x) = %+v, %v, want %+v", id, got, err, list[i])
			}
		}
		for _, id := range []string{
			strings.Repeat("0", 24), strings.Repeat("f", 24), fmt.Sprintf("%024x", 4), fmt.Sprintf("%024X", 10), "", "3", strings.Repeat("g", 24),
		} {
			if c, ok, err := Find(r, []byte(id)); ok || err != nil {
				t.Errorf("of %d credits, Find(%q) = %+v, %v, want none", n, id, c, err)
			}
		}
	}
}

func all(int) bool { return true }

func TestCheck(t *testing.T) {
	ids, list := specs(9)
	for _, missing := range []string{"movie 550", "tv 1399", "person 2", "season 1399 1", "episode 1399 0 300"} {
		if err := Check(t.Context(), open(t, ids, list, missing), all); !errors.Is(err, release.ErrCorrupt) || !strings.Contains(err.Error(), missing) {
			t.Errorf("without %s, Check = %v", missing, err)
		}
	}
	ids[3], ids[4] = ids[4], ids[3]
	if err := Check(t.Context(), open(t, ids, list, ""), all); !errors.Is(err, release.ErrCorrupt) {
		t.Errorf("of ids that do not ascend, Check = %v", err)
	}
}

func TestCompare(t *testing.T) {
	ids, was := specs(blockRows + 9)
	_, is := specs(blockRows + 9)
	is[3].Job, is[5].Episodes = []byte("Other"), is[5].Episodes[:1]
	last := len(ids) - 1
	a, b := open(t, ids[1:], was[1:], ""), open(t, ids[:last], is[:last], "")
	var got []string
	sharedtest.NoError(t, Compare(a, b, func(change compare.Change, id string) error {
		got = append(got, fmt.Sprint(change, " ", id))
		return nil
	}))
	want := fmt.Sprintf("[created %x changed %x changed %x deleted %x]", ids[0], ids[3], ids[5], ids[last])
	if fmt.Sprint(got) != want {
		t.Errorf("Compare = %s, want %s", got, want)
	}
}
