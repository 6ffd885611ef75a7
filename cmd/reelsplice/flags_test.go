package main

import (
	"errors"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/release/check"
)

func TestBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "1048576": 1 << 20, "512MiB": 512 << 20, "2GiB": 2 << 30, "1GB": 1e9, "1.5KiB": 1536,
		"3kb": 3000, "2G": 2 << 30, "7 MiB": 7 << 20, "12B": 12, "1TiB": 1 << 40,
	} {
		var n, back int64
		if err := (bytesFlag[int64]{&n}).Set(text); err != nil || n != want {
			t.Errorf("Set(%q) = %d, %v, want %d", text, n, err, want)
		}
		if err := (bytesFlag[int64]{&back}).Set(bytesFlag[int64]{&n}.String()); err != nil || back != n {
			t.Errorf("Set(%q) = %d, %v, want %d", bytesFlag[int64]{&n}, back, err, n)
		}
	}
	for _, text := range []string{"", "MiB", "x", "-1", "1XiB", "1e30", "NaN", "9999999TiB", "0x10"} {
		n := 7
		if err := (bytesFlag[int]{&n}).Set(text); err == nil || n != 7 {
			t.Errorf("Set(%q) = %d, %v, want an error and no change", text, n, err)
		}
	}
}

func TestSubset(t *testing.T) {
	for _, text := range []string{"1", "0/3", "4/3", "1/", "/3", "1/3x", "a/b", "-1/3"} {
		if part, err := parseSubset(text); err == nil {
			t.Errorf("parseSubset(%q) = %v, want an error", text, part)
		}
	}
	if part, err := parseSubset("2/3"); err != nil || part != (check.Options{Subset: 2, Of: 3}) {
		t.Errorf("parseSubset(2/3) = %v, %v", part, err)
	}
}

func TestExpiry(t *testing.T) {
	now := time.Date(2026, 8, 1, 12, 0, 0, 5, time.UTC)
	for text, want := range map[string]time.Time{
		"never":                     {},
		"720h":                      time.Date(2026, 8, 31, 12, 0, 0, 0, time.UTC),
		"2027-01-02T03:04:05Z":      time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC),
		"2027-01-02T03:04:05+02:00": time.Date(2027, 1, 2, 1, 4, 5, 0, time.UTC),
	} {
		if got, err := parseExpiry(text, now); err != nil || !got.Equal(want) {
			t.Errorf("parseExpiry(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1h", "0s", "1ms", "tomorrow", "2027-01-02"} {
		if got, err := parseExpiry(text, now); err == nil {
			t.Errorf("parseExpiry(%q) = %v, want an error", text, got)
		}
	}
}

func TestOneLine(t *testing.T) {
	err := errors.Join(errors.New("a: b"), errors.New("c\n\n\td"))
	if got, want := oneLine(err), "a: b; c; d"; got != want {
		t.Errorf("oneLine(%q) = %q, want %q", err, got, want)
	}
}

func TestDurations(t *testing.T) {
	for _, c := range []struct {
		ages bool
		good map[string]time.Duration // texts that String returns too
		bad  []string
	}{
		{false, map[string]time.Duration{"none": 0, "30s": 30 * time.Second, "1ms": time.Millisecond}, []string{"", "0", "0s", "-1s", "30", "None", "forever"}},
		{
			true,
			map[string]time.Duration{"none": 0, "180d": 180 * day, "1d": day, "36h0m0s": 36 * time.Hour, "100000d": 100_000 * day},
			[]string{"", "0d", "-1d", "d", "1.5d", "100001d", "4294967295d", "99999999999d", "-1h", "180", "never"},
		},
	} {
		d := time.Hour
		f := durationFlag{&d, c.ages}
		for text, want := range c.good {
			if err := f.Set(text); err != nil || d != want || f.String() != text {
				t.Errorf("ages %v: Set(%q) = %v, %v, want %v", c.ages, text, f, err, want)
			}
		}
		for _, text := range c.bad {
			if d = time.Hour; f.Set(text) == nil || d != time.Hour {
				t.Errorf("ages %v: Set(%q) = %v, want an error and no change", c.ages, text, f)
			}
		}
		if err := f.Set("4320h"); err != nil || c.ages != (f.String() == "180d") {
			t.Errorf("ages %v: 4320h is %v, %v", c.ages, f, err)
		}
		if err := f.Set("0"); c.ages != (err == nil && d == 0) {
			t.Errorf("ages %v: 0 is %v, %v", c.ages, f, err)
		}
	}
}
