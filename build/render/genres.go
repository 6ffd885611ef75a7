package render

import (
	"slices"
	"strconv"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// media returns the list of genres that titles of a kind have.
func media(k fragment.Kind) reference.Media {
	if k == fragment.KindTV {
		return reference.TV
	}
	return reference.Movie
}

// ShareGenres reports whether the genres of a title of kind k can be a
// shared fragment: the reference names them all in English as the record does.
func ShareGenres(k fragment.Kind, genres []catalog.Genre) bool {
	if len(genres) == 0 || len(GenresName(GenreIDs(genres))) > fragment.MaxKeyLen-2 {
		return false
	}
	for i := range genres {
		g := &genres[i]
		english := reference.GenreName(media(k), g.ID.V, "en", "")
		if g.Extra != "" || g.Unusual != "" || english == "" || g.Name.V != english {
			return false
		}
	}
	return true
}

// GenreIDs returns the ids of genres, in their order.
func GenreIDs(genres []catalog.Genre) []int64 {
	ids := make([]int64, len(genres))
	for i := range genres {
		ids[i] = genres[i].ID.V
	}
	return ids
}

// GenresName is the resource name of a shared list of genres, for titles of one kind:
// its ids.
func GenresName(ids []int64) string {
	var b []byte
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, id, 10)
	}
	return string(b)
}

// SharedGenres returns the fragments of one shared list of genres of movies or series:
// the field `"genres":[...]`, in English and in each language that names a genre
// otherwise.
func SharedGenres(k fragment.Kind, ids []int64) []Fragment {
	var f fragments
	write := func(lang, region string) []Piece {
		f.begin()
		f.text(`"genres":[`)
		for _, id := range ids {
			f.comma()
			name := reference.GenreName(media(k), id, lang, region)
			f.buf = record.Append(f.buf, record.Of(&catalog.Genre{ID: record.Number(id), Name: record.Text(name)}))
		}
		f.text("]")
		return f.end()
	}
	english := write("en", "")
	f.add(fragment.Address{Sub: fragment.SubGenres}, english)
	for _, key := range reference.GenreLanguages() {
		lang, region := splitTag(key)
		if p := write(lang, region); string(p[0].Raw) != string(english[0].Raw) {
			f.add(fragment.Address{Sub: fragment.SubGenres, Variant: fragment.Language(lang, region)}, p)
		}
	}
	return f.list
}

// localGenres is complete.Genres for languages that the reference has names in.
func localGenres(k fragment.Kind, genres []catalog.Genre, lang, region string) []catalog.Genre {
	if genres == nil || lang == "en" {
		return genres
	}
	keys := reference.GenreLanguages()
	if _, ok := slices.BinarySearch(keys, lang); !ok {
		if _, ok = slices.BinarySearch(keys, lang+"-"+region); !ok {
			return genres
		}
	}
	return complete.Genres(k, genres, lang, region)
}
