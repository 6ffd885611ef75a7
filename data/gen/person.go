package gen

// A person is the part of one that credits have.
type person struct {
	like               *node // row of the sample
	id                 int
	octave             int // of the rank
	gender             int
	popularity         int // 1/10000
	profile            uint64
	adult              bool
	given, family, own string // own is the name in a script of the person's own, "" for none
}

// withProfile is the permille of people with a profile image, by the octave of their rank,
// actors and others.
var withProfile = [2][]int{
	{400, 660, 780, 850, 900, 925, 940, 955, 965, 975, 985, 990},
	{30, 50, 70, 100, 130, 170, 210, 260, 330, 410, 500, 600, 700, 820, 920},
}

// personOf makes the part of person i that credits have.
func (w *world) personOf(i uint64) person {
	r := w.people.random(i, streamCore)
	rank := w.people.rank(i)
	share := w.people.shareOf(rank)
	p := person{
		like: w.rows["people"][rank%uint64(len(w.rows["people"]))], id: w.people.id(i), octave: octave(share),
		popularity: w.Tail.PersonPopularity.at(r.near(share, 1)), adult: r.below(1024) == 0,
		given: w.given[r.front(len(w.given))], family: w.family[r.front(len(w.family))],
	}
	known := 0
	if p.like.field("known_for_department").content() != "Acting" {
		known = 1
	}
	p.profile = r.seed(withProfile[known][min(p.octave, len(withProfile[known])-1)])
	switch g := r.below(1000); {
	case g < 270:
	case g < 272:
		p.gender = 3
	case g < 560:
		p.gender = 1
	default:
		p.gender = 2
	}
	if r.chance(170) {
		p.own = pick(&r, w.own)
	}
	return p
}

// write writes a field that credits have of a person, and reports whether it is one.
func (p *person) write(j *writer, f *node) bool {
	switch f.key {
	case "adult":
		j.bool(f.key, p.adult)
	case "gender":
		j.int(f.key, p.gender)
	case "id":
		j.int(f.key, p.id)
	case "known_for_department":
		j.key(f.key)
		j.add(p.like.field(f.key).text)
	case "name":
		j.string(f.key, p.given, " ", p.family)
	case "original_name":
		if p.own != "" {
			j.string(f.key, p.own)
		} else {
			j.string(f.key, p.given, " ", p.family)
		}
	case "popularity":
		j.float(f.key, p.popularity, 10_000)
	case "profile_path":
		j.path(f.key, p.profile)
	default:
		return false
	}
	return true
}

// somebody picks a person: in nineteen credits of twenty somebody known for a department, if many are. People in a row, by
// rank, are like the rows of the sample one after another.
func (w *world) somebody(r *random, department string) person {
	rank := credits.rank(r, w.people.n)
	if places := w.knownFor[department]; len(places) >= len(w.rows["people"])/10 && !r.chance(50) {
		slotted := rank - rank%uint64(len(w.rows["people"])) + uint64(pick(r, places))
		if slotted < w.people.n {
			rank = slotted
		}
	}
	return w.personOf(w.people.ranked(rank))
}

// credited writes a list of n credits like those of the sample, each of somebody who is known for what the row says.
func (j *writer) credited(name string, r *random, n int, from []*node, but func(i int, f *node) bool) {
	if j.w.people.n == 0 {
		n = 0
	}
	j.list(name, func() {
		for i := range n {
			like := pick(r, from)
			department := "Acting"
			for _, f := range like.fields {
				if f.key == "department" {
					department = f.content()
				}
			}
			p := j.w.somebody(r, department)
			j.like("", like, func(f *node) bool {
				if f.key == "credit_id" {
					j.objectID(f.key, r)
					return true
				}
				return but != nil && but(i, f) || p.write(j, f)
			})
		}
	})
}

// writeCredits writes the cast and the crew of a title with so many votes.
func writeCredits(j *writer, r *random, t *title, castVotes, crewVotes int) {
	first, lists := r.below(60), t.of.kind.name+".credits."
	j.object("credits", func() {
		j.credited("cast", r, j.w.Count.Cast.of(r, castVotes), j.w.lists[lists+"cast"], func(i int, f *node) bool {
			switch f.key {
			case "cast_id":
				j.int(f.key, first+i)
			case "order":
				j.int(f.key, i)
			default:
				return false
			}
			return true
		})
		j.credited("crew", r, j.w.Count.Crew.of(r, crewVotes), j.w.lists[lists+"crew"], nil)
	})
}

// writePersonRecord writes the record of person i.
func writePersonRecord(j *writer, i uint64) {
	w, p := j.w, j.w.personOf(i)
	o := p.octave
	details := w.people.random(i, streamDetails)
	r := &details
	imdb := 0
	if r.chance(min(950, 220+110*o)) {
		imdb = r.between(1, 15_600_000)
	}
	known := r.chance(min(920, 90+115*o))
	j.like("", p.like, func(f *node) bool {
		switch f.key {
		case "also_known_as":
			j.list(f.key, func() {
				if p.own != "" {
					j.string("", p.own)
				}
				if r.chance(min(700, 20+80*o)) {
					for range 1 + r.front(5) {
						j.string("", p.given, " ", p.family, "-", pick(r, w.family))
					}
				}
			})
		case "biography": // more often and longer for those who rank well
			j.text(f.key, func() {
				if r.chance(min(970, 25+70*o)) {
					for range 1 + r.front(min(12, 1+o)) {
						addProse(j, r, r.logNormal(350, 60))
						j.add(`\n\n`)
					}
				}
			})
		case "birthday", "deathday":
			on, ok := parseDay(f.text)
			j.day(f.key, on, ok && known, "null")
		case "homepage":
			j.null(f.key)
		case "imdb_id":
			j.imdb(f.key, "nm", imdb)
		case "external_ids":
			j.externalIDs(r, f, func() { j.imdb("imdb_id", "nm", imdb) }, 10+30*o)
		case "images": // the person's own first
			n := 0
			if p.profile != 0 {
				n = max(1, min(60, r.logNormal(100+60*o*o, 50)/100))
			}
			j.object(f.key, func() {
				j.drawn("profiles", r, n, w.lists["people.images.profiles"], func(i int, f *node) bool {
					if f.key == "file_path" {
						path := r.next() | 1
						if i == 0 {
							path = p.profile
						}
						j.path(f.key, path)
					}
					return f.key == "file_path"
				})
			})
		case "translations": // few have any
			j.object(f.key, func() {
				j.list(f.key, func() {
					for n, row := range f.fields[0].fields {
						if r.chance(min(1000, 80+90*o)) {
							j.like("", row, func(f *node) bool {
								if f.key == "data" {
									j.like(f.key, f, func(f *node) bool {
										j.text(f.key, func() {
											if n > 0 && f.key == "biography" && r.chance(500) {
												addProse(j, r, r.logNormal(300, 60))
											}
										})
										return true
									})
								}
								return f.key == "data"
							})
						}
					}
				})
			})
		default:
			return p.write(j, f)
		}
		return true
	})
}
