package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/compare"
	"github.com/reelsplice/reelsplice/schemas/release/store"
)

// A publishGate refuses a release that has much less data than the current one, fails an expectation, or was rolled
// back.
type publishGate struct {
	drops        []string
	expectations string // file of expectations; "" for none
	force        bool

	limits   dropLimits
	expected []expectation
}

func (g *publishGate) add(f *pflag.FlagSet) {
	f.StringArrayVar(&g.drops, "max-drop", nil, fmt.Sprintf("`PERCENT`, or NAME=PERCENT, by which a count may fall from the current release's (default %d%%); "+
		"repeatable, NAME is a kind, a sub-request (movie/videos), language, terms or bytes", defaultDrop))
	f.StringVar(&g.expectations, "expect", "", "`FILE` of expectations, one per line, such as: /3/movie/550 title == \"Fight Club\"")
	f.BoolVar(&g.force, "force", false, "publish in spite of --max-drop, --expect or a rollback, and record that in the release's report")
}

// read checks the flags and reads the expectations.
func (g *publishGate) read() (err error) {
	if g.limits, err = parseDropLimits(g.drops); err != nil {
		return fmt.Errorf("max-drop %w", err)
	}
	if g.expectations != "" {
		g.expected, err = readExpectations(g.expectations)
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
	Empty  bool      `json:"empty,omitempty"` // no records: usually a fetch or an ingest has failed
	Falls  []fall    `json:"falls,omitempty"`
	Failed []failure `json:"failed,omitempty"`
	// RolledBack is the ID of a release with the same responses that was rolled back.
	RolledBack string `json:"rolled_back,omitempty"`
	Forced     bool   `json:"forced,omitempty"` // published anyway
}

// passes reports whether the release may be published.
func (v *verdict) passes() bool {
	return v.Forced || !v.Empty && len(v.Falls)+len(v.Failed) == 0 && v.RolledBack == ""
}

// examine compares release id of from with the current release of s, which it is to replace. A broken current
// release does not block publishing, which repairs it.
func (s releaseSet) examine(ctx context.Context, g *publishGate, from releaseSet, id string) (v verdict, err error) {
	r, err := from.Manifest(ctx, id)
	if err != nil {
		return v, fmt.Errorf("publish %s: %w", id, err)
	}
	current, err := store.Current(ctx, s)
	if err == nil && current == id {
		return v, nil
	}
	v.Empty = isEmpty(r)
	var baseline *release.Manifest
	if err == nil {
		baseline, err = s.Manifest(ctx, current)
	}
	switch {
	case err == nil && !isSample(s.Store, current):
		v.Falls = fallsOf(baseline, r, g.limits)
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
		v.Failed, err = checkExpectations(ctx, opened, g.expected)
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

// rolledBackLike returns the ID of a rolled-back release with the same responses as release id of from, or "". A
// removed or broken release is matched by its ID only.
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
		reasons = append(reasons, "it has the same responses as "+v.RolledBack+", which was rolled back")
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
		fmt.Fprintf(w, "line %d: %s: %s: found %s, status %d\n", f.Line, f.Path, f.Condition, f.Got, f.Status)
	}
}

const (
	// defaultDrop is the permitted fall of a count, in percent, unless dropLimits set another.
	defaultDrop = 10
	// fewLost is the smallest fall, in resources or terms, that is reported for languages, sub-requests and terms without
	// their own limit: in a rare language with three resources, losing one is normal.
	fewLost = 10
)

// dropLimits are the permitted falls in percent, by name of a count, such as movie, movie/videos or bytes, or of a group,
// which is the part before the slash. The name "" is for all others.
type dropLimits map[string]float64

// parseDropLimits parses limits of the form 10% or NAME=10%. The sign is optional.
func parseDropLimits(texts []string) (dropLimits, error) {
	l := dropLimits{"": defaultDrop}
	for _, text := range texts {
		name, percent, named := strings.Cut(text, "=")
		if !named {
			name, percent = "", text
		}
		n, err := strconv.ParseFloat(strings.TrimSuffix(percent, "%"), 64)
		if err != nil || !(n >= 0 && n <= 100) || named && !isCount(name) {
			return nil, fmt.Errorf("%q: want a percentage of 0 to 100, such as 10%%, or with a name, such as movie=5%%: a kind of records, "+
				"a sub-request of one (movie/videos), language, language/de, terms, terms/movie or bytes", text)
		}
		l[name] = n
	}
	return l, nil
}

// isCount reports whether name is a valid count or group.
func isCount(name string) bool {
	group, sub, isSub := strings.Cut(name, "/")
	switch group {
	case "bytes":
		return !isSub
	case "language":
		return !isSub || len(sub) == len("de")
	case "terms":
		return !isSub || isKind(sub)
	}
	_, known := fragment.ParseSub(sub)
	return isKind(group) && (!isSub || known || sub == fragment.SubDetails.String())
}

// isKind reports whether name is a kind of records.
func isKind(name string) bool {
	for k := fragment.KindMovie; k <= fragment.KindAccount; k++ {
		if k.String() == name {
			return true
		}
	}
	return false
}

// limit returns the permitted fall of a count, and whether a limit names it or its group.
func (l dropLimits) limit(count string) (percent float64, named bool) {
	group, _, _ := strings.Cut(count, "/")
	for _, name := range []string{count, group} {
		if percent, ok := l[name]; ok {
			return percent, true
		}
	}
	return l[""], false
}

// A fall is a count that fell by more than permitted.
type fall struct {
	Count   string  `json:"count"`
	Before  int64   `json:"before"`
	After   int64   `json:"after"`
	Percent float64 `json:"percent"` // lost
	Allowed float64 `json:"allowed"` // permitted percentage
}

// fallsOf returns the counts that fell by more than permitted, sorted by name.
func fallsOf(before, after *release.Manifest, l dropLimits) []fall {
	var falls []fall
	countsBefore, countsAfter := countsOf(before), countsOf(after)
	for _, name := range slices.Sorted(maps.Keys(countsBefore)) {
		percent, named := l.limit(name)
		f := fall{Count: name, Before: countsBefore[name], After: countsAfter[name], Allowed: percent}
		if !named && strings.Contains(name, "/") && f.Before-f.After < fewLost {
			continue
		}
		if f.Percent = 100 * float64(f.Before-f.After) / float64(f.Before); f.Percent > f.Allowed {
			falls = append(falls, f)
		}
	}
	return falls
}

// isEmpty reports whether a release was built from no records.
func isEmpty(m *release.Manifest) bool {
	for name, n := range m.Sources {
		if isKind(name) && n > 0 {
			return false
		}
	}
	return true
}

// countsOf returns all compared counts that are not 0, by name: records of kinds, resources with a sub-request,
// resources with a language, search terms, and bytes of segments.
func countsOf(m *release.Manifest) map[string]int64 {
	c := map[string]int64{}
	for name, n := range m.Sources {
		if isKind(name) {
			c[name] = n
		}
	}
	for name, n := range m.Counts.SubRequests {
		c[name] = n
	}
	for name, n := range m.Counts.Languages {
		c["language/"+name] = n
	}
	for name, n := range m.Counts.Terms {
		c["terms/"+name] = n
	}
	for _, f := range m.Packs {
		c["bytes"] += f.Live
	}
	maps.DeleteFunc(c, func(_ string, n int64) bool { return n == 0 })
	return c
}
