package gen

import "math/bits"

// octave returns how often the share that ranks better has been halved: 0 in the worse
// half, 1 in the quarter above, and so on.
func octave(share uint64) int { return bits.LeadingZeros64(share | 1) }

// An image is the facts about an image file.
type image struct {
	width    int
	aspect   int // thousandths
	rank     int // in its list
	path     uint64
	png      bool
	language *locale // nil: null
}

// writeImage writes an image; the better it ranks, the more it was voted for.
func writeImage(j *writer, r *random, m *image) {
	j.fixed("aspect_ratio", int64(m.aspect), 3)
	j.int("height", int64(m.width*1000/m.aspect))
	if m.language == nil {
		j.null("iso_3166_1")
		j.null("iso_639_1")
	} else {
		j.string("iso_3166_1", m.language.region)
		j.string("iso_639_1", m.language.code)
	}
	ext := ".jpg"
	if m.png {
		ext = ".png"
	}
	j.path("file_path", m.path, ext)
	votes := 0
	if m.rank < 6 || r.next()&3 == 0 {
		votes = r.front(40/(m.rank+1) + 3)
	}
	average := int64(0)
	if votes > 0 {
		average = max(0, 6000-int64(m.rank)*18+int64(r.below(12))) // falls with rank
	}
	j.fixed("vote_average", average, 3)
	j.int("vote_count", int64(votes))
	j.int("width", int64(m.width))
}

// widths of posters and backdrops.
var (
	posterWidths   = []int{2000, 2000, 2000, 1000, 1000, 1400, 1500, 800, 680, 500}
	backdropWidths = []int{3840, 3840, 1920, 1920, 1920, 1280, 2560}
)

// writeImages writes the images of a title: its own poster and backdrop stand first.
func writeImages(w *world, j *writer, r *random, t *title, own *locale) {
	j.list("backdrops", func() {
		first := image{path: t.backdrop, aspect: 1778}
		writeSome(w, j, r, figures().Count.Backdrops.ofSeed(r, t.backdrop, t.votes), &first, backdropWidths, own, 720)
	})
	j.list("logos", func() {
		for n := range figures().Count.Logos.of(r, t.votes) {
			m := image{width: r.between(300, 2400), aspect: r.between(900, 6000), rank: n, path: r.next() | 1, png: true}
			m.language = w.imageLanguage(r, own, 60)
			j.object("", func() { writeImage(j, r, &m) })
		}
	})
	j.list("posters", func() {
		first := image{path: t.poster, aspect: 667, language: own}
		writeSome(w, j, r, figures().Count.Posters.ofSeed(r, t.poster, t.votes), &first, posterWidths, own, 90)
	})
}

// ofSeed is of where there is a first image, and else 0.
func (s *spread) ofSeed(r *random, seed uint64, votes int64) int {
	if seed == 0 {
		return 0
	}
	return s.of(r, votes)
}

// writeSome writes n images like the first, of one of some widths. none is the permille
// of the others that have no language.
func writeSome(w *world, j *writer, r *random, n int, first *image, widths []int, own *locale, none int) {
	for i := range n {
		m := *first
		m.width, m.rank = pick(r, widths), i
		if i > 0 {
			m.path = r.next() | 1
			m.language = w.imageLanguage(r, own, none)
		}
		j.object("", func() { writeImage(j, r, &m) })
	}
}

// imageLanguage returns the language of the text in an image, nil for none.
func (w *world) imageLanguage(r *random, own *locale, none int) *locale {
	switch x := r.below(1000); {
	case x < none:
		return nil
	case x < none+250:
		return own
	case x < none+600:
		return &w.locales[0]
	}
	return &w.locales[r.front(len(w.locales))]
}

// videoType and its weight among a thousand.
var (
	videoTypes  = []string{"Teaser", "Featurette", "Trailer", "Clip", "Behind the Scenes", "Bloopers", "Opening Credits"}
	videoTypeOf = newChooser(350, 330, 120, 110, 80, 2, 8)
)

// writeVideos writes the videos of a title that came out on a day.
func writeVideos(w *world, j *writer, r *random, votes int64, out day, own *locale) {
	j.list("results", func() {
		n := figures().Count.Videos.of(r, votes)
		for i := range n {
			j.object("", func() { writeVideo(w, j, r, out+day(200-400*i/n), own) }) // newest first
		}
	})
}

func writeVideo(w *world, j *writer, r *random, on day, own *locale) {
	l := own
	if r.chance(450) {
		l = &w.locales[0]
	}
	what := videoTypes[videoTypeOf.pick(r)]
	j.string("iso_639_1", l.code)
	j.string("iso_3166_1", l.region)
	j.text("name", func() {
		if r.chance(400) {
			j.add("Official ", what)
			return
		}
		j.b = w.words.appendTagline(j.b, r, w.words.languages[0])
		j.add(" | ", what)
	})
	j.text("key", func() { j.letters(r, 11) })
	site := "YouTube"
	if r.chance(1) {
		site = "Vimeo"
	}
	j.string("site", site)
	j.int("size", pick(r, videoSizes))
	j.string("type", what)
	j.bool("official", r.chance(700))
	j.objectID("id", r)
	j.moment("published_at", on, r)
}

var videoSizes = []int64{1080, 1080, 1080, 1080, 2160, 720, 480}

// write writes the fields that a translation starts with.
func (l *locale) write(j *writer) {
	j.string("iso_3166_1", l.region)
	j.string("iso_639_1", l.code)
	j.string("name", l.name)
	j.string("english_name", l.englishName)
}
