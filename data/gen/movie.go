package gen

// writeMovie writes the record of movie i.
func writeMovie(j *writer, i uint64) {
	w := j.w
	m, _ := w.titleOf(w.movies, i)
	details := w.movies.random(i, streamDetails)
	r := &details
	imdb := 0
	if r.chance(w.Has.IMDb.at(m.votes)) {
		imdb = r.between(1, 38_000_000)
	}
	typical := w.Typical.Budget.at(m.votes)
	j.like("", m.like, func(f *node) bool {
		switch f.key {
		case "belongs_to_collection":
			writeCollectionRef(j, &m)
		case "budget":
			j.int(f.key, r.dollars(w.Has.Budget.at(m.votes), typical*100, 110))
		case "imdb_id":
			j.imdb(f.key, "tt", imdb)
		case "revenue":
			j.int(f.key, r.dollars(w.Has.Revenue.at(m.votes), typical*250, 130))
		case "runtime":
			runtime := 0 // unknown
			switch {
			case !r.chance(w.Has.Runtime.at(m.votes)):
			case r.chance(w.Typical.ShortFilm.at(m.votes)): // much of the tail
				runtime = max(1, r.logNormal(1400, 65)/100)
			default:
				runtime = min(338, r.logNormal(w.Typical.Runtime.at(m.votes), 19)/100)
			}
			j.int(f.key, runtime)
		case "status":
			status := "Released"
			if m.dated && m.out > today {
				status = pick(r, []string{"Post Production", "In Production", "Planned", "Rumored"})
			}
			j.string(f.key, status)
		case "tagline":
			j.text(f.key, func() {
				if r.chance(w.Has.Tagline.at(m.votes)) {
					j.add(pick(r, w.taglines))
				}
			})
		case "credits":
			writeCredits(j, r, &m, m.votes, m.votes)
		case "external_ids":
			j.externalIDs(r, f, func() { j.imdb("imdb_id", "tt", imdb) }, w.Has.Homepage.at(m.votes)/3)
		case "release_dates":
			n := 0
			if m.dated {
				n = w.Count.ReleaseCountries.of(r, m.votes)
			}
			j.object(f.key, func() { j.first(f.fields[0], n) })
		default:
			return m.writeSub(j, r, f, m.votes)
		}
		return true
	})
}

// dollars returns an amount in permille of a thousand cases, and else 0.
func (r *random) dollars(permille, median, sigma int) int {
	if !r.chance(permille) {
		return 0
	}
	return r.logNormal(median, sigma) * 10
}
