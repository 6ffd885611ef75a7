package gen

// A company is what titles say of one. Networks are alike.
type company struct {
	of      *population
	i       uint64
	id      int64
	name    uint64
	logo    uint64
	country string // "" where nobody knows
	octave  int
}

func (w *world) companyOf(i uint64) company { return w.companyIn(w.companies, i) }

func (w *world) companyIn(p *population, i uint64) company {
	r := p.random(i, streamCore)
	c := company{of: p, i: i, id: p.id(i), name: r.next(), octave: octave(p.share(p.rank(i)))}
	c.logo = r.seed(min(950, 150+100*c.octave))
	if r.chance(min(980, 600+60*c.octave)) {
		c.country = w.countries[w.countryOf.pick(&r)].code
	}
	return c
}

// appendName appends the company's name. Some hold a comma: lists joined by commas
// cannot be taken apart.
func (w *world) appendCompanyName(b []byte, c *company) []byte {
	r := random{c.name}
	l := w.words
	switch x := r.below(1000); {
	case x < 7:
		b = append(append(b, pick(&r, l.companies)...), ", "...)
		b = append(append(b, pick(&r, l.companies)...), " & Co."...)
	case x < 350:
		b = append(append(b, pick(&r, l.companies)...), ' ')
		b = append(b, pick(&r, l.endings)...)
	case x < 600:
		o := l.origins[l.originOf.pick(&r)]
		b = append(append(b, pick(&r, o.family).latin...), ' ')
		b = append(b, pick(&r, l.endings)...)
	case x < 800:
		b = append(append(b, pick(&r, l.companies)...), ' ')
		b = append(append(b, pick(&r, l.titleNouns)...), ' ')
		b = append(b, pick(&r, l.endings)...)
	case x < 930:
		b = append(append(b, pick(&r, l.towns)...), ' ')
		b = append(append(b, pick(&r, l.titleNouns)...), ' ')
		b = append(b, pick(&r, l.endings)...)
	default:
		lang := l.languages[l.languageOf.pick(&r)]
		b = l.appendTitle(b, &r, lang)
	}
	return b
}

// appendCompanyRef appends a company or a network as titles name it.
func (w *world) appendCompanyRef(b []byte, c *company) []byte {
	b = append(b, `{"id":`...)
	b = appendInt(b, c.id)
	b = append(b, `,"logo_path":`...)
	b = appendPathOf(b, c.logo, ".png")
	b = append(b, `,"name":"`...)
	b = w.appendCompanyName(b, c)
	b = append(append(b, `","origin_country":"`...), c.country...)
	return append(b, `"}`...)
}

// appendCompany appends the record of company i.
func (w *world) appendCompany(b []byte, i uint64) []byte {
	c := w.companyOf(i)
	r := w.companies.random(i, streamDetails)
	b = append(b, `{"description":"`...)
	if r.chance(10 + 20*c.octave) {
		b = w.words.appendText(b, &r, w.words.languages[0], 250)
	}
	b = append(b, `","headquarters":"`...)
	b = w.appendHeadquarters(b, &r, &c)
	b = append(b, `","id":`...)
	b = appendInt(b, c.id)
	b = append(b, `,"logo_path":`...)
	b = appendPathOf(b, c.logo, ".png")
	b = append(b, `,"name":"`...)
	b = w.appendCompanyName(b, &c)
	b = append(append(b, `","origin_country":"`...), c.country...)
	b = append(b, `","parent_company":`...)
	if parent := w.companies.ranked(zipf(&r, w.companies.n)); parent != i && r.chance(40) {
		p := w.companyOf(parent)
		b = w.appendCompanyRef(b, &p)
	} else {
		b = append(b, "null"...)
	}
	return append(b, "}\n"...)
}

// appendHeadquarters appends headquarters and the member behind it, homepage.
func (w *world) appendHeadquarters(b []byte, r *random, c *company) []byte {
	if r.chance(min(900, 100+100*c.octave)) {
		b = append(b, pick(r, w.words.towns)...)
	}
	b = append(b, `","homepage":"`...)
	return r.appendHomepage(b, min(900, 80+80*c.octave))
}

// appendNetwork appends the record of network i.
func (w *world) appendNetwork(b []byte, i uint64) []byte {
	c := w.companyIn(w.networks, i)
	r := w.networks.random(i, streamDetails)
	b = append(b, `{"headquarters":"`...)
	b = w.appendHeadquarters(b, &r, &c)
	b = append(b, `","id":`...)
	b = appendInt(b, c.id)
	b = append(b, `,"logo_path":`...)
	b = appendPathOf(b, c.logo, ".png")
	b = append(b, `,"name":"`...)
	b = w.appendCompanyName(b, &c)
	b = append(append(b, `","origin_country":"`...), c.country...)
	return append(b, "\"}\n"...)
}

// appendKeyword appends the name of keyword i.
func (w *world) appendKeyword(b []byte, i uint64) []byte {
	r := w.keywords.random(i, streamCore)
	l := w.words
	switch x := r.below(1000); {
	case x < 9:
		b = append(append(b, pick(&r, l.towns)...), ", "...)
		b = append(b, w.countries[w.countryOf.pick(&r)].name...)
	case x < 180:
		b = append(b, pick(&r, l.nouns)...)
	case x < 550:
		b = append(append(b, pick(&r, l.adjectives)...), ' ')
		b = append(b, pick(&r, l.nouns)...)
	case x < 780:
		b = append(append(b, pick(&r, l.nouns)...), ' ')
		b = append(b, pick(&r, l.people)...)
	case x < 900:
		b = append(append(b, pick(&r, l.adjectives)...), ' ')
		b = append(append(b, pick(&r, l.people)...), ' ')
		b = append(b, pick(&r, l.plurals)...)
	default:
		b = append(append(b, pick(&r, l.plurals)...), " and "...)
		b = append(b, pick(&r, l.plurals)...)
	}
	return b
}

// appendKeywordRecord appends the record of keyword i.
func (w *world) appendKeywordRecord(b []byte, i uint64) []byte {
	b = append(b, `{"id":`...)
	b = appendInt(b, w.keywords.id(i))
	b = append(b, `,"name":"`...)
	b = w.appendKeyword(b, i)
	return append(b, "\"}\n"...)
}
