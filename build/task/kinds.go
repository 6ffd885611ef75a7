package task

import (
	"slices"

	"reelsplice/build/derive"
	"reelsplice/build/render"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

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

func buildPerson(p *partition, key catalog.Key, rec *catalog.Person, contributions [][]byte) error {
	credits := make([]derive.Credit, 0, len(contributions))
	for _, b := range contributions {
		c, err := derive.ParseCredit(b)
		if err != nil {
			return err
		}
		credits = append(credits, c)
	}
	if rec == nil {
		rec = personOf(&credits[0].Person)
	}
	render.Base(fragment.KindPerson, record.Of(rec))
	department := rec.KnownForDepartment.V
	if department == "" {
		department = derive.Department(credits)
	}
	if len(credits) > 0 && !rec.OriginalName.Set && credits[0].Person.OriginalName != "" {
		rec.OriginalName = record.Text(credits[0].Person.OriginalName)
	}
	p.c.externalIDs(record.Of(rec.ExternalIDs), rec.IMDbID.V, hit{kind: fragment.KindPerson, id: key.ID()})
	spec := p.o.spec(fragment.KindPerson, key, key.ID())
	spec.Aliases = p.latestAlias(key)
	err := p.o.add(spec, p.o.render.Person(rec, render.PersonDerived{
		Credits: credits, KnownFor: derive.KnownFor(department, credits),
	}))
	if err != nil {
		return err
	}
	return p.c.rows.Person(key.ID(), rec)
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

func buildCollection(p *partition, key catalog.Key, c *catalog.Collection, contributions [][]byte) error {
	titles, ref, err := parseRefs[catalog.CollectionRef](contributions)
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
	if err := p.o.add(p.o.spec(fragment.KindCollection, key, key.ID()), p.o.render.Collection(c, d)); err != nil {
		return err
	}
	return p.c.rows.Collection(key.ID(), c, popularity, adult)
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

func buildCompany(p *partition, key catalog.Key, c *catalog.Company, contributions [][]byte) error {
	titles, ref, err := parseRefs[catalog.CompanyRef](contributions)
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
	if err := p.o.add(p.o.spec(fragment.KindCompany, key, key.ID()), p.o.render.Company(c, movies)); err != nil {
		return err
	}
	return p.c.rows.Company(key.ID(), c, countTitles(titles))
}

func buildNetwork(p *partition, key catalog.Key, n *catalog.Network, contributions [][]byte) error {
	_, ref, err := parseRefs[catalog.CompanyRef](contributions)
	if err != nil {
		return err
	}
	if n == nil {
		n = &catalog.Network{ID: ref.ID, LogoPath: ref.LogoPath, Name: ref.Name, OriginCountry: ref.OriginCountry}
	}
	return p.o.add(p.o.spec(fragment.KindNetwork, key, key.ID()), p.o.render.Network(n))
}

func buildKeyword(p *partition, key catalog.Key, k *catalog.KeywordRecord, contributions [][]byte) error {
	titles, ref, err := parseRefs[catalog.Keyword](contributions)
	if err != nil {
		return err
	}
	if k == nil {
		k = &catalog.KeywordRecord{ID: ref.ID, Name: ref.Name}
	}
	all, clean := movieIDs(titles)
	if err := p.o.add(p.o.spec(fragment.KindKeyword, key, key.ID()), p.o.render.Keyword(k, clean, all)); err != nil {
		return err
	}
	return p.c.rows.Keyword(key.ID(), k, countTitles(titles))
}

func buildReview(p *partition, key catalog.Key, v *catalog.ReviewRecord, contributions [][]byte) error {
	if v == nil {
		var err error
		if _, v, err = parseRefs[catalog.ReviewRecord](contributions); err != nil {
			return err
		}
	}
	return p.o.add(p.o.spec(fragment.KindReview, key, 0), p.o.render.Review(v))
}

func buildCredit(p *partition, key catalog.Key, c *catalog.Credit, _ [][]byte) error {
	return p.o.add(p.o.spec(fragment.KindCredit, key, 0), p.o.render.Credit(c))
}

func buildEpisodeGroup(p *partition, key catalog.Key, g *catalog.EpisodeGroupRecord, _ [][]byte) error {
	return p.o.add(p.o.spec(fragment.KindEpisodeGroup, key, 0), p.o.render.EpisodeGroup(g))
}

func buildList(p *partition, key catalog.Key, l *catalog.List, _ [][]byte) error {
	fragments := p.o.render.List(l)
	if fragments == nil {
		return nil
	}
	return p.o.add(p.o.spec(fragment.KindList, key, key.ID()), fragments)
}
