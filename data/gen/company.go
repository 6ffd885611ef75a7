package gen

// A company is the part of one that titles have, too. Networks are alike.
type company struct {
	id      int64
	name    uint64
	logo    uint64
	country string // "" for unknown
	octave  int
}

// companyOf makes company i, or network i where that is what p holds.
func (w *world) companyOf(p *population, i uint64) company {
	r := p.random(i, streamCore)
	c := company{id: p.id(i), name: r.next(), octave: octave(p.share(p.rank(i)))}
	c.logo = r.seed(min(950, 150+100*c.octave))
	if r.chance(min(980, 600+60*c.octave)) {
		c.country = w.words.countries[w.words.countryOf.pick(&r)].code
	}
	return c
}

// writeCompanyRef writes company or network i as titles name it.
func writeCompanyRef(w *world, j *writer, name string, p *population, i uint64) {
	c := w.companyOf(p, i)
	j.object(name, func() { writeCompanyFields(w, j, &c) })
}

// writeCompanyFields writes the fields that titles and the record itself have.
func writeCompanyFields(w *world, j *writer, c *company) {
	j.int("id", c.id)
	j.path("logo_path", c.logo, ".png")
	r := random{c.name}
	j.text("name", func() { j.b = w.words.appendForm(j.b, &r, &w.words.companyNames) })
	j.string("origin_country", c.country)
}

// writeCompany writes the record of company i.
func writeCompany(w *world, j *writer, i uint64) {
	c := w.companyOf(w.companies, i)
	r := w.companies.random(i, streamDetails)
	j.text("description", func() {
		if r.chance(10 + 20*c.octave) {
			j.b = w.words.appendText(j.b, &r, w.words.languages[0], 250)
		}
	})
	writeHeadquarters(w, j, &r, &c)
	writeCompanyFields(w, j, &c)
	if parent := w.companies.ranked(zipf(&r, w.companies.n)); parent != i && r.chance(40) {
		writeCompanyRef(w, j, "parent_company", w.companies, parent)
	} else {
		j.null("parent_company")
	}
}

// writeHeadquarters writes headquarters and the field behind it, homepage.
func writeHeadquarters(w *world, j *writer, r *random, c *company) {
	j.text("headquarters", func() {
		if r.chance(min(900, 100+100*c.octave)) {
			j.add(pick(r, w.words.towns))
		}
	})
	j.homepage("homepage", r, min(900, 80+80*c.octave))
}

// writeNetwork writes the record of network i.
func writeNetwork(w *world, j *writer, i uint64) {
	c := w.companyOf(w.networks, i)
	r := w.networks.random(i, streamDetails)
	writeHeadquarters(w, j, &r, &c)
	writeCompanyFields(w, j, &c)
}

// writeKeyword writes keyword i, its record and as titles have it.
func writeKeyword(w *world, j *writer, i uint64) {
	j.int("id", w.keywords.id(i))
	writeKeywordName(w, j, i)
}

func writeKeywordName(w *world, j *writer, i uint64) {
	r := w.keywords.random(i, streamCore)
	j.text("name", func() { j.b = w.words.appendForm(j.b, &r, &w.words.keywords) })
}
