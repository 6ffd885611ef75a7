package record

import (
	"encoding/json"
	"testing"
)

func TestCheckJSON(t *testing.T) {
	f := func(row, want string) {
		t.Helper()
		got := ""
		if f := CheckJSON([]byte(row), 512); f != nil {
			got = f.ReasonAt()
		}
		if got != want {
			t.Errorf("CheckJSON(%q) = %q, want %q", row, got, want)
		}
	}
	for _, ok := range []string{"{}", ` {"a":[]} `, `{"a":-0.5e+7,"b":[1,[2],{"c":{}}],"d":"\u00e9\n\/","a":null}`, `{"a":1e5}`, `{"a":0}`} {
		f(ok, "")
	}
	f("", "byte 0: unexpected end of JSON input")
	f("{", "byte 1: unexpected end of JSON input")
	f(`{"a"}`, "byte 4: invalid character '}' after object key")
	f(`{"a":1,}`, "byte 7: invalid character '}' looking for beginning of object key string")
	f(`{"a":[1,]}`, "byte 8: invalid character ']' looking for beginning of value")
	f(`{"a":01}`, "byte 6: invalid character '1' after object key:value pair")
	f(`{"a":-}`, "byte 6: invalid character '}' in numeric literal")
	f(`{"a":1.}`, "byte 7: invalid character '}' after decimal point in numeric literal")
	f(`{"a":1e}`, "byte 7: invalid character '}' in exponent of numeric literal")
	f(`{"a":NaN}`, "byte 5: invalid character 'N' looking for beginning of value")
	f(`{'a':1}`, `byte 1: invalid character '\'' looking for beginning of object key string`)
	f(`{"a":"\x"}`, "byte 7: invalid character 'x' in string escape code")
	f(`{"a":"\u12g4"}`, "byte 10: invalid character 'g' in \\u hexadecimal character escape")
	f(`{"a":"b\u0000"}`, "byte 7: found U+0000, which no text has")
	f(`{"\u0000":"\u0000"}`, "byte 2: found U+0000, which no text has")
	f(`{"a":"\u0000"`, "byte 13: unexpected end of JSON input")
	f("{\"a\":\"\t\"}", "byte 6: invalid character '\\t' in string literal")
	f(`{"a":1}}`, "byte 7: invalid character '}' after top-level value")
	f(`{"a":1]`, "byte 6: invalid character ']' after object key:value pair")
	f("{\"a\":é}", "byte 5: invalid character 'é' looking for beginning of value")
}

func FuzzCheckJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5e3,"\u00e9\\",true,false,null,{}]}`, `{"a" : 1}x`, "\x00", `[01]`, `{"a":"\ud800"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got := CheckJSON(b, 512)
		valid := json.Valid(b)
		if got == nil && !valid {
			t.Errorf("CheckJSON accepts %q", b)
		}
		if got != nil && got.Syntax && valid {
			t.Errorf("CheckJSON finds %s in %q, which is JSON", got.ReasonAt(), b)
		}
	})
}
