package edge

import (
	"bytes"
	"fmt"

	"reelsplice/schemas/release"
	"reelsplice/serve/splice"
	"reelsplice/serve/variant"
)

// A derived filmography is stored once, as combined_credits: movie_credits and tv_credits have its
// credits of one kind, without their media type. FORMAT.md, "Filmographies", has its form: each
// credit is an include of the title's row and the text behind it, up to and with the media type.
var (
	mediaType = []byte(`,"media_type":"`)
	crewBegin = []byte(`],"crew":[`)
)

var errFilmography = fmt.Errorf("%w: combined_credits are not of the form that filmographies have", release.ErrCorrupt)

// filmography adds the credits of one kind of titles.
func (c *composer) filmography(choice *variant.Choice) error {
	if c.prefetch {
		c.scratch.awaitIncludes(c.rel, &choice.Fragment)
	}
	lists, first, wanted := 1, true, false // lists begun; no credit in the list yet; the credit at hand is of the kind
	splice.Literal(&c.answer, `"cast":[`)
	var piece release.Piece
	pieces := choice.Fragment.Pieces()
	for pieces.Next(&piece) {
		switch piece.Op {
		case release.OpInclude:
			if wanted {
				return errFilmography // nothing is behind the credit before
			}
			if wanted = piece.Include.Kind == choice.Titles; !wanted {
				continue
			}
			if !first {
				splice.Literal(&c.answer, ",")
			}
			splice.Literal(&c.answer, "{")
			if err := c.include(&piece.Include, 0); err != nil {
				return err
			}
			first = false
		case release.OpIDEnd:
			if wanted || lists != 2 {
				return errFilmography
			}
			splice.Literal(&c.answer, "]")
			c.literal(&piece, 0, c.standalone)
		default:
			text, err := c.pieceText(&piece)
			if err != nil {
				return err
			}
			if wanted {
				end := bytes.Index(text, mediaType) // in strings, quotes are escaped
				if end < 0 {
					return errFilmography
				}
				splice.Literal(&c.answer, text[:end])
				splice.Literal(&c.answer, "}")
				wanted = false
			}
			if bytes.Contains(text, crewBegin) {
				splice.Literal(&c.answer, crewBegin)
				lists, first = lists+1, true
			}
		}
	}
	if pieces.Broken() {
		return errBroken
	}
	return nil
}

// pieceText returns the bytes of a segment or a literal. They are valid until the next call.
func (c *composer) pieceText(piece *release.Piece) (_ []byte, err error) {
	s := &c.scratch
	if piece.Op == release.OpSegment {
		s.raw, err = c.answer.AppendInflated(s.raw[:0], &piece.Segment)
	} else {
		s.raw = append(s.raw[:0], piece.Text()...)
	}
	return s.raw, err
}
