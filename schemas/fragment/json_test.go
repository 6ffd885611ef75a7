package fragment

import (
	"encoding/json"
	"testing"
)

func TestField(t *testing.T) {
	f := func(fields, name, want string, wantOK bool) {
		t.Helper()
		got, ok := Field([]byte(fields), name)
		if string(got) != want || ok != wantOK {
			t.Errorf("Field(%s, %s) = %q, %v, want %q, %v", fields, name, got, ok, want, wantOK)
		}
	}
	const fields = `"a":1,"b":[{"c":"]"},"}"],"d":{"e":2},"f":"\"g\\","h":null`
	f(fields, "a", "1", true)
	f(fields, "b", `[{"c":"]"},"}"]`, true)
	f(fields, "d", `{"e":2}`, true)
	f(fields, "f", `"\"g\\"`, true)
	f(fields, "h", "null", true)
	f(fields+"}", "h", "null", true)
	f(fields, "e", "", true) // not of the object itself
	f("", "a", "", true)
	f("}", "a", "", true)
	// Damaged text.
	f("x", "a", "", false)
	f(`"a"`, "a", "", false)
	f(`"a":`, "a", "", false)
	f(`"a":[`, "a", "", false)
	f(`"a":"`, "a", "", false)
	f(`"b":[1],x`, "a", "", false)
}

// FuzzField: a field of valid JSON is a value, and other text does not panic.
func FuzzField(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":[{"c":"]"}],"d":"\\\""}`), "b")
	f.Add([]byte("{\"a\":1,\"b\":\n[{\"c\":\"]\"}]}"), "b")
	f.Fuzz(func(t *testing.T, object []byte, name string) {
		if len(object) == 0 {
			return
		}
		got, ok := Field(object[1:], name)
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(`{"a":`+string(got)+`}`), &want) != nil && ok && got != nil && json.Valid(object) && object[0] == '{' {
			t.Errorf("Field(%s, %s) = %s, which is no value", object, name, got)
		}
	})
}
