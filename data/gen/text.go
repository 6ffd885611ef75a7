package gen

import "unicode/utf8"

// phrase appends one of some phrases.
func (j *writer) phrase(r *random, of *weighted[phrase]) {
	p := of.pick(r)
	for i := range p {
		j.add(p[i].text)
		j.slot(r, &p[i])
	}
}

// sentence appends one of some phrases, with a capital at its start.
func (j *writer) sentence(r *random, of *weighted[phrase]) {
	start := len(j.b)
	j.phrase(r, of)
	if c := j.b[start]; c >= 'a' && c <= 'z' {
		j.b[start] = c - 'a' + 'A'
	}
}

func (j *writer) slot(r *random, s *step) {
	if s.words != nil {
		j.add(pick(r, s.words))
		return
	}
	switch s.slot {
	case "first name":
		j.firstName(r)
	case "full name":
		j.fullName(r)
	case "family name":
		j.add(pick(r, j.origins.pick(r).family).latin)
	case "country":
		j.add(j.countries.pick(r).EnglishName)
	case "title":
		j.title(r, j.languages.pick(r))
	case "": // the end
	default:
		panic("gen: words.toml: no slot " + s.slot)
	}
}

func (j *writer) firstName(r *random) { j.add(j.origins.pick(r).givenName(r).latin) }

func (j *writer) fullName(r *random) {
	o := j.origins.pick(r)
	j.add(o.givenName(r).latin, " ", pick(r, o.family).latin)
}

func (o *origin) givenName(r *random) name {
	if r.next()&1 == 0 {
		return pick(r, o.female)
	}
	return pick(r, o.male)
}

// maxText is the limit of TMDB's forms, in characters.
const maxText = 1000

// prose appends sentences of about so many characters, at most maxText.
func (j *writer) prose(r *random, l *language, chars int) {
	chars = max(20, min(chars, maxText))
	if l.words != nil {
		j.foreignProse(r, l, chars)
		return
	}
	start := len(j.b)
	for {
		end := len(j.b)
		if end > start {
			j.add(" ")
		}
		j.sentence(r, &j.sentences)
		switch n := len(j.b) - start; {
		case n > maxText:
			j.b = j.b[:end]
			return
		case n >= chars-40:
			return
		}
	}
}

// foreignProse appends sentences of a language's words. Unspaced scripts need a third of
// the characters.
func (j *writer) foreignProse(r *random, l *language, chars int) {
	blank, comma := " ", ""
	if !l.spaced {
		chars /= 3
		blank, comma = "", "、"
	}
	for n := 0; n < chars; n++ { // n counts the stop, too
		if n > 0 {
			j.add(blank)
			n += len(blank)
		}
		w := l.capitals[r.front(len(l.capitals))]
		for words := r.between(5, 16); ; words-- {
			n += utf8.RuneCountInString(w)
			if n >= maxText {
				return
			}
			j.add(w)
			if words == 0 {
				break
			}
			j.add(blank)
			n += len(blank)
			if words == 5 && comma != "" {
				j.add(comma)
				n++
			}
			w = l.words[r.front(len(l.words))]
		}
		j.add(l.stop)
	}
}

// tagline appends a short phrase.
func (j *writer) tagline(r *random, l *language) {
	if l.words != nil {
		j.foreignProse(r, l, 10)
		return
	}
	j.sentence(r, &j.taglines)
}

// title appends a title in a language.
func (j *writer) title(r *random, l *language) {
	if l.words != nil {
		j.foreignTitle(r, l)
		return
	}
	j.phrase(r, &j.titles)
	if r.chance(35) {
		j.add(": ")
		j.phrase(r, &j.titles)
	}
	if r.chance(40) {
		j.add(" ")
		j.addInt(2 + r.front(4))
	}
}

// foreignTitle appends one to six words.
func (j *writer) foreignTitle(r *random, l *language) {
	j.add(l.capitals[r.front(len(l.capitals))])
	for range r.front(6) {
		if l.spaced {
			j.add(" ")
		}
		j.add(l.words[r.front(len(l.words))])
	}
}

// overview writes the English text that a seed stands for, of a median of characters; ""
// for the seed 0.
func (j *writer) overview(seed uint64, median, sigma int) {
	j.text("overview", func() {
		if seed != 0 {
			r := random{seed}
			j.prose(&r, j.english, r.logNormal(median, sigma))
		}
	})
}

// numbered writes as name the title that a seed stands for; a generic one for the seed 0.
func (j *writer) numbered(seed uint64, l *language, generic string, n int) {
	j.text("name", func() {
		if seed == 0 {
			j.add(generic, " ")
			j.addInt(n)
			return
		}
		r := random{seed}
		j.title(&r, l)
	})
}
