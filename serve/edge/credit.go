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
	key := pathKey(x)
	if len(key) > 0 {
		if _, ok := x.rel.Lookup(key); ok {
			return serveResource(x, key, "")
		}
	}
	cr, ok, err := credits.Find(x.rel, x.q.Name)
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
	literals(x, `{"credit_type":"`, cr.Role.String(), `","department":"`)
	splice.Literal(x.answer, cr.Department)
	literals(x, `","job":"`)
	splice.Literal(x.answer, cr.Job)
	literals(x, `","media":{`)
	if err := x.include(&title, 0); err != nil {
		return err
	}
	if cr.Role == credits.Cast {
		literals(x, `,"character":"`)
		splice.Literal(x.answer, cr.Character)
		literals(x, `"`)
	}
	if cr.Kind == fragment.KindTV {
		if err := creditParts(x, &cr); err != nil {
			return err
		}
	}
	literals(x, `},"media_type":"`, fragment.MediaTypeOf(cr.Kind), `","id":"`)
	splice.Literal(x.answer, x.q.Name)
	literals(x, `","person":{`)
	if err := x.include(&person, 0); err != nil {
		return err
	}
	literals(x, "}}")
	return x.finish()
}

// creditParts adds the episodes and the seasons of a credit in a series.
func creditParts(x *exchange, cr *credits.Credit) error {
	row := func(i int, include release.Include) error {
		if i > 0 {
			literals(x, ",")
		}
		literals(x, "{")
		err := x.include(&include, 0)
		literals(x, "}")
		return err
	}
	begun := false
	beginSeasons := func() {
		if !begun {
			literals(x, `],"seasons":[`)
		}
		begun = true
	}
	literals(x, `,"episodes":[`)
	err := cr.Parts(
		func(i int, e credits.Episode) error { return row(i, cr.EpisodeRow(e)) },
		func(i int, n uint32) error { beginSeasons(); return row(i, cr.SeasonRow(n)) },
	)
	beginSeasons()
	literals(x, "]")
	return err
}

// literals adds literal texts.
func literals(x *exchange, list ...string) {
	for _, s := range list {
		splice.Literal(x.answer, s)
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
func filmography(x *exchange, choice *variant.Choice) error {
	if x.prefetch {
		x.scratch.awaitIncludes(x.rel, &choice.Fragment)
	}
	lists, first, wanted := 1, true, false // lists begun; no credit in the list yet; the current credit has the wanted kind
	splice.Literal(x.answer, `"cast":[`)
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
				splice.Literal(x.answer, ",")
			}
			splice.Literal(x.answer, "{")
			if err := x.include(&piece.Include, 0); err != nil {
				return err
			}
			first = false
		case release.OpIDEnd:
			if wanted || lists != 2 {
				return errFilmography
			}
			splice.Literal(x.answer, "]")
			x.mark(&piece, choice)
		default:
			text, err := x.pieceText(&piece)
			if err != nil {
				return err
			}
			if wanted {
				end := bytes.Index(text, mediaType) // in strings, quotes are escaped
				if end < 0 {
					return errFilmography
				}
				splice.Literal(x.answer, text[:end])
				splice.Literal(x.answer, "}")
				wanted = false
			}
			if bytes.Contains(text, crewBegin) {
				splice.Literal(x.answer, crewBegin)
				lists, first = lists+1, true
			}
		}
	}
	if pieces.Broken {
		return errBroken
	}
	return nil
}
