package gen

import "unicode/utf8"

// A person is the part of one that credits have.
type person struct {
	i, rank    uint64
	gender     int
	popularity int64 // 1/10000
	profile    uint64
	adult      bool
	known      *department
	given      name
	family     name
	origin     *origin
}

// noProfile is the permille of people without a profile image, by the octave of their
// rank, actors and others.
var noProfile = [2]curveByOctave{
	{600, 340, 220, 150, 100, 75, 60, 45, 35, 25, 15, 10},
	{970, 950, 930, 900, 870, 830, 790, 740, 670, 590, 500, 400, 300, 180, 80},
}

// A curveByOctave has a value for each halving of the share that ranks better.
type curveByOctave []int

func (c curveByOctave) at(share uint64) int { return c[min(octave(share), len(c)-1)] }

// personOf makes the part of person i that credits have.
func (w *world) personOf(i uint64) person {
	r := w.people.random(i, streamCore)
	p := person{i: i, rank: w.people.rank(i)}
	share := w.people.share(p.rank)
	p.known = w.known(p.rank)
	p.popularity = figures().Tail.PersonPopularity.at(r.sameOctave(share))
	missing := &noProfile[0]
	if p.known != &w.departments[acting] {
		missing = &noProfile[1]
	}
	if !r.chance(missing.at(share)) {
		p.profile = r.next() | 1
	}
	x := r.next()
	p.adult = x&1023 == 0
	female := x>>10&1023 < 400
	switch g := x >> 20 & 1023; {
	case g < 270:
		p.gender = 0
	case g < 272:
		p.gender = 3
	case female:
		p.gender = 1
	default:
		p.gender = 2
	}
	p.origin = w.words.origins[w.words.originOf.pick(&r)]
	if female {
		p.given = p.origin.female[r.front(len(p.origin.female))]
	} else {
		p.given = p.origin.male[r.front(len(p.origin.male))]
	}
	p.family = p.origin.family[r.front(len(p.origin.family))]
	return p
}

// appendName appends the name in Latin letters.
func (p *person) appendName(b []byte) []byte {
	b = append(append(b, p.given.latin...), ' ')
	return append(b, p.family.latin...)
}

// appendOwnName appends the name as the person writes it.
func (p *person) appendOwnName(b []byte) []byte {
	first, second := p.given.own, p.family.own
	join := " "
	if p.origin.familyFirst {
		first, second, join = second, first, p.origin.join
	}
	return append(append(append(b, first...), join...), second...)
}

// writeCredited writes what every credit has of person i.
func writeCredited(w *world, j *writer, i uint64) {
	p := w.personOf(i)
	j.bool("adult", p.adult)
	j.int("gender", int64(p.gender))
	j.int("id", w.people.id(i))
	j.string("known_for_department", p.known.name)
	j.text("name", func() { j.b = p.appendName(j.b) })
	j.text("original_name", func() { j.b = p.appendOwnName(j.b) })
	j.fixed("popularity", p.popularity, 4)
	j.path("profile_path", p.profile, ".jpg")
}

// credited picks a person of a department; in one credit of twenty, somebody known for
// something else.
func (w *world) credited(r *random, d *department) uint64 {
	rank := zipf(r, w.people.n)
	if !r.chance(50) {
		slotted := rank - rank%peopleSlots + uint64(pick(r, d.slots))
		if slotted < w.people.n {
			rank = slotted
		}
	}
	return w.people.ranked(rank)
}

// writePerson writes the record of person i.
func writePerson(w *world, j *writer, i uint64) {
	p := w.personOf(i)
	r := w.people.random(i, streamDetails)
	o := octave(w.people.share(p.rank))
	imdb := uint64(0)
	if r.chance(min(950, 220+110*o)) {
		imdb = 1 + r.next()%15_600_000
	}
	j.bool("adult", p.adult)
	j.list("also_known_as", func() { p.writeAliases(j, &r, o) })
	j.text("biography", func() { addBiography(w, j, &r, &p, o) })
	writeLife(j, &r, o)
	j.int("gender", int64(p.gender))
	if r.chance(10 + 15*o) {
		j.text("homepage", func() {
			j.add("https://www.")
			j.letters(&r, 9)
			j.add(".example/")
		})
	} else {
		j.null("homepage")
	}
	j.int("id", w.people.id(i))
	j.imdb("imdb_id", "nm", imdb)
	j.string("known_for_department", p.known.name)
	j.text("name", func() { j.b = p.appendName(j.b) })
	if r.chance(min(900, 60+120*o)) {
		j.text("place_of_birth", func() { j.add(pick(&r, w.words.towns), ", ", w.words.countries[w.words.countryOf.pick(&r)].name) })
	} else {
		j.null("place_of_birth")
	}
	j.fixed("popularity", p.popularity, 4)
	j.path("profile_path", p.profile, ".jpg")
	j.object("external_ids", func() { writePersonExternalIDs(j, &r, imdb, o) })
	j.object("images", func() {
		j.list("profiles", func() { writeProfiles(j, &r, p.profile, o) })
	})
	j.object("translations", func() {
		j.list("translations", func() { writeBiographies(w, j, &r, &p, o) })
	})
}

// writeAliases writes other names.
func (p *person) writeAliases(j *writer, r *random, o int) {
	if p.given.own != p.given.latin {
		j.text("", func() { j.b = p.appendOwnName(j.b) })
	}
	if !r.chance(min(700, 20+80*o)) {
		return
	}
	for range 1 + r.front(5) {
		initial, _ := utf8.DecodeRuneInString(pick(r, p.origin.male).latin)
		j.text("", func() {
			j.b = utf8.AppendRune(j.b, initial)
			j.add(". ", p.family.latin, "-", pick(r, p.origin.family).latin)
		})
	}
}

// addBiography appends a text, more often and longer for those who rank well.
func addBiography(w *world, j *writer, r *random, p *person, o int) {
	if !r.chance(min(970, 25+70*o)) {
		return
	}
	english := w.words.languages[0]
	j.b = p.appendName(j.b)
	j.add(" was born in ", pick(r, w.words.towns), ". ")
	j.b = w.words.appendText(j.b, r, english, int(r.logNormal(250, 60)))
	for range r.front(min(12, 1+o)) {
		j.add(`\n\n`)
		j.b = w.words.appendText(j.b, r, english, int(r.logNormal(400, 50)))
	}
}

// writeLife writes birthday and deathday.
func writeLife(j *writer, r *random, o int) {
	if !r.chance(min(920, 90+115*o)) {
		j.null("birthday")
		j.null("deathday")
		return
	}
	born := makeDay(1895+r.below(110), r.below(365))
	died := born + day(r.between(30*365, 96*365))
	j.day("birthday", born, true, "")
	j.day("deathday", died, died < today && r.chance(800), "null")
}

func writePersonExternalIDs(j *writer, r *random, imdb uint64, o int) {
	j.null("freebase_mid")
	j.null("freebase_id")
	j.imdb("imdb_id", "nm", imdb)
	j.null("tvrage_id")
	j.wikidata("wikidata_id", r, min(950, 50+110*o))
	for _, name := range []string{"facebook_id", "instagram_id", "tiktok_id", "twitter_id", "youtube_id"} {
		j.account(name, r, 10+30*o)
	}
}

// writeProfiles writes profile images, the person's own first.
func writeProfiles(j *writer, r *random, profile uint64, o int) {
	if profile == 0 {
		return
	}
	for n := range max(1, min(60, int(r.logNormal(int64(100+60*o*o), 50)/100))) {
		if n > 0 {
			profile = r.next() | 1
		}
		m := image{width: 2 * (200 + r.below(500)), aspect: 667, rank: n, path: profile}
		j.object("", func() { writeImage(j, r, &m) })
	}
}

// writeBiographies writes the translations of a person. Few have any.
func writeBiographies(w *world, j *writer, r *random, p *person, o int) {
	if !r.chance(min(1000, 80+90*o)) {
		return
	}
	for n := range min(len(w.locales), 1+r.front(2+3*o)) {
		l := &w.locales[n]
		j.object("", func() {
			l.write(j)
			j.object("data", func() {
				j.text("biography", func() {
					if n > 0 && r.chance(500) {
						j.b = w.words.appendText(j.b, r, l.language, int(r.logNormal(300, 60)))
					}
				})
				j.text("name", func() {
					if l.language.words != nil && r.chance(200) {
						j.b = p.appendOwnName(j.b)
					}
				})
			})
		})
	}
}
