package gen

import "unicode/utf8"

// A person is what credits say of one.
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

// personOf makes what credits say of person i.
func (w *world) personOf(i uint64) person {
	r := w.people.random(i, streamCore)
	p := person{i: i, rank: w.people.rank(i)}
	share := w.people.share(p.rank)
	p.known = w.known(p.rank)
	p.popularity = personPopularity.at(r.sameOctave(share))
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

// appendCredited appends the members that every credit has of a person, with a comma behind.
func (w *world) appendCredited(b []byte, i uint64) []byte {
	p := w.personOf(i)
	b = append(b, `"adult":`...)
	b = appendBool(b, p.adult)
	b = append(b, `,"gender":`...)
	b = append(b, byte('0'+p.gender))
	b = append(b, `,"id":`...)
	b = appendInt(b, w.people.id(i))
	b = append(b, `,"known_for_department":"`...)
	b = append(b, p.known.name...)
	b = append(b, `","name":"`...)
	b = p.appendName(b)
	b = append(b, `","original_name":"`...)
	b = p.appendOwnName(b)
	b = append(b, `","popularity":`...)
	b = appendFixed(b, p.popularity, 4)
	b = append(b, `,"profile_path":`...)
	b = appendPathOf(b, p.profile, ".jpg")
	return append(b, ',')
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

// appendPerson appends the record of person i.
func (w *world) appendPerson(b []byte, i uint64) []byte {
	p := w.personOf(i)
	r := w.people.random(i, streamDetails)
	o := octave(w.people.share(p.rank))
	id := w.people.id(i)
	imdb := uint64(0)
	if r.chance(min(950, 220+110*o)) {
		imdb = 1 + r.next()%15_600_000
	}
	b = append(b, `{"adult":`...)
	b = appendBool(b, p.adult)
	b = append(b, `,"also_known_as":[`...)
	b = p.appendAliases(b, &r, o)
	b = append(b, `],"biography":"`...)
	b = w.appendBiography(b, &r, &p, o)
	b = append(b, '"')
	b = appendLife(b, &r, o)
	b = append(b, `,"gender":`...)
	b = append(b, byte('0'+p.gender))
	b = append(b, `,"homepage":`...)
	b = w.appendPersonHomepage(b, &r, o)
	b = append(b, `,"id":`...)
	b = appendInt(b, id)
	b = append(b, `,"imdb_id":`...)
	b = appendIMDb(b, "nm", imdb)
	b = append(b, `,"known_for_department":"`...)
	b = append(b, p.known.name...)
	b = append(b, `","name":"`...)
	b = p.appendName(b)
	b = append(b, `","place_of_birth":`...)
	if r.chance(min(900, 60+120*o)) {
		b = append(append(b, '"'), pick(&r, w.words.towns)...)
		b = append(append(b, ", "...), w.countries[w.countryOf.pick(&r)].name...)
		b = append(b, '"')
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"popularity":`...)
	b = appendFixed(b, p.popularity, 4)
	b = append(b, `,"profile_path":`...)
	b = appendPathOf(b, p.profile, ".jpg")
	b = w.appendPersonExternalIDs(b, &r, imdb, o)
	b = append(b, `,"images":{"profiles":[`...)
	b = appendProfiles(b, &r, p.profile, o)
	b = append(b, `]},"translations":{"translations":[`...)
	b = w.appendBiographies(b, &r, &p, o)
	return append(b, "]}}\n"...)
}

// appendAliases appends other names.
func (p *person) appendAliases(b []byte, r *random, o int) []byte {
	start := len(b)
	if p.given.own != p.given.latin {
		b = append(b, '"')
		b = p.appendOwnName(b)
		b = append(b, '"')
	}
	if !r.chance(min(700, 20+80*o)) {
		return b
	}
	for range 1 + r.front(5) {
		if len(b) > start {
			b = append(b, ',')
		}
		initial, _ := utf8.DecodeRuneInString(pick(r, p.origin.male).latin)
		b = utf8.AppendRune(append(b, '"'), initial)
		b = append(append(append(b, ". "...), p.family.latin...), '-')
		b = append(append(b, pick(r, p.origin.family).latin...), '"')
	}
	return b
}

// appendBiography appends a text, more often and longer for those who rank well.
func (w *world) appendBiography(b []byte, r *random, p *person, o int) []byte {
	if !r.chance(min(970, 25+70*o)) {
		return b
	}
	b = p.appendName(b)
	b = append(b, " was born in "...)
	b = append(b, pick(r, w.words.towns)...)
	b = append(b, ". "...)
	b = w.words.appendText(b, r, w.words.languages[0], int(r.logNormal(250, 60)))
	for range r.front(min(12, 1+o)) {
		b = append(b, `\n\n`...)
		b = w.words.appendText(b, r, w.words.languages[0], int(r.logNormal(400, 50)))
	}
	return b
}

// appendLife appends birthday and deathday.
func appendLife(b []byte, r *random, o int) []byte {
	b = append(b, `,"birthday":`...)
	if !r.chance(min(920, 90+115*o)) {
		return append(b, `null,"deathday":null`...)
	}
	born := makeDay(1895+r.below(110), r.below(365))
	b = append(b, '"')
	b = appendDate(b, born)
	b = append(b, `","deathday":`...)
	age := day(r.between(30*365, 96*365))
	if born+age >= today || !r.chance(800) {
		return append(b, "null"...)
	}
	b = append(b, '"')
	b = appendDate(b, born+age)
	return append(b, '"')
}

func (w *world) appendPersonHomepage(b []byte, r *random, o int) []byte {
	if !r.chance(10 + 15*o) {
		return append(b, "null"...)
	}
	b = append(b, `"https://www.`...)
	b = appendLetters(b, r, 9)
	return append(b, `.example/"`...)
}

// appendIMDb appends an id of IMDb, or null for 0.
func appendIMDb(b []byte, prefix string, n uint64) []byte {
	if n == 0 {
		return append(b, "null"...)
	}
	b = append(append(b, '"'), prefix...)
	for limit := uint64(1_000_000); n < limit && limit > 1; limit /= 10 {
		b = append(b, '0')
	}
	return append(appendInt(b, int64(n)), '"')
}

// appendAccount appends the name of an account, or null.
func appendAccount(b []byte, r *random, permille int) []byte {
	if !r.chance(permille) {
		return append(b, "null"...)
	}
	b = appendLetters(append(b, '"'), r, r.between(5, 14))
	return append(b, '"')
}

// appendWikidata appends an id of Wikidata, or null.
func appendWikidata(b []byte, r *random, permille int) []byte {
	if !r.chance(permille) {
		return append(b, "null"...)
	}
	return append(appendInt(append(b, `"Q`...), int64(r.between(200, 130_000_000))), '"')
}

func (w *world) appendPersonExternalIDs(b []byte, r *random, imdb uint64, o int) []byte {
	b = append(b, `,"external_ids":{"freebase_mid":null,"freebase_id":null,"imdb_id":`...)
	b = appendIMDb(b, "nm", imdb)
	b = append(b, `,"tvrage_id":null,"wikidata_id":`...)
	b = appendWikidata(b, r, min(950, 50+110*o))
	for _, name := range []string{"facebook", "instagram", "tiktok", "twitter", "youtube"} {
		b = append(append(append(b, `,"`...), name...), `_id":`...)
		b = appendAccount(b, r, 10+30*o)
	}
	return append(b, '}')
}

// appendProfiles appends profile images, the person's own first.
func appendProfiles(b []byte, r *random, profile uint64, o int) []byte {
	if profile == 0 {
		return b
	}
	for n := range max(1, min(60, int(r.logNormal(int64(100+60*o*o), 50)/100))) {
		if n > 0 {
			b = append(b, ',')
			profile = r.next() | 1
		}
		b = appendImage(b, r, image{width: 2 * (200 + r.below(500)), aspect: 667, rank: n, path: profile})
	}
	return b
}

// appendBiographies appends the translations of a person. Few have any.
func (w *world) appendBiographies(b []byte, r *random, p *person, o int) []byte {
	if !r.chance(min(1000, 80+90*o)) {
		return b
	}
	for n := range min(len(w.locales), 1+r.front(2+3*o)) {
		if n > 0 {
			b = append(b, ',')
		}
		l := &w.locales[n]
		b = l.append(b)
		b = append(b, `"data":{"biography":"`...)
		if n > 0 && r.chance(500) {
			b = w.words.appendText(b, r, l.language, int(r.logNormal(300, 60)))
		}
		b = append(b, `","name":"`...)
		if l.language.words != nil && r.chance(200) {
			b = p.appendOwnName(b)
		}
		b = append(b, `"}}`...)
	}
	return b
}
