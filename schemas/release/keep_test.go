package release

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reelsplice/schemas/fragment"
)

// keepTiny makes a release that keeps all of the release id in s but its table, and has a
// movie more; k ends the work.
func keepTiny(s Store, id string, k *killer, noLinks bool) (_ Manifest, err error) {
	r, err := Open(s.Path(id))
	if err != nil {
		return Manifest{}, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	o := tinyOptions()
	o.Parent, o.Previous = id, r
	w, err := Create(s.Dir, o)
	if err != nil {
		return Manifest{}, err
	}
	defer func() { // what the system does for a process that was killed
		for _, shard := range w.shards {
			if shard != nil {
				shard.discard()
			}
		}
		_ = w.lock.Unlock()
	}()
	w.disk.step, w.disk.noLinks = k.step, noLinks
	if err := fillKept(w, r); err != nil {
		return Manifest{}, err
	}
	return w.Seal(context.Background())
}

func fillKept(w *Writer, r *Reader) error {
	common, err := w.Shard(0)
	if err != nil {
		return err
	}
	if err := r.CommonResources(func(e Entry) error { _, err := common.Keep(e, nil); return err }); err != nil {
		return err
	}
	one, err := w.Shard(1)
	if err != nil {
		return err
	}
	for _, specs := range tinyShards(headerLen)[1:] {
		for _, spec := range specs {
			e, _ := r.Lookup(spec.Key)
			if _, err := one.Keep(e, spec.Aliases); err != nil {
				return err
			}
		}
	}
	more := ResourceSpec{
		Key:       fragment.AppendID(nil, fragment.KindMovie, 999),
		Fragments: []FragmentSpec{frag(fragment.Address{Sub: fragment.SubDetails}, seg(plain(`"title":"More"`)))},
	}
	if _, err := one.Add(more); err != nil {
		return err
	}
	return errors.Join(common.Close(), one.Close())
}

// packsOf returns the packs of a release, by name.
func packsOf(t *testing.T, dir string) map[string]os.FileInfo {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "pack-*"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]os.FileInfo{}
	for _, path := range paths {
		if out[filepath.Base(path)], err = os.Stat(path); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestKeep: what is kept has its packs by another name, or copied where files have one name
// only, answers as before, and outlives the release that it is from.
func TestKeep(t *testing.T) {
	for _, noLinks := range []bool{false, true} {
		s := Store{Dir: t.TempDir()}
		id := buildTiny(t, s.Dir, "").ID
		was := packsOf(t, s.Path(id))
		m, err := keepTiny(s, id, &killer{after: -1}, noLinks)
		if err != nil {
			t.Fatal(err)
		}
		is := packsOf(t, s.Path(m.ID))
		if len(is) != len(was)+1 {
			t.Errorf("packs %v, want those of %v and one more", is, was)
		}
		for name := range was {
			if os.SameFile(was[name], is[name]) == noLinks {
				t.Errorf("without links %v: %s is the same file: %v", noLinks, name, !noLinks)
			}
		}
		r := mustOpen(t, s.Path(m.ID))
		found, err := Compare(t.Context(), mustOpen(t, s.Path(id)), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := found.Count(Created); !maps.Equal(n, map[fragment.Kind]int64{fragment.KindMovie: 1}) {
			t.Errorf("created %v, want a movie", n)
		}
		if len(found.Count(Changed)) > 0 || len(found.Count(Deleted)) > 0 {
			t.Errorf("changed %v, deleted %v, want none", found.Count(Changed), found.Count(Deleted))
		}
		if err := os.RemoveAll(s.Path(id)); err != nil {
			t.Fatal(err)
		}
		isSound(t, s.Path(m.ID))
	}
}

func isSound(t *testing.T, dir string) {
	t.Helper()
	problems, err := Verify(t.Context(), dir, VerifyOptions{}, nil)
	if err != nil || len(problems) > 0 {
		t.Fatalf("Verify(%s) = %v, %v", filepath.Base(dir), problems, err)
	}
}

// TestKillWhileKeeping ends the work after each step: the release that is kept from stays
// whole, and the next builder finds nothing in the way.
func TestKillWhileKeeping(t *testing.T) {
	for _, noLinks := range []bool{false, true} {
		steps := 1
		for n := 1; n <= steps; n++ {
			s := Store{Dir: t.TempDir()}
			id := buildTiny(t, s.Dir, "").ID
			all := &killer{after: -1}
			m, err := keepTiny(Store{Dir: copyStore(t, s, id)}, id, all, noLinks)
			if err != nil {
				t.Fatal(err)
			}
			steps = len(all.did)
			k := &killer{after: n}
			if _, err := keepTiny(s, id, k, noLinks); !errors.Is(err, errKilled) {
				t.Fatalf("stopped after %q: %v, want errKilled", k.did, err)
			}
			isSound(t, s.Path(id))
			again, err := keepTiny(s, id, &killer{after: -1}, noLinks)
			if err != nil || again.ID != m.ID {
				t.Fatalf("again after %q: %s, %v, want %s", k.did[n-1], again.ID, err, m.ID)
			}
			isSound(t, s.Path(again.ID))
			onlyThese(t, s.Dir, id, m.ID)
		}
		if steps < 10 {
			t.Errorf("%d steps, want more than 10", steps)
		}
	}
}

// copyStore copies a release to a store of its own.
func copyStore(t *testing.T, s Store, id string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, id), os.DirFS(s.Path(id))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestKeepRefuses what would break the release.
func TestKeepRefuses(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	id := buildTiny(t, s.Dir, "").ID
	r, other := mustOpen(t, s.Path(id)), mustOpen(t, s.Path(id))
	o := tinyOptions()
	o.Previous = r
	w, err := Create(s.Dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	shards := make([]*ShardWriter, 2)
	for i := range shards {
		if shards[i], err = w.Shard(i); err != nil {
			t.Fatal(err)
		}
	}
	title := tinyShards(headerLen)[1][0]
	mine, _ := r.Lookup(title.Key)
	foreign, _ := other.Lookup(title.Key)
	kept := PieceSpec{Op: OpSegment, Segment: plain(`"title":"x"`), Kept: true, Pack: 3, Offset: headerLen}
	for _, c := range []struct {
		what string
		do   func() (Ref, error)
		want string
	}{
		{"an entry of another reader", func() (Ref, error) { return shards[1].Keep(foreign, nil) }, "not of the release before"},
		{"an empty alias", func() (Ref, error) { return shards[1].Keep(mine, [][]byte{{}}) }, "alias"},
		{"another place in shard 0", func() (Ref, error) { return shards[0].Keep(mine, nil) }, "would come to"},
		{"a pack that is not there", func() (Ref, error) {
			return shards[1].Add(ResourceSpec{Key: []byte("k"), Fragments: []FragmentSpec{frag(genres, kept)}})
		}, "pack 3 is of no release before"},
	} {
		if _, err := c.do(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.what, err, c.want)
		}
	}
}

// TestCheckKept: any wrong byte of the directory, and of the index, is found.
func TestCheckKept(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	id := buildTiny(t, s.Dir, "").ID
	r := mustOpen(t, s.Path(id))
	if err := CheckKept(t.Context(), s.Dir, r); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{directoryFile, indexFile} {
		path := filepath.Join(s.Path(id), name)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []int{headerLen, len(data) / 2, len(data) - 1} {
			data[at] ^= 1
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := CheckKept(t.Context(), s.Dir, r); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), name) {
				t.Errorf("byte %d of %s wrong: %v, want ErrCorrupt with its name", at, name, err)
			}
			data[at] ^= 1
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCanKeep: packs and their numbers are used up some day.
func TestCanKeep(t *testing.T) {
	pack := &mapping{}
	for _, c := range []struct {
		packs, last, shards int // how many there are, behind so many numbers without one
		want                bool
	}{
		{0, 0, 1, true},
		{100, 0, maxShards, true},
		{100, 0, maxShards + 1, false},
		{maxKeptPacks - 100, 0, 100, true},
		{maxKeptPacks - 99, 0, 100, false},
		{1, MaxPacks - 201, 100, true},
		{1, MaxPacks - 200, 100, false},
	} {
		r := &Reader{packs: make([]*mapping, c.last)}
		for range c.packs {
			r.packs = append(r.packs, pack)
		}
		if got := CanKeep(r, c.shards); got != c.want {
			t.Errorf("CanKeep(%d packs behind %d numbers, %d shards) = %v, want %v", c.packs, c.last, c.shards, got, c.want)
		}
	}
}
