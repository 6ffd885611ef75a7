package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/compare"
	"github.com/reelsplice/reelsplice/schemas/tables/changelog"
	"github.com/reelsplice/reelsplice/schemas/tables/credits"
	"github.com/reelsplice/reelsplice/schemas/text"
	"github.com/reelsplice/reelsplice/serve/edge"
)

func diffCommand(a *app) *cobra.Command {
	var releases string
	var purge bool
	c := &cobra.Command{
		Use:   "diff A B",
		Short: "Print the differences between two releases",
		Long: "diff compares two releases without reading their responses, and lists created, changed, deleted and merged\n" +
			"resources. A and B are ids, or the words current and previous.\n\n" +
			"With --purge it prints the purge list for caches when B replaces A, one value of\n" +
			"Surrogate-Key per line. It covers lists, search and discover (query), the lists of a resource that contain a\n" +
			"changed title, and resources that were not found before.",
		Example: "  reelsplice diff previous current --purge",
		Args:    argCount(2, 2),
	}
	storeFlag(c, &releases)
	c.Flags().BoolVar(&purge, "purge", false, "print the purge list for caches instead")
	return a.leaf(c, func(ctx context.Context, args []string) error {
		return a.atStore(ctx, releases, func(s releaseSet) error {
			from, err := s.openNamed(ctx, args[0])
			if err != nil {
				return err
			}
			defer func() { _ = from.Close() }() // read only
			to, err := s.openNamed(ctx, args[1])
			if err != nil {
				return err
			}
			defer func() { _ = to.Close() }()
			d := &diff{from: from, to: to, credits: map[compare.Change]int64{}}
			write := d.text
			switch {
			case purge && a.json:
				write = d.purgeJSON
			case purge:
				write = d.purge
			case a.json:
				write = d.json
			}
			return release.Guard(func() error { return d.print(ctx, a, write) })
		})
	})
}

// A diff is two releases and their differences.
type diff struct {
	from, to *release.Reader
	found    *compare.Comparison
	credits  map[compare.Change]int64 // differences of derived credits, which are table rows
}

// print compares the releases and streams the differences, which may not fit in memory.
func (d *diff) print(ctx context.Context, a *app, write func(context.Context, *bufio.Writer) error) (err error) {
	p := a.progress("diff", true)
	defer p.stop()
	if d.found, err = compare.Releases(ctx, d.from, d.to, p.update); err != nil {
		return err
	}
	err = d.eachCredit(func(x compare.Difference) error {
		d.credits[x.Change]++
		return nil
	})
	if err != nil {
		return err
	}
	p.stop()
	out := bufio.NewWriterSize(a.Stdout, 64<<10)
	if err = write(ctx, out); err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("write differences: %w", err)
	}
	return nil
}

// eachCredit calls fn for every difference of derived credits, except for credits that d.found has as resources.
func (d *diff) eachCredit(fn func(compare.Difference) error) error {
	var key []byte
	return credits.Compare(d.from, d.to, func(change compare.Change, id string) error {
		key = fragment.AppendText(key[:0], fragment.KindCredit, id)
		if d.found.Has(key) {
			return nil
		}
		return fn(compare.Difference{Change: change, Key: key})
	})
}

// diffCounts counts the changes to resources of a kind.
type diffCounts struct {
	Created int64 `json:"created"`
	Changed int64 `json:"changed"`
	Deleted int64 `json:"deleted"`
	Merged  int64 `json:"merged"`
}

// counts returns the number of differing resources by kind.
func (d *diff) counts() map[fragment.Kind]diffCounts {
	count := func(change compare.Change) map[fragment.Kind]int64 {
		found := d.found.Count(change)
		if n := d.credits[change]; n > 0 {
			found[fragment.KindCredit] += n
		}
		return found
	}
	counts := map[fragment.Kind]diffCounts{}
	created, changed, deleted, merged := count(compare.Created), count(compare.Changed), count(compare.Deleted), count(compare.Merged)
	for _, found := range []map[fragment.Kind]int64{created, changed, deleted, merged} {
		for k := range found {
			counts[k] = diffCounts{created[k], changed[k], deleted[k], merged[k]}
		}
	}
	return counts
}

// each calls fn for every difference of the given changes, in their order.
func (d *diff) each(ctx context.Context, fn func(compare.Difference) error, changes ...compare.Change) error {
	for _, change := range changes {
		err := d.found.Each(ctx, change, fn)
		if err == nil && d.credits[change] > 0 {
			err = d.eachCredit(func(x compare.Difference) error {
				if x.Change != change {
					return nil
				}
				return fn(x)
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxListed limits how many resources of a diffGroup are listed.
const maxListed = 10

// A diffGroup identifies resources of one kind that differ in the same way.
type diffGroup struct {
	change compare.Change
	kind   fragment.Kind
	parts  string
}

// text writes a table of counts, then the named resources in groups with the same difference.
func (d *diff) text(ctx context.Context, w *bufio.Writer) error {
	counts := d.counts()
	if len(counts) == 0 {
		_, err := fmt.Fprintf(w, "%s and %s have the same responses\n", d.from.Manifest().ID, d.to.Manifest().ID)
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "KIND\tCREATED\tCHANGED\tDELETED\tMERGED")
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		c := counts[k]
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\n", k, c.Created, c.Changed, c.Deleted, c.Merged)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	first, number := map[diffGroup][]string{}, map[diffGroup]int{}
	err := d.each(ctx, func(x compare.Difference) error {
		r, _ := fragment.ParseKey(x.Key)
		g := diffGroup{x.Change, r.Kind, strings.Join(differentParts(x), ", ")}
		if number[g]++; number[g] <= maxListed {
			in := d.to
			if x.Change == compare.Deleted || x.Change == compare.Merged {
				in = d.from
			}
			line := nameOf(in, x.Key)
			if x.Into != nil {
				line += " into " + nameOf(d.to, x.Into)
			}
			first[g] = append(first[g], line)
		}
		return nil
	}, compare.Changes()...)
	if err != nil {
		return err
	}
	byKind := func(a, b diffGroup) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.change, b.change), number[b]-number[a], strings.Compare(a.parts, b.parts))
	}
	for _, g := range slices.SortedFunc(maps.Keys(first), byKind) {
		fmt.Fprintf(w, "\n%s %s", g.change, g.kind)
		if g.parts != "" {
			fmt.Fprintf(w, " (%s)", g.parts)
		}
		fmt.Fprintln(w, ":")
		for _, line := range first[g] {
			fmt.Fprintln(w, "  "+line)
		}
		if more := number[g] - len(first[g]); more > 0 {
			fmt.Fprintf(w, "  and %d more, which --json lists\n", more)
		}
	}
	return nil
}

// nameOf returns the id and the name of a resource of a release: "550 Fight Club".
func nameOf(in *release.Reader, key []byte) string {
	_, id, _ := strings.Cut(fragment.DescribeKey(key), " ")
	r, ok := fragment.ParseKey(key)
	path := fmt.Sprintf("/3/%s/%d", r.Kind, r.ID)
	switch {
	case !ok || r.Text != "":
		return id
	case r.Kind == fragment.KindSeason:
		path = fmt.Sprintf("/3/tv/%d/season/%d", r.ID, r.Season)
	case r.Kind == fragment.KindEpisode:
		path = fmt.Sprintf("/3/tv/%d/season/%d/episode/%d", r.ID, r.Season, r.Episode)
	}
	var named struct{ Title, Name string }
	if response, err := edge.Inspect(in, path); err == nil && response.Status == http.StatusOK {
		_ = json.Unmarshal(response.Body, &named) // a name is optional
	}
	if name := cmp.Or(named.Title, named.Name); name != "" {
		return id + " " + text.Line(name)
	}
	return id
}

// differentParts returns the names of the parts that differ.
func differentParts(x compare.Difference) []string {
	var parts []string
	for _, s := range x.Subs {
		parts = append(parts, s.String())
	}
	if x.Aliases {
		parts = append(parts, "aliases")
	}
	return parts
}

// diffRow is a resource in the output of --json.
type diffRow struct {
	Kind     string   `json:"kind"`
	ID       any      `json:"id,omitempty"` // a number, or a text for reviews and some other kinds
	Series   uint64   `json:"series_id,omitempty"`
	Season   *uint32  `json:"season_number,omitempty"`
	Episode  *uint32  `json:"episode_number,omitempty"`
	Source   string   `json:"external_source,omitempty"` // source of an external id
	External string   `json:"external_id,omitempty"`
	Parts    []string `json:"parts,omitempty"` // changed parts
	Into     *diffRow `json:"into,omitempty"`  // the target of a merge
}

// rowOfKey returns the row of the resource with that key.
func rowOfKey(key []byte) *diffRow {
	r, ok := fragment.ParseKey(key)
	row := &diffRow{Kind: r.Kind.String()}
	switch {
	case !ok:
		row.ID = fmt.Sprintf("%x", key)
	case r.Kind == fragment.KindFind:
		row.Source, row.External = r.Source.Name(), r.Text
	case r.Text != "":
		row.ID = r.Text
	case r.Kind == fragment.KindEpisode:
		row.Series, row.Season, row.Episode = uint64(r.ID), &r.Season, &r.Episode
	case r.Kind == fragment.KindSeason:
		row.Series, row.Season = uint64(r.ID), &r.Season
	default:
		row.ID = r.ID
	}
	return row
}

// json writes one object.
func (d *diff) json(ctx context.Context, w *bufio.Writer) error {
	named := map[string]diffCounts{}
	for k, c := range d.counts() {
		named[k.String()] = c
	}
	counts, err := json.Marshal(named)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, `{"from":%q,"to":%q,"counts":%s`, d.from.Manifest().ID, d.to.Manifest().ID, counts)
	for _, change := range compare.Changes() {
		err := writeList(w, change.String(), func(add func(v any) error) error {
			return d.each(ctx, func(x compare.Difference) error {
				row := rowOfKey(x.Key)
				row.Parts = differentParts(x)
				if x.Into != nil {
					row.Into = rowOfKey(x.Into)
				}
				return add(row)
			}, change)
		})
		if err != nil {
			return err
		}
	}
	_, err = w.WriteString("}\n")
	return err
}

// writeList writes a comma and a field of a JSON object, whose value is a streamed list.
func writeList(w *bufio.Writer, name string, items func(add func(v any) error) error) error {
	fmt.Fprintf(w, ",%q:[", name) // the next write returns the error
	comma := ""
	err := items(func(v any) error {
		b, err := json.Marshal(v)
		if err == nil {
			_, err = fmt.Fprintf(w, "%s%s", comma, b)
		}
		comma = ","
		return err
	})
	_ = w.WriteByte(']')
	return err
}

// eachPurge calls fn with the names that caches must purge.
func (d *diff) eachPurge(ctx context.Context, fn func(name []byte) error) error {
	var name, last []byte
	visit := func(key []byte) error {
		name, last = edge.AppendPurge(last[:0], key), name
		if string(name) == string(last) {
			return nil // resources without their own purge name share their kind's
		}
		return fn(name)
	}
	err := d.each(ctx, func(x compare.Difference) error { return visit(x.Key) }, compare.Changes()...)
	if err != nil {
		return err
	}
	if err := d.found.NewAliases(visit); err != nil { // caches may hold 404 responses for them
		return err
	}
	if err := d.eachLogged(visit); err != nil {
		return err
	}
	ignore := func(_, _ string) bool { return false }
	if len(d.counts()) == 0 && compare.SameSections(d.from, d.to, ignore) { // pages also contain texts of resources
		return nil
	}
	return fn([]byte(edge.QueryKey))
}

// eachLogged calls fn with the key of each resource that differs only in the change log: a new episode adds a log entry
// to its series without changing the series.
func (d *diff) eachLogged(fn func(key []byte) error) error {
	earlier, later := changelog.Open(d.from), changelog.Open(d.to)
	var key []byte
	for i := range later.Builds() {
		if n := earlier.Builds(); n > 0 && later.Time(i) <= earlier.Time(n-1) {
			continue
		}
		for _, kind := range changelog.Lists() {
			rows := later.Changed(kind, i) // a title may be in several builds; repetitions are harmless
			for k := range rows.Len() {
				key = fragment.AppendID(key[:0], kind, fragment.ID(rows.At(k).ID))
				if d.found.Has(key) {
					continue // already listed
				}
				if err := fn(key); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// purge writes the purge list, one name per line.
func (d *diff) purge(ctx context.Context, w *bufio.Writer) error {
	return d.eachPurge(ctx, func(name []byte) error {
		_, err := w.Write(append(name, '\n'))
		return err
	})
}

// purgeJSON writes the purge list as a field of an object.
func (d *diff) purgeJSON(ctx context.Context, w *bufio.Writer) error {
	fmt.Fprintf(w, `{"from":%q,"to":%q`, d.from.Manifest().ID, d.to.Manifest().ID)
	err := writeList(w, "purge", func(add func(v any) error) error {
		return d.eachPurge(ctx, func(name []byte) error { return add(string(name)) })
	})
	if err == nil {
		_, err = w.WriteString("}\n")
	}
	return err
}
