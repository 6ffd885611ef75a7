package catalog

import (
	"slices"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

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
		known bool // from statistics
	}{
		fragment.KindMovie:   {[]string{`"id":3`, `"id":7`, `"id":256`, `"id":70000`}, true},
		fragment.KindReview:  {[]string{`"id":"0123456789abcdef01234567"`, `"id":"0123456789abcdef01234568"`, `"id":"9123456789abcdef01234567"`, `"id":"a123456789abcdef01234567"`}, true},
		fragment.KindSeason:  {[]string{`"series_id":1,"season_number":4`, `"series_id":2,"season_number":1`, `"series_id":2,"season_number":5`, `"series_id":3,"season_number":0`}, false},
		fragment.KindAccount: {[]string{`"id":1`, `"id":2`, `"id":5`, `"guest_session_id":"5a3b1f0e7c9d4e2f8a6b0c1d2e3f4a5b"`}, false},
	} {
		typ := TypeOf(kind)
		f, err := OpenFile(writeGroups(t, typ, tt.keys), typ)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		got, err := f.FirstKeys()
		if err != nil {
			t.Fatal(err)
		}
		var want []Key
		p := record.NewParser()
		for i := 0; i < len(tt.keys); i += 2 { // groups of two records
			rec := typ.New()
			if err := p.Parse(`{`+tt.keys[i]+`}`, rec); err != nil {
				t.Fatal(err)
			}
			k, err := typ.Key(rec)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, k)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: first keys are %v, want %v", kind, got, want)
		}
		if _, known := f.lowestKey(0); known != tt.known {
			t.Errorf("%s: the statistics have the lowest key: %t, want %t", kind, known, tt.known)
		}
	}
}
