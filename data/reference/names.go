package reference

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// genericFile is the shape of names.json: by language, xx or xx-YY.
type genericFile map[string]struct {
	Season   string `json:"season"`
	Episode  string `json:"episode"`
	Specials string `json:"specials"`
}

// numberMark stands in names.json where a number goes.
const numberMark = "{n}"

// numbered is a name around a number.
type numbered struct{ before, after string }

// genericNames are the names of one language.
type genericNames struct {
	season, episode numbered
	specials        string
}

// genericTable is names.json by language and region packed into one number, so that
// codes that lie in bytes are found without a string.
type genericTable struct {
	byCode  map[uint32]*genericNames
	english *genericNames
}

var generics = sync.OnceValue(func() *genericTable {
	t := &genericTable{byCode: make(map[uint32]*genericNames)}
	for key, n := range mustParse[genericFile]("names.json") {
		lang, region, _ := strings.Cut(key, "-")
		code := packCodes(lang, region)
		if code == 0 {
			panic(fmt.Errorf("reference: names.json: key %q is not xx or xx-YY", key))
		}
		t.byCode[code] = &genericNames{season: parseNumbered(n.Season), episode: parseNumbered(n.Episode), specials: n.Specials}
	}
	t.english = t.byCode[packCodes(fallbackLanguage, "")]
	return t
})

// parseNumbered splits a name at its number. names.json is part of the program, so a
// name without a number is a bug here and panics.
func parseNumbered(s string) numbered {
	before, after, ok := strings.Cut(s, numberMark)
	if !ok {
		panic(fmt.Errorf("reference: names.json: name %q has no %s", s, numberMark))
	}
	return numbered{before, after}
}

func (n numbered) append(dst []byte, number int) []byte {
	dst = append(dst, n.before...)
	dst = strconv.AppendInt(dst, int64(number), 10)
	return append(dst, n.after...)
}

// packCodes returns the letters of a language and of a region, which may be empty,
// in one number; 0 when the language has not two letters. A region of another length
// is like none.
func packCodes[T string | []byte](lang, region T) uint32 {
	if len(lang) != 2 {
		return 0
	}
	code := uint32(lang[0])<<24 | uint32(lang[1])<<16
	if len(region) == 2 {
		code |= uint32(region[0])<<8 | uint32(region[1])
	}
	return code
}

// genericIn falls back from language and region to language alone to English.
func genericIn[T string | []byte](lang, region T) *genericNames {
	t := generics()
	code := packCodes(lang, region)
	if n, ok := t.byCode[code]; ok {
		return n
	}
	if n, ok := t.byCode[code&^0xffff]; ok {
		return n
	}
	return t.english
}

// AppendSeasonName appends the name that a season without a name of its own has in a
// language and region ("de", "DE"; either may be empty): the word for a season and
// its number, as in "Staffel 2". Season 0 is AppendSpecialsName. Languages without
// such names have those of English. Nothing but dst is allocated.
func AppendSeasonName[T string | []byte](dst []byte, lang, region T, number int) []byte {
	if number == 0 {
		return AppendSpecialsName(dst, lang, region)
	}
	return genericIn(lang, region).season.append(dst, number)
}

// AppendEpisodeName appends the name that an episode without a name of its own has,
// in the way of AppendSeasonName. Number 0 is a number like any other.
func AppendEpisodeName[T string | []byte](dst []byte, lang, region T, number int) []byte {
	return genericIn(lang, region).episode.append(dst, number)
}

// AppendSpecialsName appends the name that season 0 has where it has none of its
// own, in the way of AppendSeasonName.
func AppendSpecialsName[T string | []byte](dst []byte, lang, region T) []byte {
	return append(dst, genericIn(lang, region).specials...)
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
