package record

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

type testPage struct {
	Object `record:"drop-id"`
	Page   Int   `record:"page"`
	List   []row `record:"list"`
}

type row struct {
	Object
	ID   Int    `record:"id"`
	Path String `record:"path,null"`
}

type offers struct {
	Object
	Type String `record:"type,key"`
	Rows []row  `record:"rows"`
}

type country struct {
	Object
	Code   String   `record:"code,key"`
	Link   String   `record:"link"`
	Offers []offers `record:"*" column:"offers"`
}

type doc struct {
	Object
	Adult     Bool       `record:"adult"`
	Owner     *row       `record:"owner,null"`
	ID        Int        `record:"id"`
	Score     Float      `record:"score"`
	Path      String     `record:"path,null"`
	Tags      []string   `record:"tags"`
	Nums      []int64    `record:"nums"`
	Rows      []row      `record:"rows"`
	Value     Raw        `record:"value"`
	Countries []country  `record:"countries,keyed"`
	Pages     []testPage `record:"pages,pages"`
}

func TestRoundTrip(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		var d doc
		if err := NewParser().Parse(in, Of(&d)); err != nil {
			t.Errorf("Parse(%s): %v", in, err)
			return
		}
		if got := string(Append(nil, Of(&d))); got != want {
			t.Errorf("Append(Parse(%s)) = %s, want %s", in, got, want)
		}
	}
	same := func(in string) { t.Helper(); f(in, in) }

	same(`{}`)
	same(`{"adult":true,"owner":null,"id":1,"score":8.5,"path":"/a.jpg"}`)
	same(`{"owner":{"id":5,"path":null},"id":1}`)
	same(`{"adult":null,"id":1,"path":null}`)
	same(`{"tags":[],"nums":[],"rows":[]}`)
	same(`{"tags":null,"nums":null,"rows":null}`)
	same(`{"tags":["a","b"],"nums":[1,2],"rows":[{"id":1,"path":null},{"id":2,"path":"/b"},{"id":3}]}`)
	same(`{"value":{"a":[1,{"b":null}]}}`)
	same(`{"value":null}`)
	same(`{"countries":{}}`)
	same(`{"countries":{"US":{"link":"l","rent":[{"id":1}],"buy":[]},"CA":{}}}`)
	same(`{"pages":{"page":1,"list":[{"id":3}]}}`)
	same(`{"pages":[{"page":1},{"page":2}]}`)
	same(`{"id":1,"new":{"x":[1.50]},"other":"é\u0001\"\\/"}`)
	same(`{"rows":[{"id":1,"extra":1e3}]}`)

	f(`{"score":8,"id":1}`, `{"id":1,"score":8.0}`)                 // a fraction, and wire order
	f(`{"score":"8.25","nums":[1.0]}`, `{"score":8.25,"nums":[1]}`) // text numbers
	f(`{"pages":{"id":7,"page":1}}`, `{"pages":{"page":1}}`)        // the id of a standalone answer
	f(`{ "new" : { "x" : [ 1 , 2 ] } }`, `{"new":{"x":[1,2]}}`)     // unknown members are compact
	f(`{"new":{"x y":" z"} }`, `{"new":{"x y":" z"}}`)              // blanks in texts and after a value are not removed
	f(`{"countries":[]}`, `{"countries":{}}`)                       // an empty map written by PHP
}

func TestParseRefuses(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		var d doc
		err := NewParser().Parse(in, Of(&d))
		if err == nil || err.Error() != want {
			t.Errorf("Parse(%s) = %v, want %s", in, err, want)
		}
	}
	f(`{"id":"550"}`, `id: want an integer, found "550"`)
	f(`{"id":550.5}`, `id: want an integer, found 550.5`)
	f(`{"id":550.0}`, `id: want an integer, found 550.0`)
	f(`{"rows":[{"id":1},{"id":[]}]}`, `rows[1].id: want an integer, found an array`)
	f(`{"rows":[null]}`, `rows[0]: want an object, found null`)
	f(`{"rows":{}}`, `rows: want an array of objects, found an object`)
	f(`{"score":"high"}`, `score: want a number, found "high"`)
	f(`{"path":5}`, `path: want a string, found 5`)
	f(`{"adult":0}`, `adult: want true or false, found 0`)
	f(`{"tags":["a",1]}`, `tags[1]: want a string, found 1`)
	f(`{"countries":{"US":{"rent":[1]}}}`, `countries.US.rent[0]: want an object, found 1`)
	f(`{"path":"a\u0000"}`, `path: found U+0000, which no text has`)
	f(`{"tags":["a","\u0000"]}`, `tags[1]: found U+0000, which no text has`)
	f(`[]`, `want an object, found an array`)
}

func TestMend(t *testing.T) {
	f := func(in, want string, m Mended) {
		t.Helper()
		if got, n := MendJSON(nil, []byte(in)); string(got) != want || n != m {
			t.Errorf("MendJSON(%q) = %q, %+v, want %q, %+v", in, got, n, want, m)
		}
	}
	f(`{"a":NaN,"b":[Infinity,-Infinity,-1],"NaN":"NaN"}`, `{"a":null,"b":[null,null,-1],"NaN":"NaN"}`, Mended{Numbers: 3})
	f("{\"a\":\"x\x01\x1fy\t\",\t\"b\":1}", "{\"a\":\"xy\",\t\"b\":1}", Mended{Controls: 3})
	f(`"a\s \x41 \u12g4 \\s \" \n"`, `"a\\s \\x41 \\u12g4 \\s \" \n"`, Mended{Escapes: 3})
	f("\"\x00\"", "\"\x00\"", Mended{})
	f(`{"a\u0000b":"\u0000","c":"\\u0000"}`, `{"ab":"","c":"\\u0000"}`, Mended{Controls: 2})
}

func TestCounts(t *testing.T) {
	p := NewParser()
	var d doc
	sharedtest.NoError(t, p.Parse(`{"new":1,"rows":[{"x":1},{"x":2}],"score":"1"}`, Of(&d)))
	if p.Counts.Unknown["new"] != 1 || p.Counts.Unknown["rows[].x"] != 2 || p.Counts.Coerced["score"] != 1 {
		t.Errorf("Counts = %+v, want new 1, rows[].x 2, score 1", p.Counts)
	}
}

func TestAppendFloat(t *testing.T) {
	for in, want := range map[float64]string{8: "8.0", 0: "0.0", 8.438: "8.438", 0.6667: "0.6667", 1e21: "1000000000000000000000.0"} {
		if got := string(AppendFloat(nil, in)); got != want {
			t.Errorf("AppendFloat(%v) = %s, want %s", in, got, want)
		}
	}
}

func TestAppendString(t *testing.T) {
	in := "a\"b\\c\n\r\t\b\f\x01/&<é\u2028"
	want := `"a\"b\\c\n\r\t\b\f\u0001/&<é` + "\u2028" + `"`
	if got := string(AppendString(nil, in)); got != want {
		t.Errorf("AppendString = %s, want %s", got, want)
	}
	if strings.Contains(string(AppendString(nil, "plain")), `\`) {
		t.Error("AppendString escapes plain text")
	}
}

// TestManyUnknown: unknown members cost no more the more there are, and names that
// are data do not flood the counts.
func TestManyUnknown(t *testing.T) {
	const n = 500_000
	var b strings.Builder
	b.WriteString(`{"id":1`)
	for i := range n {
		fmt.Fprintf(&b, `,"m%d":{"x":1}`, i)
	}
	b.WriteString(`}`)
	var d doc
	p := NewParser()
	var err error
	sharedtest.Within(t, "Parse", func() { err = p.Parse(b.String(), Of(&d)) }) // quadratic: many minutes
	sharedtest.NoError(t, err)
	if got := string(Append(nil, Of(&d))); got != b.String() {
		t.Errorf("Append = %.60s..., %d bytes, want %d as they were read", got, len(got), b.Len())
	}
	c := p.Counts.Unknown
	if len(c) != MaxPaths+1 || c["m7"] != 1 || c[OtherPaths] != n-MaxPaths {
		t.Errorf("Unknown has %d paths, m7 %d, other %d, want %d, 1, %d", len(c), c["m7"], c[OtherPaths], MaxPaths+1, n-MaxPaths)
	}
}

// TestUnknownNested: the unknown members of an object stay with it, whatever comes
// before, inside and behind, and after a row that failed.
func TestUnknownNested(t *testing.T) {
	p := NewParser()
	f := func(in, want string) {
		t.Helper()
		var d doc
		if err := p.Parse(in, Of(&d)); err != nil {
			t.Fatalf("Parse(%s): %v", in, err)
		}
		if got := string(Append(nil, Of(&d))); got != want {
			t.Errorf("Parse(%s) = %s, want %s", in, got, want)
		}
	}
	f(`{"a":1,"owner":{"b":2,"path":null,"c":3},"d":4,"rows":[{"e":5,"path":null},{"path":null},{"path":null,"f":6}],"g":7}`,
		`{"owner":{"path":null,"b":2,"c":3},"rows":[{"path":null,"e":5},{"path":null},{"path":null,"f":6}],"a":1,"d":4,"g":7}`)
	if err := p.Parse(`{"a":1,"rows":[{"b":1,"id":"x"}]}`, Of(&doc{})); err == nil {
		t.Error("Parse of an id that is text = nil, want an error")
	}
	f(`{"owner":{"path":null},"z":1}`, `{"owner":{"path":null},"z":1}`)
	p.Columns = true
	f(`{"x":1,"_unusual":"owner,path","_extra":"\"y\":2","owner":{"_unusual":null,"_extra":"\"w\":4","v":5},"z":3}`,
		`{"owner":{"path":null,"w":4,"v":5},"x":1,"y":2,"z":3}`)
}

// TestBinaryForm: the bytes of the binary form are those of catalogues that there are. Where they
// have to change, catalog.FormatVersion does too.
func TestBinaryForm(t *testing.T) {
	in := `{"adult":true,"owner":{"id":1,"path":null},"id":-300,"score":8.5,"path":"p","tags":["a",""],"nums":[1,-2],` +
		`"rows":[{"id":2},{}],"value":[1],"countries":{"US":{"link":"l"}},"pages":[{"page":1},{"page":2}],"new":1}`
	const want = "ff0f0007226e6577223a310101000002d704000000000000214001700201610002020302010470617468000400047061746800035b315d01030000025553016c020100000201000004"
	var d doc
	sharedtest.NoError(t, NewParser().Parse(in, Of(&d)))
	if got := hex.EncodeToString(AppendBinary(nil, Of(&d))); got != want {
		t.Errorf("binary form = %s, want %s", got, want)
	}
}

func TestIsDay(t *testing.T) {
	for _, s := range []string{"1999-10-15", "2024-02-29", "0000-01-01"} {
		if !IsDay(s) {
			t.Errorf("IsDay(%q) = false, want true", s)
		}
	}
	for _, s := range []string{"", "1995-02-30", "1999", "1999-1-5", "15.10.1999", "1999-10-15T00:00:00Z", "1999-00-10", "1999-10-00", "1999-13-01", "1999-10-32", "1999/10/15", "199a-10-15"} {
		if IsDay(s) {
			t.Errorf("IsDay(%q) = true, want false", s)
		}
	}
}

// TestTMDB: rows as a crawler keeps them, and what becomes of them.

// TestShown: a value in a message is short, on one line and without characters that a terminal obeys.
func TestShown(t *testing.T) {
	for raw, want := range map[string]string{
		" Amélie\r\n2001 ":            "Amélie  2001",
		"a\x1b[2J\u202eb\u00a0c":      "a [2J b c",
		strings.Repeat("é", 31):       strings.Repeat("é", 30) + "...",
		"x" + strings.Repeat("é", 30): "x" + strings.Repeat("é", 29) + "...",
	} {
		if got := Shown(raw); got != want {
			t.Errorf("Shown(%q) = %q, want %q", raw, got, want)
		}
	}
}
