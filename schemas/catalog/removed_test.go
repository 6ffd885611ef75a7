package catalog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// someText returns the nth text id.
func someText(t *testing.T, n int) Key {
	t.Helper()
	k, ok := TextKey(fmt.Sprintf("52fe4250c3a36847f80%05x", n))
	if !ok {
		t.Fatal("no text id")
	}
	return k
}

// someRemoved has what can be removed: all forms of keys, deleted and merged.
func someRemoved(t *testing.T) []Removed {
	t.Helper()
	return []Removed{
		{Kind: fragment.KindMovie, Key: NumberKey(1)},
		{Kind: fragment.KindMovie, Key: NumberKey(2), Into: NumberKey(550), Merged: true},
		{Kind: fragment.KindTV, Key: NumberKey(1399)},
		{Kind: fragment.KindSeason, Key: SeasonKey(7, 0), Into: SeasonKey(8, 2), Merged: true},
		{Kind: fragment.KindEpisode, Key: EpisodeKey(9, 0, 0)},
		{Kind: fragment.KindEpisode, Key: EpisodeKey(9, 1, 3), Into: EpisodeKey(9, 1, 4), Merged: true},
		{Kind: fragment.KindPerson, Key: NumberKey(3)},
		{Kind: fragment.KindReview, Key: someText(t, 1), Into: someText(t, 2), Merged: true},
		{Kind: fragment.KindCredit, Key: someText(t, 3)},
	}
}

func TestRemovedRoundTrip(t *testing.T) {
	dir, want := t.TempDir(), someRemoved(t)
	sharedtest.NoError(t, WriteRemoved(dir, want))
	got, err := ReadRemoved(dir)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("ReadRemoved() = %v, %v, want %v", got, err, want)
	}
	if got, err := ReadRemoved(t.TempDir()); err != nil || got != nil {
		t.Errorf("ReadRemoved() without a file = %v, %v, want nothing", got, err)
	}
}

// TestRemovedMany crosses the batches in which rows are written.
func TestRemovedMany(t *testing.T) {
	dir := t.TempDir()
	want := make([]Removed, 3079)
	for i := range want {
		want[i] = Removed{Kind: fragment.KindMovie, Key: NumberKey(int64(2 * i))}
		if i%3 == 0 {
			want[i].Into, want[i].Merged = NumberKey(int64(2*i+1)), true
		}
	}
	sharedtest.NoError(t, WriteRemoved(dir, want))
	if got, err := ReadRemoved(dir); err != nil || !slices.Equal(got, want) {
		t.Errorf("ReadRemoved() = %d removals, %v, want the %d written", len(got), err, len(want))
	}
}

func TestReadRemovedRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, RemovedFile)
	g := func(want string) {
		t.Helper()
		_, err := ReadRemoved(dir)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("ReadRemoved() = %v, want an error that names the file, with %q", err, want)
		}
	}
	row := func(kind, key string) removedRow { return removedRow{Kind: record.Text(kind), Key: record.Text(key)} }
	f := func(want string, row2 removedRow) {
		t.Helper()
		row1 := row("movie", "1")
		sharedtest.NoError(t, create(t, path, removedType, record.Of(&row1), record.Of(&row2)).Commit())
		g("row 2: " + want)
	}
	into := func(r removedRow, key string) removedRow {
		r.MergedInto = record.Text(key)
		return r
	}
	f(`kind is "film", want the kind of a record, such as movie`, row("film", "2"))
	f(`"" is not the key of a movie`, removedRow{Kind: record.Text("movie")})
	f(`"2/1" is not the key of a movie`, row("movie", "2/1"))
	f(`"-1" is not the key of a movie`, row("movie", "-1"))
	f(`"9223372036854775808" is not the key of a movie`, row("movie", "9223372036854775808"))
	f(`"2" is not the key of a season`, row("season", "2"))
	f(`"2/5000000000" is not the key of a season`, row("season", "2/5000000000"))
	f(`"12" is not the key of a review`, row("review", "12"))
	f(`"2/2" is not the key of a movie`, into(row("movie", "2"), "2/2"))
	f("movie 2 is merged into itself", into(row("movie", "2"), "2"))
	f("movie 1, deleted: not in order after movie 1, deleted", row("movie", "1"))

	sharedtest.NoError(t, create(t, path, TypeOf(fragment.KindMovie)).Commit())
	g(`holds "movie", want "removed"`)
	sharedtest.NoError(t, os.WriteFile(path, []byte("PAR1"), 0o600))
	g("not a readable Parquet file")
}

// FuzzReadRemoved flips one byte of a sound file: it is read or refused, no more.
func FuzzReadRemoved(f *testing.F) {
	if raceDetector {
		f.Skip("the race detector ends the process where the library panics")
	}
	dir := f.TempDir()
	sharedtest.NoError(f, WriteRemoved(dir, []Removed{{Kind: fragment.KindMovie, Key: NumberKey(1)}, {Kind: fragment.KindTV, Key: NumberKey(2), Into: NumberKey(3), Merged: true}}))
	sound, err := os.ReadFile(filepath.Join(dir, RemovedFile))
	sharedtest.NoError(f, err)
	for i := 0; i < len(sound); i += 5 {
		f.Add(i, byte(1<<(i%8)))
	}
	f.Fuzz(func(t *testing.T, off int, mask byte) {
		if off < 0 || off >= len(sound) {
			t.Skip()
		}
		broken := bytes.Clone(sound)
		broken[off] ^= mask
		dir := t.TempDir()
		sharedtest.NoError(t, os.WriteFile(filepath.Join(dir, RemovedFile), broken, 0o600))
		if _, err := ReadRemoved(dir); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("ReadRemoved() = %q, want one line", err)
		}
	})
}

func TestRemovedSet(t *testing.T) {
	s := RemovedSet(someRemoved(t))
	for _, c := range []struct {
		kind fragment.Kind
		key  Key
		want bool
	}{
		{fragment.KindMovie, NumberKey(1), true},
		{fragment.KindMovie, NumberKey(3), false},
		{fragment.KindPerson, NumberKey(1), false},
		{fragment.KindTV, NumberKey(1399), true},
		{fragment.KindSeason, SeasonKey(1399, 4), true},
		{fragment.KindEpisode, EpisodeKey(1399, 4, 2), true},
		{fragment.KindTV, NumberKey(7), false},
		{fragment.KindSeason, SeasonKey(7, 0), true},
		{fragment.KindSeason, SeasonKey(7, 1), false},
		{fragment.KindEpisode, EpisodeKey(7, 0, 5), true},
		{fragment.KindEpisode, EpisodeKey(7, 1, 5), false},
		{fragment.KindEpisode, EpisodeKey(9, 1, 3), true},
		{fragment.KindEpisode, EpisodeKey(9, 1, 4), false},
		{fragment.KindSeason, SeasonKey(9, 1), false},
		{fragment.KindReview, someText(t, 1), true},
		{fragment.KindReview, someText(t, 2), false},
	} {
		if got := s.Has(c.kind, c.key); got != c.want {
			t.Errorf("Has(%s) = %v, want %v", c.key.Describe(c.kind), got, c.want)
		}
	}
	if r, ok := s.find(fragment.KindMovie, NumberKey(2)); !ok || r.Into != NumberKey(550) {
		t.Errorf("find(movie 2) = %v, %v, want merged into movie 550", r, ok)
	}
	for _, none := range []RemovedSet{nil, {}} {
		if none.Has(fragment.KindMovie, Key{}) {
			t.Error("an empty set has something")
		}
	}
}
