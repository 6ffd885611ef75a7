package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseStat(t *testing.T) {
	got, err := parseStat([]byte("17 (a) b (c)) S 5 17 17 0 -1 4194560 1 2 3 4 250 50 7 8 20 0"))
	if want := (procStat{group: 17, cpu: 3}); err != nil || got != want {
		t.Errorf("parseStat = %+v, %v, want %+v", got, err, want)
	}
	for text, want := range map[string]string{
		"17 cat S 5":      "want a name in parentheses",
		"17 (cat) S 5 17": "stat: 3 fields behind the name",
		"17 (cat) S 5 five 17 0 -1 4194560 1 2 3 4 250 50 7": `"five"`,
	} {
		if _, err := parseStat([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parseStat(%q) = %v, want an error with %q", text, err, want)
		}
	}
}

// TestGroupUsage sums up the processes of a group, by a /proc of the test.
func TestGroupUsage(t *testing.T) {
	dir := t.TempDir()
	for _, p := range []struct{ pid, group, user, system, read int }{
		{10, 10, 100, 0, 1000}, // the first
		{11, 10, 20, 30, 500},
		{12, 10, 0, 50, 0},
		{20, 1, 9900, 0, 7}, // somebody else
	} {
		name := filepath.Join(dir, fmt.Sprint(p.pid))
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(name, "stat"), fmt.Sprintf("%d (x) S 1 %d 0 0 -1 0 1 2 3 4 %d %d 0 0", p.pid, p.group, p.user, p.system))
		write(t, filepath.Join(name, "io"), fmt.Sprintf("rchar: 1\nread_bytes: %d\n", p.read))
	}
	write(t, filepath.Join(dir, "uptime"), "1 2")
	got, err := GroupUsage(dir, 10)
	want := Usage{CPU: 2, Read: 1500}
	if err != nil || got != want {
		t.Errorf("GroupUsage = %+v, %v, want %+v", got, err, want)
	}
	if _, err := GroupUsage(dir, 30); err == nil || err.Error() != "the processes of group 30 are gone" {
		t.Errorf("GroupUsage of a group that is not there: %v", err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestValueIn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpuinfo")
	write(t, file, "processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\nprocessor\t: 1\nmodel name\t: Other\n")
	for name, want := range map[string]string{"model name": "Some CPU @ 3 GHz", "model": ""} {
		if got := valueIn(file, name); got != want {
			t.Errorf("valueIn(%q) = %q, want %q", name, got, want)
		}
	}
}
