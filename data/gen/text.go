package gen

import "unicode/utf8"

// addPhrase appends one of some phrases.
func addPhrase(j *writer, r *random, of *weighted[phrase]) {
	p := of.pick(r)
	for i := range p {
		j.add(p[i].text)
		addSlot(j, r, &p[i])
	}
}

// addSentence appends one of some phrases, with a capital at its start.
func addSentence(j *writer, r *random, of *weighted[phrase]) {
	start := len(j.b)
	addPhrase(j, r, of)
	if c := j.b[start]; c >= 'a' && c <= 'z' {
		j.b[start] = c - 'a' + 'A'
	}
}

func addSlot(j *writer, r *random, s *step) {
	if s.words != nil {
		j.add(pick(r, s.words))
		return
	}
	switch s.slot {
	case "first name":
		addFirstName(j, r)
	case "full name":
		addFullName(j, r)
	case "family name":
		j.add(pick(r, j.w.origins.pick(r).family).latin)
	case "country":
		j.add(j.w.countries.pick(r).EnglishName)
	case "title":
		addTitle(j, r, j.w.languages.pick(r))
	case "": // the end
	default:
		panic("gen: words.toml: no slot " + s.slot)
	}
}

func addFirstName(j *writer, r *random) { j.add(j.w.origins.pick(r).givenName(r).latin) }

func addFullName(j *writer, r *random) {
	o := j.w.origins.pick(r)
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

// addProse appends sentences of about so many characters, at most maxText.
func addProse(j *writer, r *random, l *language, chars int) {
	chars = max(20, min(chars, maxText))
	if l.words != nil {
		addForeignProse(j, r, l, chars)
		return
	}
	start := len(j.b)
	for {
		end := len(j.b)
		if end > start {
			j.add(" ")
		}
		addSentence(j, r, &j.w.sentences)
		switch n := len(j.b) - start; {
		case n > maxText:
			j.b = j.b[:end]
			return
		case n >= chars-40:
			return
		}
	}
}

// addForeignProse appends sentences of a language's words. Unspaced scripts need a third of
// the characters.
func addForeignProse(j *writer, r *random, l *language, chars int) {
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

// addTagline appends a short phrase.
func addTagline(j *writer, r *random, l *language) {
	if l.words != nil {
		addForeignProse(j, r, l, 10)
		return
	}
	addSentence(j, r, &j.w.taglines)
}

// addTitle appends a title in a language.
func addTitle(j *writer, r *random, l *language) {
	if l.words != nil { // one to six words
		j.add(l.capitals[r.front(len(l.capitals))])
		for range r.front(6) {
			if l.spaced {
				j.add(" ")
			}
			j.add(l.words[r.front(len(l.words))])
		}
		return
	}
	addPhrase(j, r, &j.w.titles)
	if r.chance(35) {
		j.add(": ")
		addPhrase(j, r, &j.w.titles)
	}
	if r.chance(40) {
		j.add(" ")
		j.addInt(2 + r.front(4))
	}
}

// writeOverview writes the English text that a seed stands for, of a median of characters; ""
// for the seed 0.
func writeOverview(j *writer, seed uint64, median, sigma int) {
	j.text("overview", func() {
		if seed != 0 {
			r := random{seed}
			addProse(j, &r, j.w.english, r.logNormal(median, sigma))
		}
	})
}

// writeNumbered writes as name the title that a seed stands for; a generic one for the seed 0.
func writeNumbered(j *writer, seed uint64, l *language, generic string, n int) {
	j.text("name", func() {
		if seed == 0 {
			j.add(generic, " ")
			j.addInt(n)
			return
		}
		r := random{seed}
		addTitle(j, &r, l)
	})
}
