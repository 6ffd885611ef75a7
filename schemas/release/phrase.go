package release

import (
	"encoding/hex"
	"slices"
)

// Short texts around rows and ids are most of a directory, and most of each is the same few
// phrases. Such a text is stored with codes: bytes below 0x20, which JSON text never has, stand
// for phrases and for hexadecimal digits. All other bytes stand for themselves.
const (
	MaxText = 256 // bytes of a text that is stored with codes

	firstPhrase = 0x01 // to lastPhrase: phrases by one byte
	lastPhrase  = 0x1c
	longPhrase  = 0x1d // and the number of a phrase, less those by one byte
	hexRun      = 0x1e // and hexLen bytes: twice as many hexadecimal digits, in lower case
	escape      = 0x1f // and a byte below 0x20, which stands for itself
	hexLen      = 12   // of the ids of credits, reviews and videos
)

// phrases are part of the format: their numbers reach files. The most frequent come first.
var phrases = [...]string{
	`},{`, `,"character":"`, `","credit_id":"`, `,"credit_id":"`, `","order":`, `","department":"`, `","job":"`,
	`","episode_count":`, `,"first_credit_air_date":"`, `,"media_type":"movie"},{`, `","media_type":"movie"},{`, `","media_type":"tv"},{`,
	`"},{`, `"results":[{`, `}],"total_pages":`, `,"total_results":`, `"known_for":[{`, `"cast":[{`, `"cast":[],"crew":[{`, `}],"crew":[{`,
	`}],"crew":[]`, `"results":[],"total_pages":`, `"overview":"`, `"name":"`, `"id":`, `null,`, `_path":`, `Directing`,

	`{"credit_type":"cast","department":"Acting","job":"Actor","media":{`, `{"credit_type":"crew","department":"`, `","media":{`,
	`},"media_type":"movie","id":"`, `"},"media_type":"movie","id":"`, `}]},"media_type":"tv","id":"`, `","person":{`,
	`,"episodes":[{`, `","episodes":[{`, `,"episodes":[],"seasons":[{`, `}],"seasons":[{`,
	`{"movie_results":[{`, `{"movie_results":[],"person_results":[{`, `{"movie_results":[],"person_results":[],"tv_results":[{`,
	`{"movie_results":[],"person_results":[],"tv_results":[],"tv_episode_results":[{`,
	`{"movie_results":[],"person_results":[],"tv_results":[],"tv_episode_results":[],"tv_season_results":[{`,
	`}],"person_results":[],"tv_results":[],"tv_episode_results":[],"tv_season_results":[]`,
	`}],"tv_results":[],"tv_episode_results":[],"tv_season_results":[]`, `}],"tv_episode_results":[],"tv_season_results":[]`,
	`}],"tv_season_results":[]`, `"media_type":"movie"`, `"media_type":"tv"`, `"known_for":[]`, `Production`, `Writing`, `Sound`, `Camera`, `Editing`, `Editor`,
	`Lighting`, `Visual Effects`, `Costume & Make-Up`, `Director`, `Producer`, `Screenplay`, `Executive `, ` (uncredited)`, ` (voice)`, `Self`,
	`"air_date":`, `"crew":[],`, `"guest_stars":[]`, `,"episode_number":`, `"episode_type":"standard"`, `"episode_type":"finale"`,
	`"production_code":""`, `,"runtime":`, `,"season_number":`, `"still_path":`, `"vote_average":`, `,"vote_count":`, `"poster_path":`,
	`"backdrop_path":`, `"profile_path":`, `"logo_path":`, `"adult":false,`, `"gender":`, `"known_for_department":"`, `"original_name":"`,
	`"popularity":`, `Acting`, `"backdrops":[],`, `"logos":[],`, `"posters":[]`, `"translations":[{"iso_3166_1":"`, `"iso_3166_1":"`, `"iso_639_1":"`,
	`","english_name":"`, `"data":{`, `"biography":"`, `"title":"`, `"homepage":""`, `"keywords":[{`, `"certification":"`, `"descriptors":[],`,
	`"release_date":"`, `"genres":[{`, `","name":"`, `"imdb_id":`, `"wikidata_id":`, `"facebook_id":`, `"instagram_id":`, `"twitter_id":`,
	`"tiktok_id":`, `"youtube_id":`, `"freebase_mid":null,"freebase_id":null,`, `"tvdb_id":`, `"tvrage_id":`, `false`, `true`, `null`,
}

// phrasesBy has the numbers of phrases by their first three bytes, hashed, the longest first.
var phrasesBy = func() (by [1 << phraseBits][]uint8) {
	for n, p := range phrases {
		b := &by[phraseHash(p)]
		*b = append(*b, uint8(n))
		slices.SortStableFunc(*b, func(x, y uint8) int { return len(phrases[y]) - len(phrases[x]) })
	}
	return by
}()

const (
	phraseBits = 11
	minPhrase  = 3 // bytes
)

// phraseHash spreads phrases by their first three bytes.
func phraseHash[T string | []byte](p T) uint32 {
	return (uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16) * 0x9e3779b1 >> (32 - phraseBits)
}

// AppendText appends text as it is stored with codes: at each place the longest phrase, or
// hexadecimal digits, if there are any.
func AppendText(dst, text []byte) []byte {
	for len(text) > 0 {
		n, of := phraseAt(text)
		switch c := text[0]; {
		case of > 0 && n <= lastPhrase-firstPhrase:
			dst = append(dst, byte(n+firstPhrase))
		case of > 0:
			dst = append(dst, longPhrase, byte(n-(lastPhrase-firstPhrase+1)))
		case isHexRun(text):
			var b [hexLen]byte
			_, _ = hex.Decode(b[:], text[:2*hexLen]) // by isHexRun they are digits
			dst, of = append(append(dst, hexRun), b[:]...), 2*hexLen
		case c < 0x20:
			dst, of = append(dst, escape, c), 1
		default:
			dst, of = append(dst, c), 1
		}
		text = text[of:]
	}
	return dst
}

// phraseAt returns the number and the length of the longest phrase that text begins with; a
// length of 0 for none.
func phraseAt(text []byte) (n, length int) {
	if len(text) < minPhrase {
		return 0, 0
	}
	for _, n := range phrasesBy[phraseHash(text)] {
		if p := phrases[n]; len(p) <= len(text) && p == string(text[:len(p)]) {
			return int(n), len(p)
		}
	}
	return 0, 0
}

// isHexRun reports whether text begins with so many hexadecimal digits in lower case.
func isHexRun(text []byte) bool {
	if len(text) < 2*hexLen {
		return false
	}
	for i := 2*hexLen - 1; i >= 0; i-- { // words begin with such digits, few end in them
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// expand writes the text that coded stands for to dst and returns its length; -1 if the codes
// break the format.
func expand(dst *[MaxText]byte, coded []byte) int {
	n := 0
	for i := 0; i < len(coded); i++ {
		c := coded[i]
		if c >= 0x20 {
			if n == MaxText {
				return -1
			}
			dst[n] = c
			n++
			continue
		}
		k := 0
		switch {
		case c >= firstPhrase && c <= lastPhrase:
			k = appendPhrase(dst, n, int(c-firstPhrase))
		case c == 0 || i+1 == len(coded):
			return -1
		case c == longPhrase:
			i++
			k = appendPhrase(dst, n, int(coded[i])+lastPhrase-firstPhrase+1)
		case c == hexRun:
			if i+hexLen >= len(coded) || n+2*hexLen > MaxText {
				return -1
			}
			k = hex.Encode(dst[n:], coded[i+1:i+1+hexLen])
			i += hexLen
		default: // escape
			if i++; n == MaxText {
				return -1
			}
			dst[n], k = coded[i], 1
		}
		if k == 0 {
			return -1
		}
		n += k
	}
	return n
}

// appendPhrase writes a phrase to dst[at:] and returns its length; 0 if there is none or no
// room for it.
func appendPhrase(dst *[MaxText]byte, at, number int) int {
	if number >= len(phrases) || at+len(phrases[number]) > MaxText {
		return 0
	}
	return copy(dst[at:], phrases[number])
}
