package engine

import (
	"strings"
	"testing"
)

func TestNewRefuses(t *testing.T) {
	good := Settings{Program: "reelsplice", Count: 1, Attempts: 1}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(s *Settings){
		"count 0: want 1 to 10000":     func(s *Settings) { s.Count = 0 },
		"count 10001: want 1 to 10000": func(s *Settings) { s.Count = 10_001 },
		"attempts 0: want 1 to 10":     func(s *Settings) { s.Attempts = 0 },
		"cpus -1: want 0 or more":      func(s *Settings) { s.CPUs = -1 },
		"program: want the path":       func(s *Settings) { s.Program = "" },
		`name "A": want`:               func(s *Settings) { s.Name = "A" },
		`name "a-": want`:              func(s *Settings) { s.Name = "a-" },
		"lower-case letters":           func(s *Settings) { s.Name = strings.Repeat("a", 41) },
	} {
		s := good
		change(&s)
		if _, err := New(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
}

// TestNames holds the names of jobs, with the index that pods have too, to the 63 letters of Kubernetes.
func TestNames(t *testing.T) {
	c, err := New(Settings{Program: "reelsplice", Name: strings.Repeat("a", 40), Count: MaxCount, Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Steps {
		if n := len(c.job(s)) + len("-9999"); n > 63 {
			t.Errorf("step %s: the name of a pod has %d letters", s.Name, n)
		}
	}
}
