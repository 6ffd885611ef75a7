package reference

import (
	"strconv"
	"strings"
)

// genericNames are the names of one language, with numberMark where a number goes.
type genericNames struct {
	Season   string `json:"season"`
	Episode  string `json:"episode"`
	Specials string `json:"specials"`
}

const numberMark = "{n}"

// generics are the names by language, xx or xx-YY.
var generics = parsed[map[string]*genericNames]("names.json")

// genericIn falls back from language and region to language alone to English.
func genericIn[T string | []byte](lang, region T) *genericNames {
	t := generics()
	key := append(append(append(make([]byte, 0, 16), lang...), '-'), region...)
	if n, ok := t[string(key)]; ok {
		return n
	}
	if n, ok := t[string(key[:len(lang)])]; ok {
		return n
	}
	return t[fallbackLanguage]
}

// appendNumbered appends a name with its number.
func appendNumbered(dst []byte, name string, number int) []byte {
	before, after, _ := strings.Cut(name, numberMark)
	return append(strconv.AppendInt(append(dst, before...), int64(number), 10), after...)
}

// AppendSeasonName appends the name that a season without a name of its own has in a
// language and region ("de", "DE"; either may be empty): the word for a season and
// its number, as in "Staffel 2", and that of the specials for season 0. Languages without
// such names have those of English. Nothing but dst is allocated.
func AppendSeasonName[T string | []byte](dst []byte, lang, region T, number int) []byte {
	names := genericIn(lang, region)
	if number == 0 {
		return append(dst, names.Specials...)
	}
	return appendNumbered(dst, names.Season, number)
}

// AppendEpisodeName appends the name that an episode without a name of its own has,
// in the way of AppendSeasonName. Number 0 is a number like any other.
func AppendEpisodeName[T string | []byte](dst []byte, lang, region T, number int) []byte {
	return appendNumbered(dst, genericIn(lang, region).Episode, number)
}

// SeasonName returns what AppendSeasonName appends.
func SeasonName(lang, region string, number int) string {
	return string(AppendSeasonName(make([]byte, 0, maxGenericName), lang, region, number))
}

// EpisodeName returns what AppendEpisodeName appends.
func EpisodeName(lang, region string, number int) string {
	return string(AppendEpisodeName(make([]byte, 0, maxGenericName), lang, region, number))
}

// maxGenericName is more than the names of names.json take in bytes, with a number.
const maxGenericName = 96
