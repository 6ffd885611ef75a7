package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/compare"
	"github.com/reelsplice/reelsplice/schemas/release/gate"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/serve/expect"
)

// A publishGate refuses a release that has much less than the current one, that fails an expectation, or that was
// rolled back.
type publishGate struct {
	drops        []string
	expectations string // file of expectations; "" for none
	force        bool

	limits   gate.Limits
	expected []expect.Expectation
}

func (g *publishGate) add(f *pflag.FlagSet) {
	f.StringArrayVar(&g.drops, "max-drop", nil, fmt.Sprintf("`PERCENT`, or NAME=PERCENT, that a count may be below the current release's (default %d%%); "+
		"repeatable, NAME is a kind, a sub-request (movie/videos), language, terms or bytes", gate.DefaultPercent))
	f.StringVar(&g.expectations, "expect", "", "`FILE` of expectations, one per line, such as: /3/movie/550 title == \"Fight Club\"")
	f.BoolVar(&g.force, "force", false, "publish against --max-drop and --expect, or after a rollback, and record that in the release's report")
}

// read checks the flags and reads the expectations.
func (g *publishGate) read() (err error) {
	if g.limits, err = gate.ParseLimits(g.drops); err != nil {
		return fmt.Errorf("max-drop %w", err)
	}
	if g.expectations != "" {
		g.expected, err = expect.Read(g.expectations)
	}
	return err
}

// args returns the flags for another process, in any folder.
func (g *publishGate) args() (args []string, err error) {
	for _, drop := range g.drops {
		args = append(args, "--max-drop="+drop)
	}
	if g.expectations != "" {
		path, err := filepath.Abs(g.expectations)
		if err != nil {
			return nil, err
		}
		args = append(args, "--expect="+path)
	}
	if g.force {
		args = append(args, "--force")
	}
	return args, nil
}

// A verdict is the result of a gate.
type verdict struct {
	Empty  bool             `json:"empty,omitempty"` // no records: usually a fetch or an ingest has failed
	Falls  []gate.Fall      `json:"falls,omitempty"`
	Failed []expect.Failure `json:"failed,omitempty"`
	// RolledBack is the ID of a release with the same responses that was rolled back.
	RolledBack string `json:"rolled_back,omitempty"`
	Forced     bool   `json:"forced,omitempty"` // published anyway
}

// passes reports whether the release may be published.
func (v *verdict) passes() bool {
	return v.Forced || !v.Empty && len(v.Falls)+len(v.Failed) == 0 && v.RolledBack == ""
}

// examine compares release id of a store with the current release of s, which it is to replace. A broken current
// release is no obstacle, because publishing repairs it.
func (s releaseSet) examine(ctx context.Context, g *publishGate, from releaseSet, id string) (v verdict, err error) {
	r, err := from.Manifest(ctx, id)
	if err != nil {
		return v, fmt.Errorf("publish %s: %w", id, err)
	}
	current, err := store.Current(ctx, s)
	if err == nil && current == id {
		return v, nil
	}
	v.Empty = gate.Empty(r)
	var baseline *release.Manifest
	if err == nil {
		baseline, err = s.Manifest(ctx, current)
	}
	switch {
	case err == nil && !isSample(s.Store, current):
		v.Falls = gate.Falls(baseline, r, g.limits)
	case err != nil && !store.IsBroken(err):
		return v, err
	case err != nil && (current != "" || !errors.Is(err, store.ErrNoRelease)):
		s.app.logger().Warn("the current release is unreadable: publishing without the --max-drop check", "release", current, "error", err)
	}
	if len(g.expected) > 0 {
		opened, err := from.open(ctx, id)
		if err != nil {
			return v, err
		}
		v.Failed, err = expect.Check(ctx, opened, g.expected)
		if err = errors.Join(err, opened.Close()); err != nil {
			return v, fmt.Errorf("%s: %w", g.expectations, err)
		}
	}
	if v.RolledBack, err = s.rolledBackLike(ctx, from, id); err != nil {
		return v, err
	}
	v.Forced = g.force && !v.passes()
	return v, nil
}

// rolledBackLike returns the ID of a rolled-back release with the same responses as release id of a store, "" for none.
// A removed or broken release is matched by its ID only.
func (s releaseSet) rolledBackLike(ctx context.Context, from releaseSet, id string) (string, error) {
	ids, err := store.RolledBack(ctx, s)
	if errors.Is(err, release.ErrCorrupt) {
		s.app.logger().Warn("the list of rolled-back releases is unreadable: publishing without that check", "error", err)
		return "", nil
	}
	switch {
	case err != nil || len(ids) == 0:
		return "", err
	case slices.Contains(ids, id):
		return id, nil
	}
	r, err := from.open(ctx, id)
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }() // read side
	for _, back := range ids {
		same, err := sameResponses(ctx, r, back, from, s)
		if same || err != nil {
			return back, err
		}
	}
	return "", nil
}

// sameResponses reports whether a release has the same responses as release id, which it opens in the first store
// that has it.
func sameResponses(ctx context.Context, r *release.Reader, id string, sets ...releaseSet) (bool, error) {
	for _, s := range sets {
		other, err := s.open(ctx, id)
		if store.IsBroken(err) {
			continue
		}
		if err != nil {
			return false, err
		}
		defer func() { _ = other.Close() }() // read side
		found, err := compare.Releases(ctx, other, r, nil)
		if store.IsBroken(err) {
			continue
		}
		if err != nil {
			return false, err
		}
		differs := slices.ContainsFunc(compare.Changes(), func(c compare.Change) bool { return len(found.Count(c)) > 0 })
		return !differs, nil
	}
	return false, nil
}

// isSample reports whether up built the release from the sample: any other release may replace it.
func isSample(s store.Store, id string) bool {
	folder, ok := s.(store.Folder)
	if !ok {
		return false
	}
	mark, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Clean(folder.Dir)), sampleMark))
	return err == nil && string(mark) == id
}

// refusal returns the error for a release that is not published; nil if it passes.
func (v *verdict) refusal(id, releases string) error {
	if v.passes() {
		return nil
	}
	var reasons []string
	if v.Empty {
		reasons = append(reasons, "it has no records")
	}
	if v.RolledBack == id {
		reasons = append(reasons, "it was rolled back")
	} else if v.RolledBack != "" {
		reasons = append(reasons, "it gives the same responses as "+v.RolledBack+", which was rolled back")
	}
	if n := len(v.Falls); n > 0 {
		reasons = append(reasons, plural(n, "count")+" below what --max-drop allows")
	}
	if n := len(v.Failed); n > 0 {
		reasons = append(reasons, plural(n, "expectation")+" not met")
	}
	return fmt.Errorf("release %s is not published: %s; to publish it anyway: %s publish --force --releases %s %s",
		id, strings.Join(reasons, ", "), program(), releases, id)
}

// write writes the result as tables.
func (v *verdict) write(w io.Writer) {
	if len(v.Falls) > 0 {
		fmt.Fprintln(w, "COUNT\tBEFORE\tAFTER\tFALL\tALLOWED")
	}
	for _, f := range v.Falls {
		fmt.Fprintf(w, "%s\t%d\t%d\t%.1f%%\t%g%%\n", f.Count, f.Before, f.After, f.Percent, f.Allowed)
	}
	for _, f := range v.Failed {
		fmt.Fprintf(w, "line %d: %s: %s gives %s, status %d\n", f.Line, f.Path, f.Condition, f.Got, f.Status)
	}
}
