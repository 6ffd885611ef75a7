package gen

// An image is the facts about an image file.
type image struct {
	width    int
	aspect   int // thousandths
	path     uint64
	language *locale // nil: null
}

// writeImage writes an image, the better its rank in its list, the more it was voted for.
func writeImage(j *writer, r *random, m *image, rank int, ext string) {
	j.float("aspect_ratio", m.aspect, 1000)
	j.int("height", m.width*1000/m.aspect)
	if m.language == nil {
		j.null("iso_3166_1")
		j.null("iso_639_1")
	} else {
		j.string("iso_3166_1", m.language.region)
		j.string("iso_639_1", m.language.Code)
	}
	j.path("file_path", m.path, ext)
	votes, average := 0, 0
	if rank < 6 || r.next()&3 == 0 {
		votes = r.front(40/(rank+1) + 3)
	}
	if votes > 0 {
		average = max(0, 6000-rank*18+r.below(12)) // falls with rank
	}
	writeVoted(j, average, votes)
	j.int("width", m.width)
}

// widths of posters and backdrops.
var (
	posterWidths   = []int{2000, 2000, 2000, 1000, 1000, 1400, 1500, 800, 680, 500}
	backdropWidths = []int{3840, 3840, 1920, 1920, 1920, 1280, 2560}
)

// writeImages writes the images of a title: its own poster and backdrop stand first.
func writeImages(j *writer, r *random, t *title) {
	own := t.language.locale
	j.object("images", func() {
		first := image{path: t.backdrop, aspect: 1778}
		writeImagesLike(j, "backdrops", r, j.w.Count.Backdrops.of(r, t.votes), first, backdropWidths, own, 720)
		j.objects("logos", j.w.Count.Logos.of(r, t.votes), func(rank int) {
			m := image{r.between(300, 2400), r.between(900, 6000), r.next() | 1, imageLanguageOf(j, r, own, 60)}
			writeImage(j, r, &m, rank, ".png")
		})
		first = image{path: t.poster, aspect: 667, language: own}
		writeImagesLike(j, "posters", r, j.w.Count.Posters.of(r, t.votes), first, posterWidths, own, 90)
	})
}

// writeImagesLike writes n images like the first, each of one of some widths; none where there is
// no first one. without is the permille of the others that have no language.
func writeImagesLike(j *writer, name string, r *random, n int, first image, widths []int, own *locale, without int) {
	if first.path == 0 {
		n = 0
	}
	j.objects(name, n, func(rank int) {
		if rank > 0 {
			first.path, first.language = r.next()|1, imageLanguageOf(j, r, own, without)
		}
		first.width = pick(r, widths)
		writeImage(j, r, &first, rank, ".jpg")
	})
}

// imageLanguageOf returns the language of the text in an image; nil for none in without
// permille of a thousand cases.
func imageLanguageOf(j *writer, r *random, own *locale, without int) *locale {
	switch x := r.below(1000); {
	case x < without:
		return nil
	case x < without+250:
		return own
	case x < without+600:
		return &j.w.locales[0]
	}
	return &j.w.locales[r.front(len(j.w.locales))]
}

// writeVideos writes the videos of a title with so many votes, the newest first.
func writeVideos(j *writer, r *random, t *title, votes int) {
	n := j.w.Count.Videos.of(r, votes)
	j.object("videos", func() {
		j.objects("results", n, func(i int) {
			l := t.language.locale
			if r.chance(450) {
				l = &j.w.locales[0]
			}
			what := j.w.videoTypes.pick(r)
			j.string("iso_639_1", l.Code)
			j.string("iso_3166_1", l.region)
			j.text("name", func() {
				if r.chance(400) {
					j.add("Official ", what)
					return
				}
				addTagline(j, r, j.w.english)
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
			on := t.out + day(200-400*i/n)
			j.moment("published_at", on.at(r.below(24*60*60)))
		})
	})
}

var videoSizes = []int{1080, 1080, 1080, 1080, 2160, 720, 480}
