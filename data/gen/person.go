package gen

import "unicode/utf8"

// A person is the part of one that credits have.
type person struct {
	octave     int // of the rank
	gender     int
	popularity int // 1/10000
	profile    uint64
	adult      bool
	known      *department
	given      name
	family     name
	origin     *origin
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
	known := w.knownFor[rank%peopleSlots]
	profile := withProfile[min(1, known)]
	x := r.next()
	p := person{
		octave: octave(share), known: &w.departments[known], adult: x&1023 == 0,
		popularity: w.Tail.PersonPopularity.at(r.near(share, 1)),
		profile:    r.seed(profile[min(octave(share), len(profile)-1)]),
		origin:     w.origins.pick(&r),
	}
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
	given := p.origin.male
	if female {
		given = p.origin.female
	}
	p.given, p.family = given[r.front(len(given))], p.origin.family[r.front(len(p.origin.family))]
	return p
}

// addLatinName appends the name in Latin letters.
func addLatinName(j *writer, p *person) { j.add(p.given.latin, " ", p.family.latin) }

// addOwnName appends the name as the person writes it.
func addOwnName(j *writer, p *person) {
	if p.origin.familyFirst {
		j.add(p.family.own, p.given.own)
	} else {
		j.add(p.given.own, " ", p.family.own)
	}
}

// writePersonNames writes the name in Latin letters and as the person writes it.
func writePersonNames(j *writer, p *person) {
	j.text("name", func() { addLatinName(j, p) })
	j.text("original_name", func() { addOwnName(j, p) })
}

// writePersonRecord writes the record of person i.
func writePersonRecord(j *writer, i uint64) {
	p := j.w.personOf(i)
	o := p.octave
	details := j.w.people.random(i, streamDetails)
	r := &details
	imdb := 0
	if r.chance(min(950, 220+110*o)) {
		imdb = r.between(1, 15_600_000)
	}
	j.bool("adult", p.adult)
	j.list("also_known_as", func() {
		if p.given.own != p.given.latin {
			j.text("", func() { addOwnName(j, &p) })
		}
		if !r.chance(min(700, 20+80*o)) {
			return
		}
		for range 1 + r.front(5) {
			given := pick(r, p.origin.male).latin
			_, initial := utf8.DecodeRuneInString(given)
			j.text("", func() { j.add(given[:initial], ". ", p.family.latin, "-", pick(r, p.origin.family).latin) })
		}
	})
	j.text("biography", func() { // more often and longer for those who rank well
		if !r.chance(min(970, 25+70*o)) {
			return
		}
		addLatinName(j, &p)
		j.add(" was born in ", pick(r, j.w.words["town"]), ". ")
		addProse(j, r, j.w.english, r.logNormal(250, 60))
		for range r.front(min(12, 1+o)) {
			j.add(`\n\n`)
			addProse(j, r, j.w.english, r.logNormal(400, 50))
		}
	})
	born := makeDay(1895+r.below(110), r.below(365))
	died := born + day(r.between(30*365, 96*365))
	known := r.chance(min(920, 90+115*o))
	j.day("birthday", born, known, "null")
	j.day("deathday", died, known && died < today && r.chance(800), "null")
	j.int("gender", p.gender)
	if r.chance(10 + 15*o) {
		j.homepage(r, 1000)
	} else {
		j.null("homepage")
	}
	j.int("id", j.w.people.id(i))
	j.imdb("imdb_id", "nm", imdb)
	j.string("known_for_department", p.known.Name)
	j.text("name", func() { addLatinName(j, &p) })
	j.textIf(r.chance(min(900, 60+120*o)), "place_of_birth", func() {
		j.add(pick(r, j.w.words["town"]), ", ", j.w.countries.pick(r).EnglishName)
	})
	j.float("popularity", p.popularity, 10_000)
	j.path("profile_path", p.profile, ".jpg")
	j.object("external_ids", func() {
		j.null("freebase_mid")
		j.null("freebase_id")
		j.imdb("imdb_id", "nm", imdb)
		j.null("tvrage_id")
		j.wikidata(r, min(950, 50+110*o))
		j.accounts(r, 10+30*o, "facebook_id", "instagram_id", "tiktok_id", "twitter_id", "youtube_id")
	})
	j.object("images", func() { // the person's own first
		n := 0
		if p.profile != 0 {
			n = max(1, min(60, r.logNormal(100+60*o*o, 50)/100))
		}
		j.objects("profiles", n, func(rank int) {
			m := image{width: 2 * (200 + r.below(500)), aspect: 667, path: p.profile}
			if rank > 0 {
				m.path = r.next() | 1
			}
			writeImage(j, r, &m, rank, ".jpg")
		})
	})
	j.object("translations", func() { // few have any
		n := 0
		if r.chance(min(1000, 80+90*o)) {
			n = min(len(j.w.locales), 1+r.front(2+3*o))
		}
		j.objects("translations", n, func(i int) {
			l := &j.w.locales[i]
			writeLocale(j, l)
			j.object("data", func() {
				j.text("biography", func() {
					if i > 0 && r.chance(500) {
						addProse(j, r, l.language, r.logNormal(300, 60))
					}
				})
				j.text("name", func() {
					if l.words != nil && r.chance(200) {
						addOwnName(j, &p)
					}
				})
			})
		})
	})
}
