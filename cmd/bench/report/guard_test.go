package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGuard(t *testing.T) {
	stored := StoredRatios{Version: Version, Ratios: map[string]StoredRatio{
		"detail/32/nginx": {Requests: 1.2, CPU: 1.3}, "five/32/varnish": {Requests: 20, CPU: 20},
	}}
	for _, c := range []struct {
		name            string
		rate, cpu, busy float64
		lost            bool
	}{
		{"as it was", 1.2, 1.3, 1, false},
		{"almost a tenth", 1.09, 1.18, 1, false},
		{"requests/s of a machine that did something else", 0.5, 1.3, 0.3, false},
		{"CPU time alone, though the edge set the pace", 1.2, 1.16, 1, false},
		{"CPU time, and the load generator was at its end", 1.2, 1.16, 0.7, true},
		{"both", 1.07, 1.16, 1, true},
	} {
		r := &Report{Ratios: []Ratio{
			{Case: Detail, Connections: 32, Against: Nginx, Rate: c.rate, CPU: c.cpu, Busy: c.busy, Goal: 1.2},
			{Case: Detail, Connections: 256, Against: Nginx, Rate: 0.1, CPU: 0.1, Goal: 1.2}, // not stored
		}}
		lost := r.Guard(stored)
		if (len(lost) == 1) != c.lost || len(lost) > 1 {
			t.Errorf("%s: Guard = %q", c.name, lost)
		}
	}
}

// TestStored writes ratios and reads them again.
func TestStored(t *testing.T) {
	r := &Report{Ratios: []Ratio{
		{Case: Detail, Connections: 32, Against: Nginx, Rate: 1.2345, CPU: 1.5, Goal: 1.2},
		{Case: Mix, Connections: 32, Against: Nginx, Rate: 1, CPU: 1}, // has no goal
	}}
	file := filepath.Join(t.TempDir(), "ratios.json")
	if err := r.Stored().Write(file); err != nil {
		t.Fatal(err)
	}
	got, err := ReadStored(file)
	want := StoredRatios{Version: Version, Ratios: map[string]StoredRatio{"detail/32/nginx": {Requests: 1.23, CPU: 1.5}}}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("ReadStored = %+v, %v, want %+v", got, err, want)
	}
	for text, want := range map[string]string{`{"version":9}`: fmt.Sprintf("version 9, want %d", Version), `[]`: "read stored ratios in"} {
		write(t, file, text)
		if _, err := ReadStored(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadStored of %s = %v, want an error with %q", text, err, want)
		}
	}
	if _, err := ReadStored(file + "x"); !os.IsNotExist(unwrapAll(err)) {
		t.Errorf("ReadStored of no file: %v", err)
	}
}

// TestStoredOfProject reads the file that scripts/bench.sh compares with.
func TestStoredOfProject(t *testing.T) {
	s, err := ReadStored(filepath.Join("..", "..", "..", "scripts", "bench-ratios.json"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, g := range goals {
		known[g.name+"/32/"+g.against] = true
	}
	for name, r := range s.Ratios {
		if !known[name] || r.Requests <= 0 || r.CPU <= 0 {
			t.Errorf("scripts/bench-ratios.json: %s %+v, want a goal of a quick run and two ratios above 0", name, r)
		}
	}
}

func unwrapAll(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err
		}
		err = u.Unwrap()
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
