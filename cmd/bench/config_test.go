package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		change func(c *Config)
		want   string // "" for nothing
	}{
		{func(*Config) {}, ""},
		{func(c *Config) { c.Movies = 10 }, "movies 10: want 1000 or more"},
		{func(c *Config) { c.Rounds = 0 }, "rounds 0: want 1 to 100"},
		{func(c *Config) { c.Seconds = 61 }, "seconds 61: want 1 to 60"},
		{func(c *Config) { c.Connections = nil }, "connections: want at least one number"},
		{func(c *Config) { c.Connections = []int{0} }, "connections 0: want 1 to 4096"},
		{func(c *Config) { c.Sections = []string{"speed"} }, `section "speed": want one of cases, mix, curves, memory`},
		{func(c *Config) { c.LoadCore = c.ServerCore }, "want two of this machine's"},
	} {
		cfg := DefaultConfig()
		cfg.Program, cfg.ServerCore, cfg.LoadCore = "reelsplice", 0, 1
		c.change(&cfg)
		err := cfg.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("Validate(%+v) = %v, want %q", cfg, err, c.want)
		}
	}
	build := BuildConfig{Sizes: []int64{5}, Rounds: 0}
	err := build.Validate()
	for _, want := range []string{"size 5: want 100 movies or more", "rounds 0: want 1 to 100", "memory 0: want"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate(%+v) = %v, want %q", build, err, want)
		}
	}
}

// TestQuick shortens a run but for what somebody asked for.
func TestQuick(t *testing.T) {
	c := DefaultConfig()
	c.Seconds = 7
	c.Quick(func(flag string) bool { return flag == "seconds" })
	if c.Seconds != 7 || c.Movies != 4000 || !cmp.Equal(c.Connections, []int{32}) || cmp.Equal(c.Sections, Sections()) {
		t.Errorf("Quick leaves %+v", c)
	}
}
