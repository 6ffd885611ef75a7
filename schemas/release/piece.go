package release

import (
	"bytes"
	"fmt"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/listrow"
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

// stored returns the sub-request of the fragments that hold what i includes: rows that are
// derived lie in others.
func (i Include) stored() fragment.Sub {
	from, _ := listrow.Source(i.Kind, i.Sub)
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
	return describe(i.AppendKey(nil), fragment.Address{Sub: i.Sub})
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

// Same reports whether two pieces are equal by themselves: where a segment lies does not
// matter, and what references and includes lead to is not looked at.
func (p *Piece) Same(o *Piece) bool {
	if p.Op != o.Op {
		return false
	}
	switch p.Op {
	case OpSegment:
		return p.Segment.id() == o.Segment.id()
	case OpLiteral:
		return bytes.Equal(p.Text(), o.Text())
	case OpName:
		return p.Word == o.Word && p.Number == o.Number
	case OpInclude:
		return p.Include == o.Include
	case OpReference:
		return p.Sub == o.Sub && bytes.Equal(p.Shared, o.Shared)
	default:
		return true
	}
}
