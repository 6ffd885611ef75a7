package record

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// FuzzParse: text that is a JSON object is refused with a reason or becomes a record
// that is written as JSON again, says the same when it is read again, and survives the
// binary form. With Values no more is refused than without. Other text never gets beyond an error.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"adult":true,"owner":{"id":1,"path":null},"id":1,"score":8.5,"path":"\u00e9\ud83d\ude00\ud800","tags":["a"],"nums":[1,-2]}`,
		`{"value":{"a":[1,"\\\""]},"countries":{"US":{"link":"l","rent":[{"id":1}]}},"pages":[{"page":1},{"page":2}],"new":[ 1 ]}`,
		`{"_unusual":"owner","_extra":"\"a\":1","rows":"[{\"id\":1}]","nums":null}`,
		`{"id":1,"adult":"true","score":"x","path":7,"tags":[1,"a",{}],"nums":["1",2.5],"rows":[1,{"id":"x"}],"countries":{"US":1},"pages":[{},2],"owner":[]}`,
		`{"id":`, `{"path":"\`, `{"a":[}`,
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	check := func(t *testing.T, in string, columns bool, values *Values) {
		t.Helper()
		p := NewParser()
		p.Columns, p.Values = columns, values
		var d doc
		if err := p.Parse(in, Of(&d)); err != nil || !json.Valid([]byte(in)) {
			return
		}
		text := Append(nil, Of(&d))
		if !json.Valid(text) {
			t.Fatalf("Parse(%q) is written as %q, which is no JSON", in, text)
		}
		var again doc
		if err := NewParser().Parse(string(text), Of(&again)); err != nil {
			t.Fatalf("Parse(%q), as Parse(%q) is written: %v", text, in, err)
		}
		if got := Append(nil, Of(&again)); !bytes.Equal(got, text) {
			t.Fatalf("Parse(%q) is written as %q, read again as %q", in, text, got)
		}
		var decoded doc
		b := AppendBinary(nil, Of(&d))
		if err := DecodeBinary(string(b), Of(&decoded)); err != nil {
			t.Fatalf("DecodeBinary(AppendBinary(Parse(%q))): %v", in, err)
		}
		if got := Append(nil, Of(&decoded)); !bytes.Equal(got, text) {
			t.Fatalf("Parse(%q) is %q in binary form, want %q", in, got, text)
		}
		if got := AppendBinary(nil, Of(&decoded)); !bytes.Equal(got, b) {
			t.Fatalf("AppendBinary after DecodeBinary = %x, want %x", got, b)
		}
		if left := values.Take(); values != nil && NewParser().Parse(in, Of(&doc{})) == nil && !columns && len(left) > 0 {
			t.Fatalf("Parse(%q) leaves out %+v, and refuses nothing without Values", in, left)
		}
	}
	f.Fuzz(func(t *testing.T, in string, columns bool) {
		check(t, in, columns, nil)
		check(t, in, columns, &Values{})
	})
}

// FuzzMend: JSON is left as it is, and what was mended is not mended again.
func FuzzMend(f *testing.F) {
	for _, s := range []string{`{"a":NaN,"b":[-Infinity,Infinity,-1],"c":"NaN \s \u12 \\ \" \u00e9"}`, "\"a\x01b\tc\x00\"", `"\`, `N"I`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		mended, m := MendJSON(nil, b)
		if json.Valid(b) && (m != Mended{} || !bytes.Equal(mended, b)) {
			t.Errorf("MendJSON(%q) = %q, %+v, want it unchanged", b, mended, m)
		}
		if again, m := MendJSON(nil, mended); json.Valid(mended) && (m != Mended{} || !bytes.Equal(again, mended)) {
			t.Errorf("MendJSON(%q) = %q, %+v, want it unchanged", mended, again, m)
		}
	})
}

// FuzzDecodeBinary: bytes of any kind are refused or are a record.
func FuzzDecodeBinary(f *testing.F) {
	var d doc
	sharedtest.NoError(f, NewParser().Parse(`{"id":1,"owner":{"id":300},"tags":["a","b"],"rows":[{"id":1},{}],"countries":{"US":{"rent":[{}]}}}`, Of(&d)))
	f.Add(AppendBinary(nil, Of(&d)))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, b []byte) {
		var d doc
		if DecodeBinary(string(b), Of(&d)) != nil {
			return
		}
		first := AppendBinary(nil, Of(&d))
		var again doc
		if err := DecodeBinary(string(first), Of(&again)); err != nil {
			t.Fatalf("DecodeBinary(AppendBinary(DecodeBinary(%x))): %v", b, err)
		}
	})
}
