package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
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
	const want = "5-c9745ec43f469c50"
	if got := Fingerprint(); got != want {
		t.Errorf("the fingerprint of the record types is %s, want %s: if a record changed, raise FormatVersion, then set want", got, want)
	}
}

// writeGroups writes a file of two row groups: of two records, and of the others, copied from another
// file.
func writeGroups(t *testing.T, typ *Type, keys []string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(path string, keys []string, copied *File) {
		w, err := Create(path, typ)
		if err != nil {
			t.Fatal(err)
		}
		p := record.NewParser()
		for _, key := range keys {
			rec := typ.New()
			if err := p.Parse(`{`+key+`}`, rec); err != nil {
				t.Fatal(err)
			}
			if err := w.Write(rec); err != nil {
				t.Fatal(err)
			}
		}
		if copied != nil {
			if err := w.CopyGroup(copied, 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	write(dir+"/last", keys[2:], nil)
	last, err := OpenFile(dir+"/last", typ)
	if err != nil {
		t.Fatal(err)
	}
	defer last.Close()
	write(dir+"/all", keys[:2], last)
	return dir + "/all"
}

// TestFirstKeys: the keys by statistics are those of the records, of all forms of keys.
func TestFirstKeys(t *testing.T) {
	for kind, tt := range map[fragment.Kind]struct {
		keys  []string
		reads int // pages that are read for keys
	}{
		fragment.KindMovie:   {[]string{`"id":3`, `"id":7`, `"id":256`, `"id":70000`}, 0},
		fragment.KindReview:  {[]string{`"id":"0123456789abcdef01234567"`, `"id":"0123456789abcdef01234568"`, `"id":"9123456789abcdef01234567"`, `"id":"a123456789abcdef01234567"`}, 0},
		fragment.KindSeason:  {[]string{`"series_id":1,"season_number":4`, `"series_id":2,"season_number":1`, `"series_id":2,"season_number":5`, `"series_id":3,"season_number":0`}, 2},
		fragment.KindAccount: {[]string{`"id":1`, `"id":2`, `"id":5`, `"guest_session_id":"5a3b1f0e7c9d4e2f8a6b0c1d2e3f4a5b"`}, 2},
	} {
		typ := TypeOf(kind)
		path := writeGroups(t, typ, tt.keys)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r := &recordingReader{ReaderAt: bytes.NewReader(data)}
		f, err := typ.OpenAt(r, int64(len(data)), "s3://bucket/file")
		if err != nil {
			t.Fatal(err)
		}
		opened := r.n.Load()
		if opened > 3 {
			t.Errorf("%s: %d reads to open the file, want 3 at most", kind, opened)
		}
		got, err := f.FirstKeys()
		if err != nil {
			t.Fatal(err)
		}
		var want []Key
		for i := range f.RowGroups() {
			k, err := f.Keys(i, i+1).NextKey()
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, k)
		}
		if len(want) != 2 || !slices.Equal(got, want) {
			t.Errorf("%s: first keys are %v, want %v", kind, got, want)
		}
		r.n.Store(0)
		if _, err := f.FirstKeys(); err != nil || (r.n.Load() == 0) != (tt.reads == 0) {
			t.Errorf("%s: %d reads for the first keys of %d row groups that need pages (%v)", kind, r.n.Load(), tt.reads, err)
		}
	}
}

// A recordingReader counts reads.
type recordingReader struct {
	io.ReaderAt
	n atomic.Int64
}

func (r *recordingReader) ReadAt(p []byte, off int64) (int, error) {
	r.n.Add(1)
	return r.ReaderAt.ReadAt(p, off)
}
