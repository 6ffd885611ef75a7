package catalog

import (
	"errors"
	"slices"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestFingerprint: readers know the columns of a file by its version, and sorted rows of a killed
// ingest have a binary form that follows the types.
func TestFingerprint(t *testing.T) {
	const want = "5-c9745ec43f469c50"
	if got := Fingerprint(); got != want {
		t.Errorf("the fingerprint of the record types is %s, want %s: if a record changed, raise FormatVersion, then set want", got, want)
	}
}

// writeGroups writes a file of two row groups: of two records, and of the others, copied from another file.
func writeGroups(t *testing.T, typ *Type, records []record.Record) string {
	t.Helper()
	dir := t.TempDir()
	sharedtest.NoError(t, create(t, dir+"/last", typ, records[2:]...).Commit())
	last, err := OpenFile(dir+"/last", typ)
	sharedtest.NoError(t, err)
	defer last.Close()
	w := create(t, dir+"/all", typ, records[:2]...)
	sharedtest.NoError(t, errors.Join(w.CopyGroup(last, 0), w.Commit()))
	return dir + "/all"
}

// TestFirstKeys: the keys by statistics are those of the records, of all forms of keys.
func TestFirstKeys(t *testing.T) {
	for kind, tt := range map[fragment.Kind]struct {
		rows  []string
		known bool // from statistics
	}{
		fragment.KindMovie:   {[]string{`{"id":3}`, `{"id":7}`, `{"id":256}`, `{"id":70000}`}, true},
		fragment.KindReview:  {[]string{`{"id":"0123456789abcdef01234567"}`, `{"id":"0123456789abcdef01234568"}`, `{"id":"9123456789abcdef01234567"}`, `{"id":"a123456789abcdef01234567"}`}, true},
		fragment.KindSeason:  {[]string{`{"series_id":1,"season_number":4}`, `{"series_id":2,"season_number":1}`, `{"series_id":2,"season_number":5}`, `{"series_id":3,"season_number":0}`}, false},
		fragment.KindAccount: {[]string{`{"id":1}`, `{"id":2}`, `{"id":5}`, `{"guest_session_id":"5a3b1f0e7c9d4e2f8a6b0c1d2e3f4a5b"}`}, false},
	} {
		typ := TypeOf(kind)
		var want []Key
		records := parsed(t, typ, tt.rows...)
		for i := 0; i < len(records); i += 2 { // groups of two records
			want = append(want, keyOf(t, typ, records[i]))
		}
		f, err := OpenFile(writeGroups(t, typ, records), typ)
		sharedtest.NoError(t, err)
		defer f.Close()
		got, err := f.FirstKeys()
		sharedtest.NoError(t, err)
		if !slices.Equal(got, want) {
			t.Errorf("%s: first keys are %v, want %v", kind, got, want)
		}
		if _, known := f.lowestKey(0); known != tt.known {
			t.Errorf("%s: the statistics have the lowest key: %t, want %t", kind, known, tt.known)
		}
	}
}
