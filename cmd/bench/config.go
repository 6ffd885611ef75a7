package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"reelsplice/cmd/bench/host"
)

// The sections of a run.
const (
	SectionCases  = "cases"  // single requests, again and again
	SectionMix    = "mix"    // what clients ask for, on a warm and on a cold cache
	SectionCurves = "curves" // by connections, and by appended parts
	SectionMemory = "memory" // of the edge, and how long it takes to start
)

// Sections returns the names of all sections.
func Sections() []string {
	return []string{SectionCases, SectionMix, SectionCurves, SectionMemory}
}

// Config says what to measure and how.
type Config struct {
	Program     string   // reelsplice, which makes the release and serves it
	Before      string   // reelsplice of another commit, measured in each round beside; "" for none
	Self        string   // this program, which plays the peers
	Dir         string   // folder whose release is used, or made and kept; "" for a temporary one
	Movies      int64    // of a release that is made; 10,000 by default
	Rounds      int      // 5 by default
	Seconds     int      // of load a round; 2 by default
	Connections []int    // of the cases; 32 and 256 by default
	Sections    []string // all by default
	ServerCore  int      // the first that this process may use by default
	LoadCore    int      // the second
	// Progress is told what is being done; nil for nobody.
	Progress func(what string)
}

// DefaultConfig returns the defaults; the programs have none.
func DefaultConfig() Config {
	c := Config{
		Movies: 10_000, Rounds: 5, Seconds: 2, Connections: []int{32, 256},
		Sections: Sections(), ServerCore: 0, LoadCore: 1,
	}
	if cores := host.Cores(); len(cores) > 1 {
		c.ServerCore, c.LoadCore = cores[0], cores[1]
	}
	return c
}

// Quick makes c take less than three minutes: a smaller release, fewer connections,
// shorter rounds, no curves. What somebody has set by a flag stays.
func (c *Config) Quick(isSet func(flag string) bool) {
	q := Config{Movies: 4000, Seconds: 1, Connections: []int{32}, Sections: []string{SectionCases, SectionMix, SectionMemory}}
	if !isSet("movies") {
		c.Movies = q.Movies
	}
	if !isSet("seconds") {
		c.Seconds = q.Seconds
	}
	if !isSet("connections") {
		c.Connections = q.Connections
	}
	if !isSet("sections") {
		c.Sections = q.Sections
	}
}

// Validate reports everything that is wrong with c.
func (c *Config) Validate() error {
	var errs []error
	if c.Program == "" {
		errs = append(errs, errors.New("program: want the FILE of reelsplice"))
	}
	if c.Movies < 1000 {
		errs = append(errs, fmt.Errorf("movies %d: want 1000 or more", c.Movies))
	}
	if c.Rounds < 1 || c.Rounds > 100 {
		errs = append(errs, fmt.Errorf("rounds %d: want 1 to 100", c.Rounds))
	}
	if c.Seconds < 1 || c.Seconds > 60 {
		errs = append(errs, fmt.Errorf("seconds %d: want 1 to 60", c.Seconds))
	}
	if len(c.Connections) == 0 {
		errs = append(errs, errors.New("connections: want at least one number"))
	}
	for _, n := range c.Connections {
		if n < 1 || n > 4096 {
			errs = append(errs, fmt.Errorf("connections %d: want 1 to 4096", n))
		}
	}
	for _, s := range c.Sections {
		if !slices.Contains(Sections(), s) {
			errs = append(errs, fmt.Errorf("section %q: want one of %s", s, strings.Join(Sections(), ", ")))
		}
	}
	if c.ServerCore == c.LoadCore || min(c.ServerCore, c.LoadCore) < 0 {
		errs = append(errs, fmt.Errorf("cores %d and %d: want two of this machine's", c.ServerCore, c.LoadCore))
	}
	return errors.Join(errs...)
}

func (c *Config) has(section string) bool { return slices.Contains(c.Sections, section) }

func (c *Config) progress(format string, args ...any) {
	if c.Progress != nil {
		c.Progress(fmt.Sprintf(format, args...))
	}
}
