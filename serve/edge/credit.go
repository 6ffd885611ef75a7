package edge

import (
	"bytes"
	"fmt"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/credits"
	"github.com/reelsplice/reelsplice/serve/splice"
	"github.com/reelsplice/reelsplice/serve/variant"
)

// credit serves a credit: as a dump gave it, else from the table of credits and the rows of its title
// and person. Such a response has the cache names of both, because it changes with them.
func credit(x *exchange, _ *api.Operation) error {
	key := x.c.pathKey(&x.q)
	if len(key) > 0 {
		if _, ok := x.c.rel.Lookup(key); ok {
			return serveResource(x, key, "")
		}
	}
	cr, ok, err := credits.Find(x.c.rel, x.q.Name)
	if err != nil {
		return err
	}
	if !ok {
		return serveResource(x, key, "")
	}
	title, person := cr.TitleRow(), cr.PersonRow()
	x.keys = appendKeys(x.keys[:0], x.rs.Release, key)
	var buf [fragment.MaxKeyLen]byte
	for _, i := range []release.Include{title, person} {
		x.keys = AppendPurge(append(x.keys, ' '), i.AppendKey(buf[:0]))
	}
	x.rs.Keys = x.keys
	c := &x.c
	c.literals(`{"credit_type":"`, cr.Role.String(), `","department":"`)
	splice.Literal(c.answer, cr.Department)
	c.literals(`","job":"`)
	splice.Literal(c.answer, cr.Job)
	c.literals(`","media":{`)
	if err := c.include(&title, 0); err != nil {
		return err
	}
	if cr.Role == credits.Cast {
		c.literals(`,"character":"`)
		splice.Literal(c.answer, cr.Character)
		c.literals(`"`)
	}
	if cr.Kind == fragment.KindTV {
		if err := c.creditParts(&cr); err != nil {
			return err
		}
	}
	c.literals(`},"media_type":"`, fragment.MediaTypeOf(cr.Kind), `","id":"`)
	splice.Literal(c.answer, x.q.Name)
	c.literals(`","person":{`)
	if err := c.include(&person, 0); err != nil {
		return err
	}
	c.literals("}}")
	return x.finish()
}

// creditParts adds the episodes and the seasons of a credit in a series.
func (c *composer) creditParts(cr *credits.Credit) error {
	row := func(i int, include release.Include) error {
		if i > 0 {
			c.literals(",")
		}
		c.literals("{")
		err := c.include(&include, 0)
		c.literals("}")
		return err
	}
	begun := false
	beginSeasons := func() {
		if !begun {
			c.literals(`],"seasons":[`)
		}
		begun = true
	}
	c.literals(`,"episodes":[`)
	err := cr.Parts(
		func(i int, e credits.Episode) error { return row(i, cr.EpisodeRow(e)) },
		func(i int, n uint32) error { beginSeasons(); return row(i, cr.SeasonRow(n)) },
	)
	beginSeasons()
	c.literals("]")
	return err
}

// literals adds literal texts.
func (c *composer) literals(list ...string) {
	for _, s := range list {
		splice.Literal(c.answer, s)
	}
}

// A derived filmography is stored once, as combined_credits: movie_credits and tv_credits are its
// credits of one kind, without their media type. See "Filmographies" in FORMAT.md: each credit is
// an include of the title's row and the text after it, up to and including the media type.
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
	lists, first, wanted := 1, true, false // lists begun; no credit in the list yet; the current credit has the wanted kind
	splice.Literal(c.answer, `"cast":[`)
	var piece release.Piece
	pieces := choice.Fragment.Pieces()
	for pieces.Next(&piece) {
		switch piece.Op {
		case release.OpInclude:
			if wanted {
				return errFilmography // the previous credit has no text
			}
			if wanted = piece.Include.Kind == choice.Titles; !wanted {
				continue
			}
			if !first {
				splice.Literal(c.answer, ",")
			}
			splice.Literal(c.answer, "{")
			if err := c.include(&piece.Include, 0); err != nil {
				return err
			}
			first = false
		case release.OpIDEnd:
			if wanted || lists != 2 {
				return errFilmography
			}
			splice.Literal(c.answer, "]")
			c.mark(&piece, choice)
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
				splice.Literal(c.answer, text[:end])
				splice.Literal(c.answer, "}")
				wanted = false
			}
			if bytes.Contains(text, crewBegin) {
				splice.Literal(c.answer, crewBegin)
				lists, first = lists+1, true
			}
		}
	}
	if pieces.Broken {
		return errBroken
	}
	return nil
}
