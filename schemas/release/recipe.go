package release

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// An Op is the operation of a piece. Values are stored in files.
type Op uint8

// The operations.
const (
	OpSegment   Op = 1  // bytes of a pack
	OpIDMark    Op = 2  // the place of "id":N, in a standalone response
	OpPageMark  Op = 3  // the place of "page":N, in a response
	OpReference Op = 4  // a fragment of another resource, by its key, in the requested variant
	OpInclude   Op = 5  // like OpReference, but by kind and numbers; the row may be derived
	OpIDEnd     Op = 6  // the end of a sub-request whose id comes last: ,"id":N} standalone, } appended
	OpName      Op = 7  // the generic name of a season or an episode in the requested language, a JSON string with its quotes
	OpLiteral   Op = 8  // bytes of the recipe itself
	opFar       Op = 9  // OpSegment outside the reach of the base; a Cursor returns OpSegment
	opText      Op = 10 // OpLiteral stored with codes; a Cursor returns OpLiteral
)

var opNames = [...]string{
	OpSegment: "segment", OpIDMark: "id mark", OpPageMark: "page mark", OpReference: "reference",
	OpInclude: "include", OpIDEnd: "id end", OpName: "name", OpLiteral: "literal", opFar: "far segment", opText: "text",
}

// String returns a readable name.
func (o Op) String() string {
	if int(o) < len(opNames) && o != 0 {
		return opNames[o]
	}
	return fmt.Sprintf("op-%d", uint8(o))
}

// A Ref is the place of a resource: the number of its part, then the offset of its block divided by 8. It is valid in
// one release only.
type Ref uint64

// off returns the offset of the block in its part.
func (r Ref) off() uint64 { return uint64(r) & (1<<refOffBits - 1) * blockAlign }

// An Include is a fragment of any other resource of the release. If that resource lacks the sub-request, the kind's
// fragment.KindDefault resource supplies it.
type Include struct {
	Kind    fragment.Kind // fragment.KindMovie to fragment.KindKeyword
	ID      uint64        // ID of the resource; for a season or an episode, ID of its series
	Season  uint32        // for a season or an episode, otherwise 0
	Episode uint32        // for an episode, otherwise 0
	Sub     fragment.Sub
}

// Stored returns the sub-request whose fragments hold the included row: a derived row is stored under another one.
func (i Include) Stored() fragment.Sub {
	from, _ := fragment.RowSource(i.Kind, i.Sub)
	return from
}

// AppendKey appends the key of the resource: 9 bytes, 13 for a season, 17 for an episode.
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

// String returns a readable name of the fragment: "movie 550 row".
func (i Include) String() string {
	return Describe(i.AppendKey(nil), fragment.Address{Sub: i.Sub})
}

// fault returns the fault of i, or "".
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

// A Word is the word of a generic name: "Season 2", "Episode 3", "Specials". Values are stored in files.
type Word uint8

// The words.
const (
	WordSeason   Word = 1
	WordEpisode  Word = 2
	WordSpecials Word = 3 // without a number
)

var wordNames = [...]string{WordSeason: "season", WordEpisode: "episode", WordSpecials: "specials"}

// String returns a readable name.
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
	Segment Segment      // OpSegment
	Pack    int          // OpSegment: number of its pack in the list of the part
	Offset  int64        // OpSegment: offset in that pack
	Include Include      // OpInclude
	Shared  []byte       // OpReference: key of the other resource, a slice of the mapping
	Sub     fragment.Sub // OpReference: sub-request of the fragment
	Word    Word         // OpName
	Number  uint32       // OpName: number of the season or episode

	literal []byte        // OpLiteral: a slice of the mapping
	text    [maxText]byte // OpLiteral stored with codes: its decoded text
	textLen int           // 0 if literal is used
}

// Text returns the bytes of OpLiteral. They are valid until p changes.
func (p *Piece) Text() []byte {
	if p.textLen > 0 {
		return p.text[:p.textLen]
	}
	return p.literal
}

// spec returns p in the form for writing.
func (p *Piece) spec() PieceSpec {
	return PieceSpec{Op: p.Op, Segment: p.Segment, Literal: p.Text(), Shared: p.Shared, Sub: p.Sub, Include: p.Include, Word: p.Word, Number: p.Number}
}

// AppendContent appends bytes that are equal only for equal pieces. Place and compression of segments do not count,
// nor does the content of references and includes.
func (p *Piece) AppendContent(dst []byte) []byte {
	s := p.spec()
	s.Segment.Stored = nil
	return appendPiece(dst, &s, 0, 0)
}

// maxSub bounds the numbers of sub-requests.
const maxSub = math.MaxUint16

// uvarint returns the number at the start of b and its length in bytes. The length is 0 if the number is truncated,
// padded, or above 64 bits.
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

// A Cursor iterates over the pieces of a fragment. A valid fragment has at least one.
type Cursor struct {
	// Broken is set once the cursor meets bytes that break the format. No part of such a fragment may be served.
	Broken bool
	rest   []byte // rest of the recipe, from the next piece or the broken one
	p      *part
	base   uint64
	left   int // pieces that may still follow
}

// atMost reads a number and breaks the fragment if it exceeds limit.
func (c *Cursor) atMost(limit uint64) uint64 {
	n, k := uvarint(c.rest)
	if k == 0 || n > limit {
		c.Broken = true
		return 0
	}
	c.rest = c.rest[k:]
	return n
}

// take reads n > 0 bytes.
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

// Next sets p to the next piece: its Op and that operation's fields. It returns false after the last piece and in a
// broken fragment. It does not allocate.
func (c *Cursor) Next(p *Piece) bool {
	here := c.rest
	if len(here) == 0 || c.Broken {
		return false
	}
	p.Op, c.rest = Op(here[0]), here[1:]
	switch p.Op {
	case OpSegment:
		c.Broken = c.base == 0
		c.segment(p, int(c.base>>wherePackShift), c.base&(maxPackBytes-1)+c.atMost(maxPackBytes-1))
	case opFar:
		pack := int(c.atMost(maxPacks - 1))
		c.segment(p, pack, c.atMost(maxPackBytes-1))
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
		p.literal, p.textLen = c.take(c.atMost(maxLiteral)), 0
	case opText:
		p.Op, p.literal = OpLiteral, nil
		p.textLen = expand(&p.text, c.take(c.atMost(maxText)))
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

// segment reads the lengths and checks of a segment, and finds its stored bytes in a pack of the part.
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

// appendPiece appends an encoded piece. where is the place of its segment; near segments are stored relative to base.
func appendPiece(dst []byte, p *PieceSpec, where, base uint64) []byte {
	switch p.Op {
	case OpSegment: // near if it is in the pack of the base, at or after it
		if where>>wherePackShift == base>>wherePackShift && where >= base && base != 0 {
			dst = binary.AppendUvarint(append(dst, byte(OpSegment)), where-base)
		} else {
			dst = binary.AppendUvarint(append(dst, byte(opFar)), where>>wherePackShift)
			dst = binary.AppendUvarint(dst, where&(maxPackBytes-1))
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
	case OpLiteral: // a short one with codes, if that saves bytes
		op, text := OpLiteral, p.Literal
		if len(text) <= maxText {
			var b [maxText]byte
			if coded := AppendText(b[:0], text); len(coded) < len(text) {
				op, text = opText, coded
			}
		}
		dst = binary.AppendUvarint(append(dst, byte(op)), uint64(len(text)))
		return append(dst, text...)
	}
	return append(dst, byte(p.Op))
}

// Most of a part are short texts around rows and IDs, and most of these are made of the same few phrases. Such a text
// is stored with codes: bytes below 0x20, which JSON text never has, encode phrases and hexadecimal digits. Other
// bytes encode themselves.
const (
	maxText = 256 // bytes of a text stored with codes

	firstPhrase = 0x01 // to lastPhrase: one-byte codes of phrases
	lastPhrase  = 0x1c
	longPhrase  = 0x1d // followed by the number of a phrase, minus the one-byte ones
	hexRun      = 0x1e // followed by hexLen bytes: twice as many hexadecimal digits, in lower case
	escape      = 0x1f // followed by a byte below 0x20, which encodes itself
	hexLen      = 12   // length of the IDs of credits, reviews and videos
)

// phrases are part of the format: their numbers are stored in files. The most frequent come first.
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

// phrasesBy holds the numbers of phrases by the hash of their first three bytes, longest first.
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

// phraseHash hashes the first three bytes of a phrase.
func phraseHash[T string | []byte](p T) uint32 {
	return (uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16) * 0x9e3779b1 >> (32 - phraseBits)
}

// AppendText appends text encoded with codes: at each position the longest phrase, else a run of hexadecimal digits.
func AppendText(dst, text []byte) []byte {
	for len(text) > 0 {
		n, length := phraseAt(text)
		switch c := text[0]; {
		case length > 0 && n <= lastPhrase-firstPhrase:
			dst = append(dst, byte(n+firstPhrase))
		case length > 0:
			dst = append(dst, longPhrase, byte(n-(lastPhrase-firstPhrase+1)))
		case isHexRun(text):
			var b [hexLen]byte
			_, _ = hex.Decode(b[:], text[:2*hexLen]) // isHexRun guarantees digits
			dst, length = append(append(dst, hexRun), b[:]...), 2*hexLen
		case c < 0x20:
			dst, length = append(dst, escape, c), 1
		default:
			dst, length = append(dst, c), 1
		}
		text = text[length:]
	}
	return dst
}

// phraseAt returns number and length of the longest phrase at the start of text. The length is 0 without one.
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

// isHexRun reports whether text starts with 2*hexLen lower-case hexadecimal digits.
func isHexRun(text []byte) bool {
	if len(text) < 2*hexLen {
		return false
	}
	for i := 2*hexLen - 1; i >= 0; i-- { // backwards, because words may start with a few such digits
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// expand decodes a coded text into dst and returns its length; -1 if the codes break the format.
func expand(dst *[maxText]byte, coded []byte) int {
	n := 0
	for i := 0; i < len(coded); i++ {
		switch c := coded[i]; {
		case c >= 0x20:
			if n == maxText {
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
			if number >= len(phrases) || n+len(phrases[number]) > maxText {
				return -1
			}
			n += copy(dst[n:], phrases[number])
		case c == hexRun:
			if i+hexLen >= len(coded) || n+2*hexLen > maxText {
				return -1
			}
			n += hex.Encode(dst[n:], coded[i+1:i+1+hexLen])
			i += hexLen
		default: // escape
			if i++; n == maxText {
				return -1
			}
			dst[n] = coded[i]
			n++
		}
	}
	return n
}
