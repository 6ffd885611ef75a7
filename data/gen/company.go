package gen

// writeCompany writes the fields of company or network i that titles and the record itself have.
func writeCompany(j *writer, p *population, i uint64) {
	r := p.random(i, streamCore)
	o := octave(p.share(i))
	j.int("id", p.id(i))
	j.path("logo_path", r.seed(min(950, 150+100*o)), ".png")
	j.text("name", func() { addPhrase(j, &r, &j.w.companyNames) })
	j.text("origin_country", func() {
		if r.chance(min(980, 600+60*o)) {
			j.add(j.w.countries.pick(&r).Code)
		}
	})
}

// writeCompanyRecord writes the record of company i.
func writeCompanyRecord(j *writer, i uint64) {
	r := j.w.companies.random(i, streamDetails)
	j.text("description", func() {
		if r.chance(10 + 20*octave(j.w.companies.share(i))) {
			addProse(j, &r, j.w.english, 250)
		}
	})
	writeHeadquarters(j, &r, j.w.companies, i)
	writeCompany(j, j.w.companies, i)
	if parent := j.w.companies.pick(&r, credits); parent != i && r.chance(40) {
		j.object("parent_company", func() { writeCompany(j, j.w.companies, parent) })
	} else {
		j.null("parent_company")
	}
}

// writeHeadquarters writes headquarters and the field behind it, homepage.
func writeHeadquarters(j *writer, r *random, p *population, i uint64) {
	o := octave(p.share(i))
	j.text("headquarters", func() {
		if r.chance(min(900, 100+100*o)) {
			j.add(pick(r, j.w.words["town"]))
		}
	})
	j.homepage(r, min(900, 80+80*o))
}

// writeNetworkRecord writes the record of network i.
func writeNetworkRecord(j *writer, i uint64) {
	r := j.w.networks.random(i, streamDetails)
	writeHeadquarters(j, &r, j.w.networks, i)
	writeCompany(j, j.w.networks, i)
}

// writeKeyword writes keyword i, its record and as movies have it.
func writeKeyword(j *writer, i uint64) {
	j.int("id", j.w.keywords.id(i))
	addKeywordName(j, i)
}

// writeTVKeyword writes keyword i as series have it.
func writeTVKeyword(j *writer, i uint64) {
	addKeywordName(j, i)
	j.int("id", j.w.keywords.id(i))
}

func addKeywordName(j *writer, i uint64) {
	r := j.w.keywords.random(i, streamCore)
	j.text("name", func() { addPhrase(j, &r, &j.w.keywordNames) })
}
