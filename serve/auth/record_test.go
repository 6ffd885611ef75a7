package auth

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

const (
	hashA = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // SHA-256 of "abc"
	hashB = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // SHA-256 of ""
)

// placeless returns records without their places in a file.
func placeless(recs []Record) []Record {
	recs = slices.Clone(recs)
	for i := range recs {
		recs[i].line, recs[i].end = 0, 0
	}
	return recs
}

func TestParseFile(t *testing.T) {
	const text = "# a comment\n" +
		"\n" +
		" \t\n" +
		"  # another\r\n" +
		hashA + "\tname=web app=1\tscopes=read\tcreated=2026-01-02T03:04:05Z\texpires=2027-01-02T03:04:05.9+01:00\r\n" +
		hashB + "\texpires=never\tname=old\tscopes=read,account:548,account:5f00000000000000000000aa\trate=40\tburst=80\tconcurrent=20\trevoked=2026-02-02T03:04:05Z\n"
	recs, err := parse("tokens.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []Record{
		{
			Hash: HashToken([]byte("abc")), Name: "web app=1",
			Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Expires: time.Date(2027, 1, 2, 2, 4, 5, 0, time.UTC), Scopes: "read",
		},
		{
			Hash: HashToken(nil), Name: "old", Revoked: time.Date(2026, 2, 2, 3, 4, 5, 0, time.UTC),
			Scopes: "read,account:548,account:5f00000000000000000000aa", Limits: Limits{Rate: 40, Burst: 80, Concurrent: 20},
		},
	}
	if !slices.Equal(placeless(recs), want) {
		t.Errorf("parse() = %+v, want %+v", recs, want)
	}
}

func TestParseFileRefuses(t *testing.T) {
	hashes := strings.NewReplacer("<a>", hashA, "<b>", hashB, "<A>", strings.ToUpper(hashA), "<a63>", hashA[:63])
	sharedtest.Cases(t, "testdata/refused.txt", func(text string) string {
		recs, err := parse("tokens.txt", []byte(hashes.Replace(text)))
		if err == nil {
			return fmt.Sprintf("%+v", recs)
		}
		return err.Error()
	})
}

// TestVoid: a word of a later version in a line makes that token void and no other. A slip of the pen cannot turn a
// revoked token into a good one.
func TestVoid(t *testing.T) {
	const line = hashA + "\tname=a"
	sharedtest.Cases(t, "testdata/void.txt", func(fields string) string {
		recs, err := parse("tokens.txt", []byte(line+"\t"+fields+"\n"+hashB+"\tname=b\n"))
		if err != nil || len(recs) != 2 || recs[1].Void != "" {
			return fmt.Sprintf("%+v, %v", recs, err)
		}
		table := NewTable(recs)
		if got := table.Check(recs[0].Kind, []byte("abc"), testNow.Unix()); got != (Result{Reason: Void, Name: "a"}) {
			t.Errorf("%q: Check = %+v, want it void", fields, got)
		}
		if ids, all := recs[0].Scopes.Accounts(); ids != nil || all {
			t.Errorf("%q: the scopes are %v, %v, want none", fields, ids, all)
		}
		if n := table.Active(testNow.Unix()); n != 1 {
			t.Errorf("%q: %d tokens are active, want 1", fields, n)
		}
		if err := table.Void(); err == nil || err.Error() != `token "a" is void: `+recs[0].Void {
			t.Errorf("%q: Void = %v", fields, err)
		}
		return recs[0].Void
	})

	// A revoked token needs no warning; many have a short one.
	recs, err := parse("tokens.txt", []byte(line+"\tquota=5\trevoked=2026-01-02T03:04:05Z\n"))
	if err != nil || NewTable(recs).Void() != nil || NewTable(recs).Check(KindToken, []byte("abc"), testNow.Unix()).Reason != Revoked {
		t.Errorf("a void token that is revoked: %+v, %v, %v", recs, err, NewTable(recs).Void())
	}
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "%064x\tname=%d\tquota=5\n", i, i)
	}
	if recs, err = parse("tokens.txt", []byte(many.String())); err != nil {
		t.Fatal(err)
	}
	if err := NewTable(recs).Void(); !strings.Contains(err.Error(), "; 999 more tokens are void") || strings.Contains(err.Error(), "\n") || len(err.Error()) > 2<<10 {
		t.Errorf("Void = %v", err)
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte(fileHeader + hashA + "\tname=a\tscopes=read\tcreated=2026-01-02T03:04:05Z\texpires=never\n"))
	f.Add([]byte(hashA + "\tname=a\trevoked=2026-01-02T03:04:05+01:00\r\n" + hashB + "\tname=a\texpires=2026-01-02T03:04:05.5Z"))
	f.Add([]byte("\n#\n \t# x\n" + hashA + "\tname=\n"))
	f.Add([]byte("# no token\n"))
	f.Add([]byte(hashA + "\tname=a\tquota=1\n" + hashB + "\tname=b\tscopes=all\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		recs, err := parse("tokens.txt", data)
		if err != nil {
			return
		}
		out := []byte("#\n") // an empty file is refused
		recs = slices.DeleteFunc(recs, func(r Record) bool { return r.Void != "" })
		for i := range recs {
			out = appendRecord(out, &recs[i])
		}
		again, err := parse("written", out)
		if err != nil || !slices.Equal(placeless(again), placeless(recs)) {
			t.Fatalf("parse(%q) = %+v, written back as %q it gives %+v, %v", data, recs, out, again, err)
		}
		NewTable(recs)
	})
}
