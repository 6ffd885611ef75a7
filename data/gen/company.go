package gen

// company writes the fields of company or network i that titles and the record itself have.
func (j *writer) company(p *population, i uint64) {
	r := p.random(i, streamCore)
	o := octave(p.share(i))
	j.int("id", p.id(i))
	j.path("logo_path", r.seed(min(950, 150+100*o)), ".png")
	j.text("name", func() { j.phrase(&r, &j.companyNames) })
	j.text("origin_country", func() {
		if r.chance(min(980, 600+60*o)) {
			j.add(j.countries.pick(&r).Code)
		}
	})
}

// companyRecord writes the record of company i.
func (j *writer) companyRecord(i uint64) {
	r := j.companies.random(i, streamDetails)
	j.text("description", func() {
		if r.chance(10 + 20*octave(j.companies.share(i))) {
			j.prose(&r, j.english, 250)
		}
	})
	j.headquarters(&r, j.companies, i)
	j.company(j.companies, i)
	if parent := j.companies.pick(&r, credits); parent != i && r.chance(40) {
		j.object("parent_company", func() { j.company(j.companies, parent) })
	} else {
		j.null("parent_company")
	}
}

// headquarters writes headquarters and the field behind it, homepage.
func (j *writer) headquarters(r *random, p *population, i uint64) {
	o := octave(p.share(i))
	j.text("headquarters", func() {
		if r.chance(min(900, 100+100*o)) {
			j.add(pick(r, j.words["town"]))
		}
	})
	j.homepage(r, min(900, 80+80*o))
}

// networkRecord writes the record of network i.
func (j *writer) networkRecord(i uint64) {
	r := j.networks.random(i, streamDetails)
	j.headquarters(&r, j.networks, i)
	j.company(j.networks, i)
}

// keyword writes keyword i, its record and as movies have it.
func (j *writer) keyword(i uint64) {
	j.int("id", j.keywords.id(i))
	j.keywordName(i)
}

// tvKeyword writes keyword i as series have it.
func (j *writer) tvKeyword(i uint64) {
	j.keywordName(i)
	j.int("id", j.keywords.id(i))
}

func (j *writer) keywordName(i uint64) {
	r := j.keywords.random(i, streamCore)
	j.text("name", func() { j.phrase(&r, &j.keywordNames) })
}
