package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"reelsplice/build/derive"
	"reelsplice/build/render"
	"reelsplice/build/shuffle"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// A reducePlan says how the resources of a kind are divided into partitions: by the
// spans of its file, so that records and what titles say of them meet in order, and by
// hash within a span where titles say more than one partition should hold.
type reducePlan struct {
	kind  fragment.Kind
	spans []span
	subs  int // partitions of each span
	first int // number of the first partition
}

func (p *reducePlan) partitions() int { return len(p.spans) * p.subs }

// partition returns the number of the partition that a resource is reduced in.
func (p *reducePlan) partition(k catalog.Key) int {
	i, found := slices.BinarySearchFunc(p.spans, k, func(s span, k catalog.Key) int { return s.from.Compare(k) })
	if !found {
		i--
	}
	return p.first + i*p.subs + p.sub(k)
}

func (p *reducePlan) sub(k catalog.Key) int { return int(hashKey(k) % uint64(p.subs)) }

// A known is all that titles say of one resource, in the order of derive.Title.
type known struct {
	it    *shuffle.Iterator
	key   catalog.Key
	have  bool
	next  []byte // copy of the first payload of key
	parts [][]byte
}

// peek returns the key of the next resource; false at the end.
func (k *known) peek() (catalog.Key, bool, error) {
	if k.have {
		return k.key, true, nil
	}
	key, payload, err := k.it.Next()
	if errors.Is(err, io.EOF) {
		return catalog.Key{}, false, nil
	}
	if err != nil {
		return catalog.Key{}, false, err
	}
	k.key, k.have, k.next = parseKey(key), true, slices.Clone(payload)
	return k.key, true, nil
}

// take returns what is said of the resource that peek found, repetitions once. It is
// valid until the next call.
func (k *known) take() ([][]byte, error) {
	k.parts = append(k.parts[:0], k.next)
	at := k.key
	k.have = false
	for {
		key, ok, err := k.peek()
		if err != nil {
			return nil, err
		}
		if !ok || key != at {
			return k.parts, nil
		}
		if string(k.next) != string(k.parts[len(k.parts)-1]) {
			k.parts = append(k.parts, k.next)
		}
		k.have = false
	}
}

// A reducer builds one partition of the resources T.
type reducer[T any] struct {
	b    *builder
	o    *output
	e    *emitter
	plan *reducePlan
	// build builds a resource; record is nil when no dump has it, said is empty when no
	// title speaks of it.
	build func(r *reducer[T], key catalog.Key, rec *T, said [][]byte) error
}

// reduce builds partition i of a plan, counted from its first.
func reduce[T any](ctx context.Context, r *reducer[T], i int) (err error) {
	it, err := r.b.reduced.Partition(ctx, r.plan.first+i, r.b.reduceMemory())
	if err != nil {
		return err
	}
	defer it.Drop()
	r.e = r.b.newFinder()
	defer func() { err = errors.Join(err, r.e.close()) }()
	c := newCursor[T](r.b.inputs[r.plan.kind], r.plan.spans[i/r.plan.subs])
	defer c.close()
	k := &known{it: it}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		more, err := r.one(c, k, i%r.plan.subs)
		if err != nil || !more {
			return err
		}
		if r.e.err != nil {
			return r.e.err
		}
	}
}

// one builds the resource with the lowest key; false at the end. There is one for each
// record and for each resource that has contributions.
func (r *reducer[T]) one(c *cursor[T], k *known, sub int) (more bool, err error) {
	at, isRecord := nextIn(c, r.plan, sub)
	if c.err != nil {
		return false, c.err
	}
	key, isKnown, err := k.peek()
	if err != nil || !isRecord && !isKnown {
		return false, err
	}
	if isRecord && (!isKnown || at.Compare(key) < 0) {
		key, isKnown = at, false
	}
	var said [][]byte
	if isKnown {
		if said, err = k.take(); err != nil {
			return false, err
		}
	}
	if !isRecord || at != key {
		c = nil // no dump has it
	} else {
		r.b.advance(1)
	}
	if r.b.removed.Has(r.plan.kind, key) {
		if c != nil {
			c.leave()
		}
		return true, nil
	}
	if err := r.make(key, c, said); err != nil {
		return false, fmt.Errorf("%s: %w", key.Describe(r.plan.kind), err)
	}
	return true, nil
}

// nextIn returns the key of the next record that is reduced in a partition of its span.
func nextIn[T any](c *cursor[T], p *reducePlan, sub int) (catalog.Key, bool) {
	at, ok := c.peek()
	for ok && p.sub(at) != sub {
		c.leave()
		at, ok = c.peek()
	}
	return at, ok
}

// make builds a resource. c stands at its record; it is nil when there is none.
func (r *reducer[T]) make(key catalog.Key, c *cursor[T], said [][]byte) (err error) {
	var rec *T
	if c == nil {
		r.b.derived.Add(1)
	} else if rec, err = c.take(); err != nil {
		return err
	}
	return r.build(r, key, rec, said)
}

// refs parses what titles say of a collection, a company, a network or a keyword. R is
// the row that names it; the first title's is returned.
func refs[R any](said [][]byte) (titles []derive.Title, ref *R, err error) {
	for _, b := range said {
		t, rest, err := derive.ParseTitle(b)
		if err != nil {
			return nil, nil, err
		}
		titles = append(titles, t)
		if ref == nil {
			ref = new(R)
			if err := record.NewParser().Parse(string(rest), record.Of(ref)); err != nil {
				return nil, nil, err
			}
		}
	}
	return titles, ref, nil
}

// movieIDs returns the ids of the movies among titles, each once, and those of them that
// are not for adults.
func movieIDs(titles []derive.Title) (all, clean []int64) {
	have := map[int64]bool{}
	for i := range titles {
		t := &titles[i]
		if t.Kind != fragment.KindMovie || have[t.ID] {
			continue
		}
		have[t.ID] = true
		all = append(all, t.ID)
		if !t.Adult {
			clean = append(clean, t.ID)
		}
	}
	return all, clean
}

// countTitles returns how many titles there are, each counted once.
func countTitles(titles []derive.Title) int {
	type title struct {
		kind fragment.Kind
		id   int64
	}
	have := make(map[title]struct{}, len(titles))
	for i := range titles {
		have[title{titles[i].Kind, titles[i].ID}] = struct{}{}
	}
	return len(have)
}

func buildPerson(r *reducer[catalog.Person], key catalog.Key, p *catalog.Person, said [][]byte) error {
	credits := make([]derive.Credit, 0, len(said))
	for _, b := range said {
		c, err := derive.ParseCredit(b)
		if err != nil {
			return err
		}
		credits = append(credits, c)
	}
	if p == nil {
		p = personOf(&credits[0].Person)
	}
	render.Base(fragment.KindPerson, record.Of(p))
	department := p.KnownForDepartment.V
	if department == "" {
		department = derive.Department(credits)
	}
	if len(credits) > 0 && !p.OriginalName.Set && credits[0].Person.OriginalName != "" {
		p.OriginalName = record.Text(credits[0].Person.OriginalName)
	}
	r.e.externalIDs(record.Of(p.ExternalIDs), p.IMDbID.V, hit{kind: fragment.KindPerson, id: key.ID()})
	spec := r.o.spec(fragment.KindPerson, key, key.ID())
	spec.Aliases = r.b.latestAlias(nil, fragment.KindPerson, int64(key.ID()))
	err := r.o.add(spec, r.o.render.Person(p, render.PersonDerived{
		Credits: credits, KnownFor: derive.KnownFor(department, credits),
	}))
	if err != nil {
		return err
	}
	return r.e.rows.Person(key.ID(), p)
}

// personOf makes the record of a person who only occurs in credits.
func personOf(c *derive.Person) *catalog.Person {
	p := &catalog.Person{
		Adult: record.Bool{V: c.Adult, Set: true}, Gender: record.Number(c.Gender), ID: record.Number(c.ID),
		Name: record.Text(c.Name), Popularity: record.Float{V: c.Popularity, Set: true},
	}
	for _, s := range []struct {
		dst  *record.String
		text string
	}{{&p.KnownForDepartment, c.KnownForDepartment}, {&p.ProfilePath, c.ProfilePath}, {&p.OriginalName, c.OriginalName}} {
		if s.text != "" {
			*s.dst = record.Text(s.text)
		}
	}
	return p
}

func buildCollection(r *reducer[catalog.Collection], key catalog.Key, c *catalog.Collection, said [][]byte) error {
	titles, ref, err := refs[catalog.CollectionRef](said)
	if err != nil {
		return err
	}
	if c == nil {
		c = &catalog.Collection{ID: ref.ID, Name: ref.Name, PosterPath: ref.PosterPath, BackdropPath: ref.BackdropPath}
	}
	slices.SortStableFunc(titles, compareDates)
	parts, _ := movieIDs(titles)
	popularity, adult := ofParts(c, titles)
	d := render.CollectionDerived{Parts: parts, Adult: adult}
	if err := r.o.add(r.o.spec(fragment.KindCollection, key, key.ID()), r.o.render.Collection(c, d)); err != nil {
		return err
	}
	return r.e.rows.Collection(key.ID(), c, popularity, adult)
}

// ofParts returns the popularity of a collection, that of its most popular part, and
// whether all of its parts are for adults. Where no title names it, the parts are those
// that its record lists.
func ofParts(c *catalog.Collection, titles []derive.Title) (popularity float64, adult bool) {
	clean, n := 0, len(titles)
	part := func(p float64, adult bool) {
		popularity = max(popularity, p)
		if !adult {
			clean++
		}
	}
	for i := range titles {
		part(titles[i].Popularity, titles[i].Adult)
	}
	if n == 0 {
		n = len(c.Parts)
		for i := range c.Parts {
			part(c.Parts[i].Popularity.V, c.Parts[i].Adult.V)
		}
	}
	return popularity, n > 0 && clean == 0
}

// compareDates orders titles by date, those without one last.
func compareDates(a, b derive.Title) int {
	switch {
	case a.Date == b.Date:
		return 0
	case a.Date == "" || b.Date != "" && a.Date > b.Date:
		return 1
	}
	return -1
}

func buildCompany(r *reducer[catalog.Company], key catalog.Key, c *catalog.Company, said [][]byte) error {
	titles, ref, err := refs[catalog.CompanyRef](said)
	if err != nil {
		return err
	}
	if c == nil {
		c = &catalog.Company{ID: ref.ID, LogoPath: ref.LogoPath, Name: ref.Name, OriginCountry: ref.OriginCountry}
		if c.OriginCountry.V == "" {
			c.OriginCountry = record.String{} // null, where rows of titles say ""
		}
	}
	movies, _ := movieIDs(titles)
	if err := r.o.add(r.o.spec(fragment.KindCompany, key, key.ID()), r.o.render.Company(c, movies)); err != nil {
		return err
	}
	return r.e.rows.Company(key.ID(), c, countTitles(titles))
}

func buildNetwork(r *reducer[catalog.Network], key catalog.Key, n *catalog.Network, said [][]byte) error {
	_, ref, err := refs[catalog.NetworkRef](said)
	if err != nil {
		return err
	}
	if n == nil {
		n = &catalog.Network{ID: ref.ID, LogoPath: ref.LogoPath, Name: ref.Name, OriginCountry: ref.OriginCountry}
	}
	return r.o.add(r.o.spec(fragment.KindNetwork, key, key.ID()), r.o.render.Network(n))
}

func buildKeyword(r *reducer[catalog.KeywordRecord], key catalog.Key, k *catalog.KeywordRecord, said [][]byte) error {
	titles, ref, err := refs[catalog.Keyword](said)
	if err != nil {
		return err
	}
	if k == nil {
		k = &catalog.KeywordRecord{ID: ref.ID, Name: ref.Name}
	}
	all, clean := movieIDs(titles)
	if err := r.o.add(r.o.spec(fragment.KindKeyword, key, key.ID()), r.o.render.Keyword(k, clean, all)); err != nil {
		return err
	}
	return r.e.rows.Keyword(key.ID(), k, countTitles(titles))
}

func buildReview(r *reducer[catalog.ReviewRecord], key catalog.Key, v *catalog.ReviewRecord, said [][]byte) error {
	if v == nil {
		var err error
		if _, v, err = refs[catalog.ReviewRecord](said); err != nil {
			return err
		}
	}
	return r.o.add(r.o.spec(fragment.KindReview, key, 0), r.o.render.Review(v))
}

func buildCredit(r *reducer[catalog.Credit], key catalog.Key, c *catalog.Credit, said [][]byte) error {
	spec := r.o.spec(fragment.KindCredit, key, 0)
	if c != nil {
		return r.o.add(spec, r.o.render.Credit(c))
	}
	d, err := derive.ParseCredit(said[0])
	if err != nil {
		return err
	}
	return r.o.add(spec, r.o.render.DerivedCredit(&d))
}

func buildEpisodeGroup(r *reducer[catalog.EpisodeGroupRecord], key catalog.Key, g *catalog.EpisodeGroupRecord, _ [][]byte) error {
	return r.o.add(r.o.spec(fragment.KindEpisodeGroup, key, 0), r.o.render.EpisodeGroup(g))
}

// reduceFind builds partition i of what external ids find.
func (b *builder) reduceFind(ctx context.Context, o *output, i int) error {
	it, err := b.found.Partition(ctx, i, b.reduceMemory())
	if err != nil {
		return err
	}
	defer it.Drop()
	f := &findReducer{o: o}
	if err := it.Each(f.add); err != nil {
		return err
	}
	return f.flush()
}

// A findReducer gathers what one external id after another finds.
type findReducer struct {
	o    *output
	key  []byte
	hits []render.Hit
	last []byte // payload
}

func (f *findReducer) add(key, payload []byte) error {
	if string(key) != string(f.key) {
		if err := f.flush(); err != nil {
			return err
		}
		f.key = append(f.key[:0], key...)
	} else if string(payload) == string(f.last) {
		return nil // said twice
	}
	f.last = append(f.last[:0], payload...)
	h := parseHit(payload)
	f.hits = append(f.hits, render.Hit{Kind: h.kind, ID: h.id, Season: h.season, Episode: h.episode})
	return nil
}

// flush builds what the key finds.
func (f *findReducer) flush() error {
	if len(f.hits) == 0 {
		return nil
	}
	hits := f.hits
	f.hits = f.hits[:0]
	return f.o.add(f.o.keySpec(f.key, 0), f.o.render.Find(hits))
}
