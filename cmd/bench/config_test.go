package main

import (
	"slices"
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		change func(c *Config)
		want   string // "" for nothing
	}{
		{func(*Config) {}, ""},
		{func(c *Config) { c.Movies = 10 }, "movies 10: want 100 to 10000000"},
		{func(c *Config) { c.Rounds = 0 }, "rounds 0: want 1 to 100"},
		{func(c *Config) { c.Seconds = 61 }, "seconds 61: want 1 to 60"},
		{func(c *Config) { c.Memory = 0 }, "memory 0: want 1 to"},
		{func(c *Config) { c.Sections = []string{"speed"} }, `section "speed": want one of cases, mix, build`},
	} {
		cfg := DefaultConfig()
		cfg.Program = "reelsplice"
		c.change(&cfg)
		err := cfg.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("Validate(%+v) = %v, want %q", cfg, err, c.want)
		}
	}
}

// TestQuick shortens a run but for what somebody asked for.
func TestQuick(t *testing.T) {
	c := DefaultConfig()
	c.Seconds = 7
	c.quick(func(flag string) bool { return flag == "seconds" })
	if c.Seconds != 7 || c.Movies != 2000 || c.Rounds != 3 || !slices.Equal(c.Sections, Sections()) {
		t.Errorf("quick leaves %+v", c)
	}
}
