package task

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/build/derive"
	"github.com/reelsplice/reelsplice/build/index"
	"github.com/reelsplice/reelsplice/build/render"
	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// A resources task builds a partition of the resources that titles contribute to, from their records and
// contributions. It writes a part of the release, and a file of contributions to external ids and tables.
type resources struct {
	b      *Build
	titles *sorted
	latest int64 // highest person ID
}

func openResources(b *Build) (_ tasks, err error) {
	t := &resources{b: b, latest: b.Plan.Latest[fragment.KindPerson]}
	done, err := b.taskRecords("titles")
	if err != nil {
		return tasks{}, err
	}
	for i := range done {
		t.latest = max(t.latest, done[i].LatestPerson)
	}
	t.titles, err = b.openSorted("", "titles")
	run := func(ctx context.Context, i int, d *taskRecord) error {
		r := b.Plan.Partition(i)
		return b.contribute(ctx, d, b.resourcePart(i), func(o *output, c *contributor) error {
			return builders[r.Kind](ctx, &partition{t: t, o: o, c: c, d: d, plan: r, i: i - r.First})
		})
	}
	return tasks{run, t.titles.close}, err
}

// builders build the partitions of each kind.
var builders = map[fragment.Kind]func(context.Context, *partition) error{
	fragment.KindPerson:       mergeWith(buildPerson),
	fragment.KindCollection:   mergeWith(buildCollection),
	fragment.KindCompany:      mergeWith(buildCompany),
	fragment.KindNetwork:      mergeWith(buildNetwork),
	fragment.KindKeyword:      mergeWith(buildKeyword),
	fragment.KindReview:       mergeWith(buildReview),
	fragment.KindCredit:       mergeWith(buildPlain[catalog.Credit]),
	fragment.KindEpisodeGroup: mergeWith(buildPlain[catalog.EpisodeGroupRecord]),
	fragment.KindList:         mergeWith(buildList),
}

// A partition is a running resources task.
type partition struct {
	t    *resources
	o    *output
	c    *contributor
	d    *taskRecord
	plan *work.Resources
	i    int // index among the kind's partitions
	// fingerprint covers the current record and its contributions. A builder must render nothing else.
	fingerprint uint64
}

// add writes the current resource. id is the id in standalone responses.
func (p *partition) add(key catalog.Key, id uint64, aliases [][]byte, render func() []release.FragmentSpec) error {
	spec := p.o.spec(p.plan.Kind, key, id, p.fingerprint)
	spec.Aliases = aliases
	return p.o.add(spec, render)
}

// A builder builds a resource. rec is nil if it has no record; contributions may be empty if it has one.
type builder[T any] func(p *partition, key catalog.Key, rec *T, contributions [][]byte) error

// mergeWith returns a function that builds a partition: the resources with records T or contributions, in key order.
func mergeWith[T any](build builder[T]) func(context.Context, *partition) error {
	return func(ctx context.Context, p *partition) error {
		in := work.NewCursor[T](p.t.b.inputs.Of(p.plan.Kind), p.plan.Spans[p.i/p.plan.Subs])
		defer in.Close()
		// buildKey builds the resource of a key. in is at its record, if it has one.
		buildKey := func(key catalog.Key, contributions [][]byte) error {
			var rec *T
			next, ok := in.Peek()
			switch {
			case ok && next == key:
				p.t.b.advance()
				rec = in.Take()
			case p.t.b.inputs.Removed.Has(p.plan.Kind, key):
				return nil
			default:
				p.d.Derived++
			}
			p.o.inputs.Record(record.Of(rec))
			for _, b := range contributions {
				p.o.inputs.Bytes(b)
			}
			p.fingerprint = p.o.inputs.Fingerprint()
			if err := build(p, key, rec, contributions); err != nil {
				return fmt.Errorf("%s: %w", key.Describe(p.plan.Kind), err)
			}
			return p.c.err
		}
		// buildBelow builds the resources without contributions whose keys are below end, or all if end is nil.
		buildBelow := func(end *catalog.Key) error {
			for {
				key, ok := in.Peek()
				if err := cmp.Or(ctx.Err(), in.Err()); err != nil || !ok || end != nil && key.Compare(*end) >= 0 {
					return err
				}
				if p.plan.Sub(key) != p.i%p.plan.Subs {
					in.Take()
				} else if err := buildKey(key, nil); err != nil {
					return err
				}
			}
		}
		err := p.t.titles.groups(ctx, p.plan.First+p.i, func(b []byte, contributions [][]byte) error {
			if len(b) != work.KeyLen {
				return fmt.Errorf("contribution to a key of %d bytes, want %d", len(b), work.KeyLen)
			}
			key := work.ParseKey(b)
			if err := buildBelow(&key); err != nil {
				return err
			}
			return buildKey(key, contributions)
		})
		if err != nil {
			return err
		}
		return buildBelow(nil)
	}
}

// movieIDs returns the ids of the distinct movies among titles: all, and all but adult ones.
func movieIDs(titles []derive.Title) (all, clean []int64) {
	seen := map[int64]bool{}
	for i := range titles {
		t := &titles[i]
		if t.Kind != fragment.KindMovie || seen[t.ID] {
			continue
		}
		seen[t.ID] = true
		all = append(all, t.ID)
		if !t.Adult {
			clean = append(clean, t.ID)
		}
	}
	return all, clean
}

// countTitles returns the number of distinct titles.
func countTitles(titles []derive.Title) int {
	type title struct {
		kind fragment.Kind
		id   int64
	}
	distinct := make(map[title]struct{}, len(titles))
	for i := range titles {
		distinct[title{titles[i].Kind, titles[i].ID}] = struct{}{}
	}
	return len(distinct)
}

func buildPerson(p *partition, key catalog.Key, rec *catalog.Person, contributions [][]byte) error {
	var first derive.Credit
	if len(contributions) > 0 {
		var err error
		if first, err = derive.ParseCredit(contributions[0]); err != nil {
			return err
		}
	}
	if rec == nil {
		c := &first.Person
		rec = &catalog.Person{
			Adult: record.Bool{V: c.Adult, Set: true}, Gender: record.Number(c.Gender), ID: record.Number(c.ID),
			Name: record.Text(c.Name), Popularity: record.Float{V: c.Popularity, Set: true},
		}
		for _, s := range []struct {
			dst  *record.String
			text string
		}{{&rec.KnownForDepartment, c.KnownForDepartment}, {&rec.ProfilePath, c.ProfilePath}, {&rec.OriginalName, c.OriginalName}} {
			if s.text != "" {
				*s.dst = record.Text(s.text)
			}
		}
	}
	completed := complete.Person(complete.Base(rec), complete.PersonDerived{Credited: len(contributions) > 0, OriginalName: first.Person.OriginalName})
	person := completed.V()
	p.c.externalIDs(record.Of(person.ExternalIDs), person.IMDbID.V, release.Include{Kind: fragment.KindPerson, ID: key.ID()})
	var parsing error // error in the contributions
	err := p.add(key, key.ID(), latestAlias(nil, fragment.KindPerson, int64(key.ID()), p.t.latest), func() []release.FragmentSpec {
		d := render.PersonDerived{Credits: make([]derive.Credit, len(contributions))}
		for i, b := range contributions {
			if d.Credits[i], parsing = derive.ParseCredit(b); parsing != nil {
				return nil
			}
		}
		department := person.KnownForDepartment.V
		if department == "" {
			department = derive.Department(d.Credits)
		}
		d.KnownFor = derive.KnownFor(department, d.Credits)
		return p.o.render.Person(completed, d)
	})
	if err := cmp.Or(parsing, err); err != nil {
		return err
	}
	return index.Add(p.c.rows, fragment.KindPerson, key.ID(), completed, person.Popularity.V, person.Adult.V)
}

func buildCollection(p *partition, key catalog.Key, c *catalog.Collection, contributions [][]byte) error {
	titles, ref, err := parseRefs[catalog.CollectionRef](contributions)
	if err != nil {
		return err
	}
	if c == nil {
		c = &catalog.Collection{ID: ref.ID, Name: ref.Name, PosterPath: ref.PosterPath, BackdropPath: ref.BackdropPath}
	}
	slices.SortStableFunc(titles, func(a, b derive.Title) int {
		if a.Date == "" || b.Date == "" { // undated parts last
			return cmp.Compare(b.Date, a.Date)
		}
		return cmp.Compare(a.Date, b.Date)
	})
	// A collection is as popular as its most popular part, and adult if all parts are. If no title names the
	// collection, the parts come from its record.
	popularity, adult := 0.0, len(titles)+len(c.Parts) > 0
	for i := range titles {
		popularity, adult = max(popularity, titles[i].Popularity), adult && titles[i].Adult
	}
	if len(titles) == 0 {
		for i := range c.Parts {
			popularity, adult = max(popularity, c.Parts[i].Popularity.V), adult && c.Parts[i].Adult.V
		}
	}
	parts, _ := movieIDs(titles)
	completed, d := complete.Of(complete.Base(c)), render.CollectionDerived{Parts: parts, Adult: adult}
	if err := p.add(key, key.ID(), nil, func() []release.FragmentSpec { return p.o.render.Collection(completed, d) }); err != nil {
		return err
	}
	return index.Add(p.c.rows, fragment.KindCollection, key.ID(), completed, popularity, adult)
}

func buildCompany(p *partition, key catalog.Key, c *catalog.Company, contributions [][]byte) error {
	titles, ref, err := parseRefs[catalog.CompanyRef](contributions)
	if err != nil {
		return err
	}
	if c == nil {
		c = &catalog.Company{ID: ref.ID, LogoPath: ref.LogoPath, Name: ref.Name, OriginCountry: ref.OriginCountry}
		if c.OriginCountry.V == "" {
			c.OriginCountry = record.String{} // null, where rows of titles have ""
		}
	}
	completed := complete.Of(complete.Base(c))
	movies, _ := movieIDs(titles)
	if err := p.add(key, key.ID(), nil, func() []release.FragmentSpec { return p.o.render.Company(completed, movies) }); err != nil {
		return err
	}
	return index.Add(p.c.rows, fragment.KindCompany, key.ID(), completed, float64(countTitles(titles)), false)
}

func buildNetwork(p *partition, key catalog.Key, n *catalog.Network, contributions [][]byte) error {
	_, ref, err := parseRefs[catalog.CompanyRef](contributions)
	if err != nil {
		return err
	}
	if n == nil {
		n = &catalog.Network{ID: ref.ID, LogoPath: ref.LogoPath, Name: ref.Name, OriginCountry: ref.OriginCountry}
	}
	return addPlain(p, key, key.ID(), n)
}

func buildKeyword(p *partition, key catalog.Key, k *catalog.KeywordRecord, contributions [][]byte) error {
	titles, ref, err := parseRefs[catalog.Keyword](contributions)
	if err != nil {
		return err
	}
	if k == nil {
		k = &catalog.KeywordRecord{ID: ref.ID, Name: ref.Name}
	}
	completed := complete.Of(complete.Base(k))
	all, clean := movieIDs(titles)
	if err := p.add(key, key.ID(), nil, func() []release.FragmentSpec { return p.o.render.Keyword(completed, clean, all) }); err != nil {
		return err
	}
	return index.Add(p.c.rows, fragment.KindKeyword, key.ID(), completed, float64(countTitles(titles)), false)
}

func buildReview(p *partition, key catalog.Key, v *catalog.ReviewRecord, contributions [][]byte) error {
	if v == nil {
		var err error
		if _, v, err = parseRefs[catalog.ReviewRecord](contributions); err != nil {
			return err
		}
	}
	return addPlain(p, key, 0, v)
}

// buildPlain builds a resource that gets no contributions.
func buildPlain[T any](p *partition, key catalog.Key, rec *T, _ [][]byte) error {
	return addPlain(p, key, 0, rec)
}

// addPlain writes a resource without derived data.
func addPlain[T any](p *partition, key catalog.Key, id uint64, given *T) error {
	return p.add(key, id, nil, func() []release.FragmentSpec {
		return render.Plain(p.o.render, p.plan.Kind, complete.Of(complete.Base(given)))
	})
}

func buildList(p *partition, key catalog.Key, l *catalog.List, _ [][]byte) error {
	if render.IsPrivate(l) {
		return nil
	}
	return p.add(key, key.ID(), nil, func() []release.FragmentSpec { return p.o.render.List(l) })
}
