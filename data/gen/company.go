package gen

// A company is what titles say of one. Networks are alike.
type company struct {
	id      int64
	name    uint64
	logo    uint64
	country string // "" where nobody knows
	octave  int
}

// companyOf makes company i, or network i where that is what p holds.
func (w *world) companyOf(p *population, i uint64) company {
	r := p.random(i, streamCore)
	c := company{id: p.id(i), name: r.next(), octave: octave(p.share(p.rank(i)))}
	c.logo = r.seed(min(950, 150+100*c.octave))
	if r.chance(min(980, 600+60*c.octave)) {
		c.country = w.countries[w.countryOf.pick(&r)].code
	}
	return c
}

// appendCompanyName appends the company's name. Some hold a comma: lists joined by commas
// cannot be taken apart.
func (w *world) appendCompanyName(b []byte, c *company) []byte {
	r := random{c.name}
	l := w.words
	switch x := r.below(1000); {
	case x < 7:
		return appendAll(b, pick(&r, l.companies), ", ", pick(&r, l.companies), " & Co.")
	case x < 350:
		return appendAll(b, pick(&r, l.companies), " ", pick(&r, l.endings))
	case x < 600:
		o := l.origins[l.originOf.pick(&r)]
		return appendAll(b, pick(&r, o.family).latin, " ", pick(&r, l.endings))
	case x < 800:
		return appendAll(b, pick(&r, l.companies), " ", pick(&r, l.titleNouns), " ", pick(&r, l.endings))
	case x < 930:
		return appendAll(b, pick(&r, l.towns), " ", pick(&r, l.titleNouns), " ", pick(&r, l.endings))
	}
	return l.appendTitle(b, &r, l.languages[l.languageOf.pick(&r)])
}

// appendAll appends texts.
func appendAll(b []byte, parts ...string) []byte {
	for _, s := range parts {
		b = append(b, s...)
	}
	return b
}

// writeCompanyRef writes company or network i as titles name it.
func (w *world) writeCompanyRef(j *writer, name string, p *population, i uint64) {
	c := w.companyOf(p, i)
	j.object(name, func() { w.writeCompanyFields(j, &c) })
}

// writeCompanyFields writes the fields that titles and the record itself have.
func (w *world) writeCompanyFields(j *writer, c *company) {
	j.int("id", c.id)
	j.path("logo_path", c.logo, ".png")
	j.text("name", func() { j.b = w.appendCompanyName(j.b, c) })
	j.string("origin_country", c.country)
}

// writeCompany writes the record of company i.
func (w *world) writeCompany(j *writer, i uint64) {
	c := w.companyOf(w.companies, i)
	r := w.companies.random(i, streamDetails)
	j.text("description", func() {
		if r.chance(10 + 20*c.octave) {
			j.b = w.words.appendText(j.b, &r, w.words.languages[0], 250)
		}
	})
	w.writeHeadquarters(j, &r, &c)
	w.writeCompanyFields(j, &c)
	if parent := w.companies.ranked(zipf(&r, w.companies.n)); parent != i && r.chance(40) {
		w.writeCompanyRef(j, "parent_company", w.companies, parent)
	} else {
		j.null("parent_company")
	}
}

// writeHeadquarters writes headquarters and the field behind it, homepage.
func (w *world) writeHeadquarters(j *writer, r *random, c *company) {
	j.text("headquarters", func() {
		if r.chance(min(900, 100+100*c.octave)) {
			j.add(pick(r, w.words.towns))
		}
	})
	j.homepage("homepage", r, min(900, 80+80*c.octave))
}

// writeNetwork writes the record of network i.
func (w *world) writeNetwork(j *writer, i uint64) {
	c := w.companyOf(w.networks, i)
	r := w.networks.random(i, streamDetails)
	w.writeHeadquarters(j, &r, &c)
	w.writeCompanyFields(j, &c)
}

// appendKeyword appends the name of keyword i.
func (w *world) appendKeyword(b []byte, i uint64) []byte {
	r := w.keywords.random(i, streamCore)
	l := w.words
	switch x := r.below(1000); {
	case x < 9:
		return appendAll(b, pick(&r, l.towns), ", ", w.countries[w.countryOf.pick(&r)].name)
	case x < 180:
		return appendAll(b, pick(&r, l.nouns))
	case x < 550:
		return appendAll(b, pick(&r, l.adjectives), " ", pick(&r, l.nouns))
	case x < 780:
		return appendAll(b, pick(&r, l.nouns), " ", pick(&r, l.people))
	case x < 900:
		return appendAll(b, pick(&r, l.adjectives), " ", pick(&r, l.people), " ", pick(&r, l.plurals))
	}
	return appendAll(b, pick(&r, l.plurals), " and ", pick(&r, l.plurals))
}

// writeKeyword writes the record of keyword i.
func (w *world) writeKeyword(j *writer, i uint64) {
	j.int("id", w.keywords.id(i))
	j.text("name", func() { j.b = w.appendKeyword(j.b, i) })
}
