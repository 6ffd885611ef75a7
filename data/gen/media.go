package gen

import "math/bits"

// octave returns how often the share that ranks better has been halved: 0 in the worse
// half, 1 in the quarter above, and so on.
func octave(share uint64) int { return bits.LeadingZeros64(share | 1) }

// An image is what is said of an image file.
type image struct {
	width    int
	aspect   int // thousandths
	rank     int // in its list
	path     uint64
	png      bool
	language *locale // nil: null
}

// appendImage appends an image; the better it ranks, the more it was voted for.
func appendImage(b []byte, r *random, m image) []byte {
	b = append(b, `{"aspect_ratio":`...)
	b = appendFixed(b, int64(m.aspect), 3)
	b = append(b, `,"height":`...)
	b = appendInt(b, int64(m.width*1000/m.aspect))
	if m.language == nil {
		b = append(b, `,"iso_3166_1":null,"iso_639_1":null`...)
	} else {
		b = append(append(b, `,"iso_3166_1":"`...), m.language.region...)
		b = append(append(append(b, `","iso_639_1":"`...), m.language.code...), '"')
	}
	b = append(b, `,"file_path":`...)
	ext := ".jpg"
	if m.png {
		ext = ".png"
	}
	b = appendPathOf(b, m.path, ext)
	votes := 0
	if m.rank < 6 || r.next()&3 == 0 {
		votes = r.front(40/(m.rank+1) + 3)
	}
	average := int64(0)
	if votes > 0 {
		average = max(0, 6000-int64(m.rank)*18+int64(r.below(12))) // falls with rank
	}
	b = append(b, `,"vote_average":`...)
	b = appendFixed(b, average, 3)
	b = append(b, `,"vote_count":`...)
	b = appendInt(b, int64(votes))
	b = append(b, `,"width":`...)
	b = appendInt(b, int64(m.width))
	return append(b, '}')
}

// widths of posters and backdrops.
var (
	posterWidths   = []int{2000, 2000, 2000, 1000, 1000, 1400, 1500, 800, 680, 500}
	backdropWidths = []int{3840, 3840, 1920, 1920, 1920, 1280, 2560}
)

// appendImages appends the images of a title: its own poster and backdrop stand first.
func (w *world) appendImages(b []byte, r *random, votes int64, poster, backdrop uint64, own *locale) []byte {
	b = append(b, `{"backdrops":[`...)
	if backdrop != 0 {
		for n := range backdropCount.of(r, votes) {
			m := image{width: pick(r, backdropWidths), aspect: 1778, rank: n, path: backdrop}
			if n > 0 {
				b = append(b, ',')
				m.path = r.next() | 1
				m.language = w.imageLanguage(r, own, 720)
			}
			b = appendImage(b, r, m)
		}
	}
	b = append(b, `],"logos":[`...)
	for n := range logoCount.of(r, votes) {
		if n > 0 {
			b = append(b, ',')
		}
		m := image{
			width: r.between(300, 2400), aspect: r.between(900, 6000), rank: n, path: r.next() | 1, png: true,
			language: w.imageLanguage(r, own, 60),
		}
		b = appendImage(b, r, m)
	}
	b = append(b, `],"posters":[`...)
	if poster != 0 {
		for n := range posterCount.of(r, votes) {
			m := image{width: pick(r, posterWidths), aspect: 667, rank: n, path: poster, language: own}
			if n > 0 {
				b = append(b, ',')
				m.path = r.next() | 1
				m.language = w.imageLanguage(r, own, 90)
			}
			b = appendImage(b, r, m)
		}
	}
	return append(b, "]}"...)
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

// appendVideos appends the videos of a title that came out on a day.
func (w *world) appendVideos(b []byte, r *random, votes int64, out day, own *locale) []byte {
	b = append(b, `{"results":[`...)
	n := videoCount.of(r, votes)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		l := own
		if r.chance(450) {
			l = &w.locales[0]
		}
		what := videoTypes[videoTypeOf.pick(r)]
		b = append(append(b, `{"iso_639_1":"`...), l.code...)
		b = append(append(b, `","iso_3166_1":"`...), l.region...)
		b = append(b, `","name":"`...)
		if r.chance(400) {
			b = append(append(b, "Official "...), what...)
		} else {
			b = w.words.appendTagline(b, r, w.words.languages[0])
			b = append(append(b, " | "...), what...)
		}
		b = append(b, `","key":"`...)
		b = appendLetters(b, r, 11)
		site := "YouTube"
		if r.chance(1) {
			site = "Vimeo"
		}
		b = append(append(b, `","site":"`...), site...)
		b = append(b, `","size":`...)
		b = appendInt(b, pick(r, videoSizes))
		b = append(append(b, `,"type":"`...), what...)
		b = append(b, `","official":`...)
		b = appendBool(b, r.chance(700))
		b = append(b, `,"id":`...)
		b = appendObjectID(b, r)
		b = append(b, `,"published_at":"`...)
		b = appendMoment(b, out+day(200-400*i/n), r) // newest first
		b = append(b, `"}`...)
	}
	return append(b, "]}"...)
}

var videoSizes = []int64{1080, 1080, 1080, 1080, 2160, 720, 480}

// append appends the members by which a translation starts, with its brace.
func (l *locale) append(b []byte) []byte {
	b = append(append(b, `{"iso_3166_1":"`...), l.region...)
	b = append(append(b, `","iso_639_1":"`...), l.code...)
	b = append(append(b, `","name":"`...), l.name...)
	b = append(append(b, `","english_name":"`...), l.englishName...)
	return append(b, `",`...)
}
