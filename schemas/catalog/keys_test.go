package catalog

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// someMovies returns movies of several row groups, with lists of any length.
func someMovies(r *rand.Rand, n int) []string {
	rows := make([]string, n)
	for i := range rows {
		genres := make([]string, r.IntN(4))
		for j := range genres {
			genres[j] = fmt.Sprintf(`{"id":%d,"name":"G%d"}`, j, r.IntN(5))
		}
		overview := strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(60_000))
		rows[i] = fmt.Sprintf(`{"id":%d,"title":"T%d","overview":%q,"genres":[%s]}`, i+1, i, overview, strings.Join(genres, ","))
	}
	return rows
}

// TestSkip: reading some records, and leaving out the others, gives those records.
func TestSkip(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	rows := someMovies(r, 900)
	path := writeMovies(t, rows)
	f, err := OpenFile(path, TypeOf(fragment.KindMovie))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.RowGroups() < 3 {
		t.Fatalf("%d row groups, want several", f.RowGroups())
	}
	p := record.NewParser()
	for _, most := range []int{2, 10, 700} {
		it := f.Groups(0, f.RowGroups())
		read := 0
		for at := r.IntN(most); at < len(rows); at += 1 + r.IntN(most) {
			if err := it.Skip(int64(at - read)); err != nil {
				t.Fatal(err)
			}
			var want, got Movie
			if err := p.Parse(rows[at], record.Of(&want)); err != nil {
				t.Fatal(err)
			}
			if err := it.Next(record.Of(&got)); err != nil {
				t.Fatalf("row %d: %v", at, err)
			}
			g, w := string(record.Append(nil, record.Of(&got))), string(record.Append(nil, record.Of(&want)))
			if g != w {
				t.Fatalf("row %d:\n got %.200s\nwant %.200s", at, g, w)
			}
			read = at + 1
		}
		if err := it.Skip(int64(len(rows) - read)); err != nil {
			t.Error(err)
		}
		if err := it.Next(record.Of(new(Movie))); !errors.Is(err, io.EOF) {
			t.Errorf("behind the last row: %v, want EOF", err)
		}
		if err := it.Skip(1); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("skip behind the last row: %v", err)
		}
		it.Close()
	}
}

// TestKeys: keys come in the order of the records.
func TestKeys(t *testing.T) {
	rows := someMovies(rand.New(rand.NewPCG(8, 8)), 600)
	f, err := OpenFile(writeMovies(t, rows), TypeOf(fragment.KindMovie))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	keys := f.Keys(0, f.RowGroups())
	defer keys.Close()
	for i := 0; ; i++ {
		k, err := keys.NextKey()
		if errors.Is(err, io.EOF) {
			if i != len(rows) {
				t.Errorf("%d keys of %d records", i, len(rows))
			}
			return
		}
		if err != nil || k != NumberKey(int64(i+1)) {
			t.Fatalf("key %d is %+v (%v)", i, k, err)
		}
	}
}

// TestFingerprint: readers know the columns of a file by its version, and sorted rows of a killed
// ingest have a binary form that follows the types.
func TestFingerprint(t *testing.T) {
	const want = "4-b2d336e763211e6b"
	if got := Fingerprint(); got != want {
		t.Errorf("the fingerprint of the record types is %s, want %s: if a record changed, raise FormatVersion, then set want", got, want)
	}
}
