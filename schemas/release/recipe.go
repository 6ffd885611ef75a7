package release

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// An Op is the operation of a piece. Values reach files.
type Op uint8

// The operations.
const (
	OpSegment   Op = 1  // bytes of a pack
	OpIDMark    Op = 2  // the place where a standalone response has "id":N,
	OpPageMark  Op = 3  // the place where a response has "page":N,
	OpReference Op = 4  // a fragment of another resource, by its key, in the requested variant
	OpInclude   Op = 5  // the same of a title, person or the like, which a row may be derived of
	OpIDEnd     Op = 6  // the end of a sub-request whose id comes last: ,"id":N} alone, } appended
	OpName      Op = 7  // the generic name of a season or an episode in the requested language, a JSON string with its quotes
	OpLiteral   Op = 8  // bytes of the recipe itself
	opFar       Op = 9  // OpSegment at a place of its own; a Cursor returns OpSegment
	opText      Op = 10 // OpLiteral stored with codes; a Cursor returns OpLiteral
)

var opNames = [...]string{
	OpSegment: "segment", OpIDMark: "id mark", OpPageMark: "page mark", OpReference: "reference",
	OpInclude: "include", OpIDEnd: "id end", OpName: "name", OpLiteral: "literal", opFar: "far segment", opText: "text",
}

// String returns the name of o for people.
func (o Op) String() string {
	if int(o) < len(opNames) && o != 0 {
		return opNames[o]
	}
	return fmt.Sprintf("op-%d", uint8(o))
}

// A Ref is the place of a resource: the number of its part above the offset of its block there,
// divided by 8. It holds within one release only.
type Ref uint64

// off returns the offset of the block in its part.
func (r Ref) off() uint64 { return uint64(r) & (1<<refOffBits - 1) * blockAlign }

// An Include names a fragment of another resource, which may lie anywhere in the
// release. For a sub-request that the resource lacks, the resource of
// fragment.KindDefault for its kind answers.
type Include struct {
	Kind    fragment.Kind // fragment.KindMovie to fragment.KindKeyword
	ID      uint64        // of the resource; of a season or an episode, that of its series
	Season  uint32        // of a season or an episode, otherwise 0
	Episode uint32        // of an episode, otherwise 0
	Sub     fragment.Sub
}

// Stored returns the sub-request of the fragments that hold what i includes: rows that are
// derived lie in others.
func (i Include) Stored() fragment.Sub {
	from, _ := fragment.RowSource(i.Kind, i.Sub)
	return from
}

// AppendKey appends the key of the resource: 9 bytes, 13 of a season, 17 of an episode.
func (i Include) AppendKey(dst []byte) []byte {
	switch id := fragment.ID(i.ID); i.Kind {
	case fragment.KindSeason:
		return fragment.AppendSeason(dst, id, i.Season)
	case fragment.KindEpisode:
		return fragment.AppendEpisode(dst, id, i.Season, i.Episode)
	default:
		return fragment.AppendID(dst, i.Kind, id)
	}
}

// String names the fragment for people: "movie 550 row".
func (i Include) String() string {
	return Describe(i.AppendKey(nil), fragment.Address{Sub: i.Sub})
}

// fault returns what of i breaks the format, or nothing.
func (i Include) fault() string {
	episode := i.Kind == fragment.KindEpisode
	switch {
	case i.Kind < fragment.KindMovie || i.Kind > fragment.KindKeyword:
		return "kinds from movie to keyword are possible"
	case i.Sub == 0:
		return "it names no sub-request"
	case i.Season != 0 && i.Kind != fragment.KindSeason && !episode:
		return "it has the number of a season, which belongs to seasons and episodes"
	case i.Episode != 0 && !episode:
		return "it has the number of an episode, which belongs to episodes"
	}
	return ""
}

// A Word is the word of a generic name: "Season 2", "Episode 3", "Specials". Values
// reach files.
type Word uint8

// The words.
const (
	WordSeason   Word = 1
	WordEpisode  Word = 2
	WordSpecials Word = 3 // without a number
)

var wordNames = [...]string{WordSeason: "season", WordEpisode: "episode", WordSpecials: "specials"}

// String returns the name of w for people.
func (w Word) String() string {
	if w.valid() {
		return wordNames[w]
	}
	return fmt.Sprintf("word-%d", uint8(w))
}

func (w Word) valid() bool { return w >= WordSeason && w <= WordSpecials }

// A Piece is one step of a fragment's recipe.
type Piece struct {
	Op      Op
	Segment Segment      // of OpSegment
	Pack    int          // of OpSegment: the number of its pack in the list of the part
	Offset  int64        // of OpSegment: where it starts in that pack
	Include Include      // of OpInclude
	Shared  []byte       // of OpReference: the key of the other resource, part of the mapping
	Sub     fragment.Sub // of OpReference: which of its fragments
	Word    Word         // of OpName
	Number  uint32       // of OpName: of the season or the episode

	literal []byte        // of OpLiteral: part of the mapping
	text    [MaxText]byte // of OpLiteral that is stored with codes
	textLen int           // 0 for literal
}

// Text returns the bytes of OpLiteral. They are valid as long as p is not changed.
func (p *Piece) Text() []byte {
	if p.textLen > 0 {
		return p.text[:p.textLen]
	}
	return p.literal
}

// spec returns the piece as it is written.
func (p *Piece) spec() PieceSpec {
	return PieceSpec{Op: p.Op, Segment: p.Segment, Literal: p.Text(), Shared: p.Shared, Sub: p.Sub, Include: p.Include, Word: p.Word, Number: p.Number}
}

// AppendContent appends bytes that only equal pieces have: where a segment lies and how it is compressed does not
// matter, and what references and includes lead to is not looked at.
func (p *Piece) AppendContent(dst []byte) []byte {
	s := p.spec()
	s.Segment.Stored = nil
	return appendPiece(dst, &s, 0, 0)
}

// maxSub bounds the numbers of sub-requests.
const maxSub = math.MaxUint16

// uvarint returns the number that b starts with, and its length in bytes: 0 when it is
// cut off, longer than it need be, or above 64 bits.
func uvarint(b []byte) (uint64, int) {
	// Fast path: most numbers have one byte or two.
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	if len(b) > 1 && b[1] < 0x80 && b[1] != 0 {
		return uint64(b[0]&0x7f) | uint64(b[1])<<7, 2
	}
	n, k := binary.Uvarint(b)
	if k <= 0 || b[k-1] == 0 {
		return 0, 0
	}
	return n, k
}

// A Cursor walks through the pieces of a fragment. There is at least one, or the
// fragment is broken.
type Cursor struct {
	// Broken is set if the bytes of the fragment break the format, as far as the cursor
	// has come. Nothing of such a fragment may be served.
	Broken bool
	rest   []byte // of the recipe: the next piece, or the one that breaks the format
	p      *part
	base   uint64
	left   int // pieces that may still come
}

// atMost reads a number that is bounded.
func (c *Cursor) atMost(limit uint64) uint64 {
	n, k := uvarint(c.rest)
	if k == 0 || n > limit {
		c.Broken = true
		return 0
	}
	c.rest = c.rest[k:]
	return n
}

// take reads n bytes, more than 0.
func (c *Cursor) take(n uint64) []byte {
	if n == 0 || n > uint64(len(c.rest)) {
		c.Broken = true
		return nil
	}
	b := c.rest[:n:n]
	c.rest = c.rest[n:]
	return b
}

func (c *Cursor) byte() byte {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

// Next sets p to the next piece: its Op, and the fields that count for that. It is false
// after the last piece and in a broken fragment. It allocates nothing.
func (c *Cursor) Next(p *Piece) bool {
	here := c.rest
	if len(here) == 0 || c.Broken {
		return false
	}
	p.Op, c.rest = Op(here[0]), here[1:]
	switch p.Op {
	case OpSegment:
		c.Broken = c.base == 0
		c.segment(p, int(c.base>>wherePackShift), c.base&(MaxPackBytes-1)+c.atMost(MaxPackBytes-1))
	case opFar:
		pack := int(c.atMost(MaxPacks - 1))
		c.segment(p, pack, c.atMost(MaxPackBytes-1))
	case OpReference:
		p.Sub = fragment.Sub(c.atMost(maxSub))
		p.Shared = c.take(c.atMost(fragment.MaxKeyLen))
	case OpInclude:
		p.Include = Include{Kind: fragment.Kind(c.byte()), Sub: fragment.Sub(c.atMost(maxSub)), ID: c.atMost(math.MaxUint64)}
		if p.Include.Kind == fragment.KindSeason || p.Include.Kind == fragment.KindEpisode {
			p.Include.Season = uint32(c.atMost(math.MaxUint32))
		}
		if p.Include.Kind == fragment.KindEpisode {
			p.Include.Episode = uint32(c.atMost(math.MaxUint32))
		}
		c.Broken = c.Broken || p.Include.fault() != ""
	case OpName:
		p.Word, p.Number = Word(c.byte()), uint32(c.atMost(math.MaxUint32))
		c.Broken = c.Broken || !p.Word.valid()
	case OpLiteral:
		p.literal, p.textLen = c.take(c.atMost(MaxLiteral)), 0
	case opText:
		p.Op, p.literal = OpLiteral, nil
		p.textLen = expand(&p.text, c.take(c.atMost(MaxText)))
		c.Broken = c.Broken || p.textLen < 1
	case OpIDMark, OpPageMark, OpIDEnd:
	default:
		c.Broken = true
	}
	if c.left--; c.left < 0 {
		c.Broken = true
	}
	if c.Broken {
		c.rest = here
	}
	return !c.Broken
}

// segment reads the facts of a segment, and finds its stored bytes in a pack of the part.
func (c *Cursor) segment(p *Piece, pack int, off uint64) {
	g := &p.Segment
	stored := c.atMost(math.MaxUint32)
	g.RawLen = uint32(c.atMost(math.MaxUint32))
	if b := c.take(factsLen); b != nil {
		g.CRC, g.Op, g.Hash = le.Uint32(b[factsCRC:]), le.Uint32(b[factsOp:]), Hash(b[factsHash:])
	}
	p.Op, p.Pack, p.Offset = OpSegment, pack, int64(off)
	end := off + stored // below 2^50
	if pack >= len(c.p.packs) || off < HeaderLen || end > uint64(len(c.p.packs[pack].data)) {
		c.Broken = true
		return
	}
	m := c.p.packs[pack]
	g.Stored, g.pack, g.off = m.data[off:end:end], m, off
}

// appendPiece appends a piece as recipes have it. where is the place of its segment; base is what
// near segments count from.
func appendPiece(dst []byte, p *PieceSpec, where, base uint64) []byte {
	switch p.Op {
	case OpSegment: // near when it lies in the pack of the base, and not before it
		if where>>wherePackShift == base>>wherePackShift && where >= base && base != 0 {
			dst = binary.AppendUvarint(append(dst, byte(OpSegment)), where-base)
		} else {
			dst = binary.AppendUvarint(append(dst, byte(opFar)), where>>wherePackShift)
			dst = binary.AppendUvarint(dst, where&(MaxPackBytes-1))
		}
		g := &p.Segment
		dst = binary.AppendUvarint(dst, uint64(len(g.Stored)))
		dst = binary.AppendUvarint(dst, uint64(g.RawLen))
		dst = le.AppendUint32(le.AppendUint32(dst, g.CRC), g.Op)
		return append(dst, g.Hash[:]...)
	case OpReference:
		dst = binary.AppendUvarint(append(dst, byte(p.Op)), uint64(p.Sub))
		return append(append(dst, byte(len(p.Shared))), p.Shared...)
	case OpInclude:
		i := &p.Include
		dst = binary.AppendUvarint(append(dst, byte(p.Op), byte(i.Kind)), uint64(i.Sub))
		dst = binary.AppendUvarint(dst, i.ID)
		if i.Kind == fragment.KindSeason || i.Kind == fragment.KindEpisode {
			dst = binary.AppendUvarint(dst, uint64(i.Season))
		}
		if i.Kind == fragment.KindEpisode {
			dst = binary.AppendUvarint(dst, uint64(i.Episode))
		}
		return dst
	case OpName:
		return binary.AppendUvarint(append(dst, byte(p.Op), byte(p.Word)), uint64(p.Number))
	case OpLiteral: // a short one with codes, if that takes fewer bytes
		op, text := OpLiteral, p.Literal
		if len(text) <= MaxText {
			var b [MaxText]byte
			if coded := AppendText(b[:0], text); len(coded) < len(text) {
				op, text = opText, coded
			}
		}
		dst = binary.AppendUvarint(append(dst, byte(op)), uint64(len(text)))
		return append(dst, text...)
	}
	return append(dst, byte(p.Op))
}

// Short texts around rows and ids are most of a part, and most of each is the same few
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
		switch c := coded[i]; {
		case c >= 0x20:
			if n == MaxText {
				return -1
			}
			dst[n] = c
			n++
		case c == 0, c > lastPhrase && i+1 == len(coded):
			return -1
		case c <= longPhrase:
			number := int(c - firstPhrase)
			if c == longPhrase {
				i++
				number = int(coded[i]) + lastPhrase - firstPhrase + 1
			}
			if number >= len(phrases) || n+len(phrases[number]) > MaxText {
				return -1
			}
			n += copy(dst[n:], phrases[number])
		case c == hexRun:
			if i+hexLen >= len(coded) || n+2*hexLen > MaxText {
				return -1
			}
			n += hex.Encode(dst[n:], coded[i+1:i+1+hexLen])
			i += hexLen
		default: // escape
			if i++; n == MaxText {
				return -1
			}
			dst[n] = coded[i]
			n++
		}
	}
	return n
}
