package pyliteral

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestAppendJSON(t *testing.T) {
	f := func(src, want string) {
		t.Helper()
		got, err := AppendJSON([]byte("x"), src)
		if err != nil || string(got) != "x"+want {
			t.Errorf("AppendJSON(%q) = %s, %v, want x%s", src, got, err, want)
		}
	}
	f(`[{'id': 16, 'name': 'Animation'}, {'id': 35, 'name': 'Comedy'}]`, `[{"id":16,"name":"Animation"},{"id":35,"name":"Comedy"}]`)
	f(`{'id': 1, 'poster_path': None, 'adult': False, 'video': True}`, `{"id":1,"poster_path":null,"adult":false,"video":true}`)
	f(`[]`, `[]`)
	f(" {\n} ", `{}`)
	f(`()`, `[]`)
	f(`(1,)`, `[1]`)
	f(`(1, (2, 3), [4,],)`, `[1,[2,3],[4]]`)
	f(`{'a': {'b': [{}]},}`, `{"a":{"b":[{}]}}`)
	f(`{1: 'a', -2: 'b', 'c' : 3}`, `{"1":"a","-2":"b","c":3}`)
	// Numbers.
	f(`[0, -1, 12345678901234567890123, 8.2e-05, 1e+16, -0.0, 7.5, 3L]`, `[0,-1,12345678901234567890123,8.2e-05,1e+16,-0.0,7.5,3]`)
	f(`[nan, inf, -inf, 1e400]`, `[null,null,null,null]`)
	// Texts.
	f(`"don't"`, `"don't"`)
	f(`'say "hi"'`, `"say \"hi\""`)
	f(`'both \' and "'`, `"both ' and \""`)
	f(`'\\ \n \r \t \a \b \f \v \000 \x7f \101'`, `"\\ \n \r \t \u0007 \b \f \u000b \u0000 `+"\x7f"+` A"`)
	f(`'\xa0\u2013\U0001f600'`, "\"\u00a0\u2013\U0001f600\"")
	f(`u'\ud83d\ude00'`, "\"\U0001f600\"")
	f(`{u'title': u'\xc9t\xe9'}`, `{"title":"Été"}`)
	f("'é 日本'", `"é 日本"`)
	f("''", `""`)
	f(strings.Repeat("[", MaxDepth)+strings.Repeat("]", MaxDepth), strings.Repeat("[", MaxDepth)+strings.Repeat("]", MaxDepth))
}

func TestAppendJSONRefuses(t *testing.T) {
	f := func(src string, off int, what string) {
		t.Helper()
		got, err := AppendJSON([]byte("x"), src)
		var se *SyntaxError
		if !errors.As(err, &se) || se.Off != off || se.What != what || string(got) != "x" {
			t.Errorf("AppendJSON(%q) = %s, %v, want x, offset %d: %s", src, got, err, off, what)
		}
	}
	f(``, 0, "want a value, found the end")
	f(`[1, 2`, 5, "want ',' or ']', found the end")
	f(`{'a': 1`, 7, "want ',' or '}', found the end")
	f(`{'a' 1}`, 5, "want ':', found '1'")
	f(`{'a': }`, 6, "want a value, found '}'")
	f(`{'a', 'b'}`, 4, "want ':', found ','")
	f(`{None: 1}`, 1, "want a text or an integer as key")
	f(`{1.5: 1}`, 1, "want a text or an integer as key")
	f(`{-inf: 1}`, 1, "want a text or an integer as key")
	f(`{(1,): 1}`, 1, "want a text or an integer as key")
	f(`[1] 2`, 4, "want the end, found '2'")
	f(`[1,,2]`, 3, "want a value, found ','")
	f(`(1)`, 2, "want ',', found ')'")
	f(`[1)`, 2, "want ',' or ']', found ')'")
	f(`'abc`, 0, "text without an end")
	f("'a\nb'", 2, "line break inside a text")
	f(`b'abc'`, 0, "want a value, found b")
	f(`true`, 0, "want a value, found true")
	f(`[null]`, 1, "want a value, found null")
	f(`datetime.date(1, 2, 3)`, 0, "want a value, found datetime.date")
	for _, number := range []string{"01", "1_000", "1.", ".5", "1e", "-", "1.5L", "L", "+1", "1-2"} {
		f(number, 0, "want a value, found "+number)
	}
	for _, escape := range []string{`\d`, `\N{DASH}`, `\x4`, `\u12`, `\u+123`, `\Uffffffff`, `\ud83d`, `\ud83d\u0041`, `\ude00\ud83d`, `\9`} {
		f("'"+escape+"'", 1, "unknown escape")
	}
	f("'a\xff'", 0, "text that is not UTF-8")
	f("\xff", 0, "want a value, found '�'")
	f(strings.Repeat("[", MaxDepth+1), MaxDepth, "more than 512 levels deep")
}

// repr writes a JSON value as Python does.
func repr(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case json.Number:
		return v.String()
	case string:
		return reprText(v)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = repr(v[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case pairs:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = reprText(v[i].key) + ": " + repr(v[i].value)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	panic(fmt.Sprintf("no repr of %T", v))
}

// pairs is an object in its order.
type pairs []struct {
	key   string
	value any
}

// reprText writes a text in single quotes, or in double ones where it has single ones
// only.
func reprText(s string) string {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	var b strings.Builder
	b.WriteRune(quote)
	for _, r := range s {
		switch {
		case r == quote || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == ' ' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteRune(quote)
	return b.String()
}

// jsonOf writes a value as JSON without blanks.
func jsonOf(v any) string {
	switch v := v.(type) {
	case string:
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(v) // a text
		return strings.TrimSuffix(b.String(), "\n")
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = jsonOf(v[i])
		}
		return "[" + strings.Join(parts, ",") + "]"
	case pairs:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = jsonOf(v[i].key) + ":" + jsonOf(v[i].value)
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	b, _ := json.Marshal(v) // null, a bool or a number
	return string(b)
}

// random returns a value of at most the given depth.
func random(r *rand.Rand, depth int) any {
	n := 5
	if depth > 0 {
		n = 8
	}
	switch r.IntN(n) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return json.Number(strconv.FormatInt(r.Int64()-r.Int64(), 10))
	case 3:
		f := strconv.FormatFloat(r.NormFloat64()*1e3, 'g', -1, 64)
		return json.Number(f)
	case 4:
		return randomText(r)
	case 5:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = random(r, depth-1)
		}
		return list
	default:
		object := make(pairs, r.IntN(4))
		for i := range object {
			object[i].key, object[i].value = randomText(r), random(r, depth-1)
		}
		return object
	}
}

func randomText(r *rand.Rand) string {
	alphabet := []rune("ab'\"\\\n\t\r\x00\x1b\x7f\u0080\u00a0\u00adé–\u2028日\ue000\U0001f600\U000e0001{}[]:,")
	out := make([]rune, r.IntN(8))
	for i := range out {
		out[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(out)
}

// TestRoundTrip: the repr of a value is that value.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		v := random(r, 4)
		got, err := AppendJSON(nil, repr(v))
		var same bool
		if err == nil {
			same = equalJSON(t, got, []byte(jsonOf(v)))
		}
		if !same {
			t.Fatalf("AppendJSON(%s) = %s, %v, want %s", repr(v), got, err, jsonOf(v))
		}
	}
}

// equalJSON compares two JSON texts but for how they escape.
func equalJSON(tb testing.TB, a, b []byte) bool {
	tb.Helper()
	return bytes.Equal(normal(tb, a), normal(tb, b))
}

func normal(tb testing.TB, text []byte) []byte {
	tb.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var out []byte
	for {
		tok, err := d.Token()
		if err != nil {
			if d.InputOffset() < int64(len(text)) {
				tb.Fatalf("%s: %v", text, err)
			}
			return out
		}
		out = fmt.Appendf(out, "%T %v\n", tok, tok)
	}
}

// FuzzAppendJSON: what is accepted is JSON, and one line of error what is not.
func FuzzAppendJSON(f *testing.F) {
	for _, s := range []string{
		`[{'id': 16, 'name': "don't"}]`, `{'a': None, 'b': (1,), 1: -1.5e-7}`, `u'\xe9\u2028\ud83d\ude00'`, `[nan, -inf, True]`, `'\N{X}'`, `{`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		got, err := AppendJSON(nil, src)
		if err != nil {
			var se *SyntaxError
			if !errors.As(err, &se) || se.Off < 0 || se.Off > len(src) || strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("AppendJSON(%q) = %v, want an offset in it and one line", src, err)
			}
			return
		}
		if !json.Valid(got) || !utf8.Valid(got) {
			t.Errorf("AppendJSON(%q) = %q, want valid JSON", src, got)
		}
	})
}
