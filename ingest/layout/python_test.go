package layout

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAppendPython(t *testing.T) {
	f := func(src, want string) {
		t.Helper()
		got, err := appendPython([]byte("x"), src)
		if err != nil || string(got) != "x"+want {
			t.Errorf("appendPython(%q) = %s, %v, want x%s", src, got, err, want)
		}
	}
	f(`[{'id': 16, 'name': 'Animation'}, {'id': 35, 'name': 'Comedy'}]`, `[{"id":16,"name":"Animation"},{"id":35,"name":"Comedy"}]`)
	f(`{'id': 1, 'poster_path': None, 'adult': False, 'video': True}`, `{"id":1,"poster_path":null,"adult":false,"video":true}`)
	f(" {\n} ", `{}`)
	f(`(1, (), (2, 3), [4,],)`, `[1,[],[2,3],[4]]`)
	f(`{1: 'a', -2: 'b', 'c' : {'d': [{}]},}`, `{"1":"a","-2":"b","c":{"d":[{}]}}`)
	f(`[0, -1, 12345678901234567890123, 8.2e-05, 1e+16, -0.0, 7.5, 3L, nan, -inf]`, `[0,-1,12345678901234567890123,8.2e-05,1e+16,-0.0,7.5,3,null,null]`)
	f(`["don't", 'say "hi"', 'both \' and "', u'\xc9t\xe9', 'é 日本', '']`, `["don't","say \"hi\"","both ' and \"","Été","é 日本",""]`)
	f(`'\\ \" \n \r \t \x07 \x00 \x7f \xa0\u2013\U0001f600'`, `"\\ \" \n \r \t \u0007 \u0000 `+"\x7f \u00a0\u2013\U0001f600\"")

	for _, src := range []string{
		``, `[1, 2`, `{'a': 1`, `{'a' 1}`, `{'a': }`, `{'a', 'b'}`, `{None 1}`, `[1] 2`, `[1,,2]`, `[1,,]`, `[,]`, `{,}`, `'abc`, `'abc\`, `b'abc'`, `'\ud83d'`,
		`datetime.date(1, 2, 3)`, `01`, `1_000`, `1.`, `.5`, `1e`, `-`, `L`, `+1`, `1-2`, `'\d'`, `'\N{DASH}'`, `'\x4'`, `'\Uffffffff'`, `null: 1`, `None: 1`,
	} {
		if got, err := appendPython([]byte("x"), src); err == nil || string(got) != "x" {
			t.Errorf("appendPython(%q) = %s, %v, want x and an error", src, got, err)
		}
	}
}

// FuzzAppendPython: the result is JSON, or an error of one line.
func FuzzAppendPython(f *testing.F) {
	for _, s := range []string{
		`[{'id': 16, 'name': "don't"}]`, `{'a': None, 'b': (1,), 1: -1.5e-7}`, `u'\xe9\u2028'`, `[nan, -inf, True]`, `'\N{X}'`, `{`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if !utf8.ValidString(src) { // rows are valid UTF-8
			return
		}
		got, err := appendPython(nil, src)
		if err != nil && strings.ContainsAny(err.Error(), "\n\r") || err == nil && !json.Valid(got) {
			t.Errorf("appendPython(%q) = %q, %v, want valid JSON or one line of error", src, got, err)
		}
	})
}
