package auth

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
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
	f := func(text, want string) {
		t.Helper()
		_, err := parse("tokens.txt", []byte(text))
		if err == nil || err.Error() != want {
			t.Errorf("parse(%.200q) = %v, want %s", text, err, want)
		}
	}
	line := hashA + "\tname=a"
	const wantHash = "want 64 hex digits (the SHA-256 of the token, not the token) followed by a tab"
	// The hash; what stands there may be a token, so no message repeats it.
	f("abc\tname=a\n", "tokens.txt:1: hash: 3 bytes: "+wantHash)
	f(hashA+"0\tname=a\n", "tokens.txt:1: hash: 65 bytes: "+wantHash)
	f(hashA+" name=a\n", "tokens.txt:1: hash: 71 bytes: "+wantHash)
	f(hashA[:63]+"x\tname=a\n", "tokens.txt:1: hash: not hex: "+wantHash)
	// Fields.
	f("#\n\n"+line+"\texpires=tomorrow\n", `tokens.txt:3: field "expires": "tomorrow": want RFC 3339 time or "never"`)
	f(line+"\tcreated=never\n", `tokens.txt:1: field "created": "never": want RFC 3339 time`)
	f(line+"\trevoked=\n", `tokens.txt:1: field "revoked": "": want RFC 3339 time`)
	for _, n := range []string{"0", "-1", "1.5", "", "many"} {
		f(line+"\trate="+n+"\n", fmt.Sprintf(`tokens.txt:1: field "rate": %q: want a number of 1 or more`, n))
	}
	f(line+"\tconcurrent=1000001\n", "tokens.txt:1: rate, burst and concurrent are 0, 0 and 1000001: want 0 to 1000000")
	f(line+"\tburst=2\n", "tokens.txt:1: burst is 2 without a rate: want both")
	f(line+"\tkind=session\taccount=1\trate=2\n", "tokens.txt:1: a session has scopes or limits: want them of the token that is sent with it")
	f(line+"\tkind=guest\taccount=1\tscopes=read\n", "tokens.txt:1: a guest has scopes or limits: want them of the token that is sent with it")
	f(line+"\trevoked\n", `tokens.txt:1: field number 3: no "=": want key=value`)
	f(line+"\t\n", `tokens.txt:1: field number 3: no "=": want key=value`)
	f(line+"\tname=b\n", `tokens.txt:1: field "name": "b": given twice: want it once`)
	f(hashA+"\n", `tokens.txt:1: field "name": missing: want name=... after the hash and a tab`)
	// Names.
	f(hashA+"\tname=\n", `tokens.txt:1: field "name": "": want 1 to 128 bytes`)
	f(hashA+"\tname= a\n", `tokens.txt:1: field "name": " a": want printable characters without blanks at the ends`)
	f(hashA+"\tname=a\x1b[2J\n", `tokens.txt:1: field "name": "a\x1b[2J": want printable characters without blanks at the ends`)
	f(hashA+"\tname=a\xff\n", `tokens.txt:1: field "name": "a\xff": want printable characters without blanks at the ends`)
	// Times that would read back as none at all, or not be written back.
	f(line+"\texpires=0001-01-01T00:00:00Z\n", `tokens.txt:1: field "expires": "0001-01-01T00:00:00Z": want RFC 3339 time or "never"`)
	f(line+"\trevoked=0001-01-01T00:00:00Z\n", `tokens.txt:1: field "revoked": "0001-01-01T00:00:00Z": want RFC 3339 time`)
	f(line+"\texpires=9999-12-31T23:59:59-01:00\n", `tokens.txt:1: field "expires": "9999-12-31T23:59:59-01:00": want RFC 3339 time or "never"`)
	// Sessions.
	f(line+"\tkind=session\n", `tokens.txt:1: field "account": missing: want account=... of a session`)
	f(line+"\taccount=bob\n", `tokens.txt:1: field "account": "bob": want the number of an account, its 24 hex digits, or the 32 of a guest's session`)
	// What may occur once only.
	f(line+"\n"+line+"2\n", "tokens.txt:2: hash: already on line 1: want each token once")
	f(strings.ToUpper(hashA)+"\tname=a\n"+hashA+"\tname=b\n", "tokens.txt:2: hash: already on line 1: want each token once")
	f(line+"\n"+hashB+"\tname=a\n", `tokens.txt:2: field "name": "a": already on line 1: want a name unique among unrevoked tokens`)
	// Limits.
	f("#"+strings.Repeat("x", maxLine)+"\n", "tokens.txt:1: line of 4097 bytes: want at most 4096")
}

// TestVoid: a word of a later version in a line makes that token void and no other. A slip of the pen cannot turn a
// revoked token into a good one.
func TestVoid(t *testing.T) {
	const (
		line       = hashA + "\tname=a"
		wantFields = `unknown: want name, kind, account, scopes, rate, burst, concurrent, created, expires or revoked`
		wantScope  = "want all, read, or account: with the number of an account or its hex digits"
	)
	for fields, void := range map[string]string{
		"quota=5":                     `field "quota": ` + wantFields,
		"Expires=never":               `field "Expires": ` + wantFields,
		"revoke=2026-01-02T03:04:05Z": `field "revoke": ` + wantFields,
		"\x1b[2J=1":                   `field "\x1b[2J": ` + wantFields,
		"=":                           `field "": ` + wantFields,
		"kind=robot\trate=2":          `field "kind": "robot": want token, session or guest`,
		"kind=session\tquota=5":       `field "quota": ` + wantFields, // what else a session needs is unknown then
		"burst=5\tper=minute":         `field "per": ` + wantFields,
		"scopes=":                     `field "scopes": "": ` + wantScope,
		"scopes=read,write":           `field "scopes": "read,write": ` + wantScope,
		"scopes=read,":                `field "scopes": "read,": ` + wantScope,
		"scopes=read,all":             `field "scopes": "read,all": ` + wantScope,
		"scopes=account:":             `field "scopes": "account:": ` + wantScope,
		"scopes=account:x":            `field "scopes": "account:x": ` + wantScope,
		"scopes=Read":                 `field "scopes": "Read": ` + wantScope,
	} {
		recs, err := parse("tokens.txt", []byte(line+"\t"+fields+"\n"+hashB+"\tname=b\n"))
		if err != nil || len(recs) != 2 || recs[0].Void != void || recs[1].Void != "" {
			t.Errorf("parse(%q) = %+v, %v, want a void token: %s", fields, recs, err, void)
			continue
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
		if err := table.Void(); err == nil || err.Error() != `token "a" is void: `+void {
			t.Errorf("%q: Void = %v", fields, err)
		}
	}

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
