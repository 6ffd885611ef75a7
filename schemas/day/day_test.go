package day

import (
	"encoding/json"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Day{
		"1970-01-01": 0, "1969-12-31": -1, "2026-11-22": 20779, "1999-10-15T00:00:00.000Z": 10879, "2026-11-22 10:00:00": 20779, "9999-12-31": 2932896,
	} {
		if got, ok := Parse(text); !ok || got != want || got.String() != text[:10] || string(got.AppendTo(nil)) != text[:10] {
			t.Errorf("Parse(%s) = %d, %t, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "2026", "2026-02-30", "x", "2026-11-22x", "20261-11-22"} {
		if got, ok := Parse([]byte(text)); ok {
			t.Errorf("Parse(%q) = %d, want none", text, got)
		}
	}
}

func TestOf(t *testing.T) {
	late := time.Date(2026, 11, 22, 23, 30, 0, 0, time.FixedZone("", -8*60*60))
	if Of(late) != 20779 || Of(late.UTC()) != 20780 {
		t.Errorf("Of = %d and %d, want the day in the time's own zone", Of(late), Of(late.UTC()))
	}
	if First(2026).String() != "2026-01-01" || (First(2027)-1).Year() != 2026 || Day(-1).Year() != 1969 {
		t.Error("First and Year disagree")
	}
}

func TestText(t *testing.T) {
	type held struct{ Day Day }
	for text, want := range map[string]Day{`{"Day":"2026-11-22"}`: 20779, `{"Day":""}`: 0} {
		var got held
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Day != want {
			t.Errorf("%s: %d, %v, want %d", text, got.Day, err, want)
		}
		if out, err := json.Marshal(got); err != nil || string(out) != text {
			t.Errorf("Marshal = %s, %v, want %s", out, err, text)
		}
	}
	if err := json.Unmarshal([]byte(`{"Day":"22.11.2026"}`), &held{}); err == nil {
		t.Error("no error for 22.11.2026")
	}
}
