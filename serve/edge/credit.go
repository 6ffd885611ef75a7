package edge

import (
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/listrow"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables/credits"
	"reelsplice/serve/splice"
)

// creditDetails serves a credit: as a dump gave it, else from the table of credits, the row of its title
// and that of its person. The latter has the names of both for caches, too: it changes with them.
func creditDetails(x *exchange) error {
	key := x.c.pathKey(&x.q)
	if len(key) > 0 {
		if _, ok := x.rel.Lookup(key); ok {
			return resource(x, key, "")
		}
	}
	cr, ok, err := credits.Find(x.rel, x.q.Name)
	if err != nil {
		return err
	}
	if !ok {
		return resource(x, key, "")
	}
	x.keys = appendKeys(x.keys[:0], x.rs.Release, key)
	var of [fragment.MaxKeyLen]byte
	for _, i := range []release.Include{cr.TitleRow(), cr.PersonRow()} {
		x.keys = AppendPurge(append(x.keys, ' '), i.AppendKey(of[:0]))
	}
	x.rs.Keys = x.keys
	if err := x.c.credit(&cr, x.q.Name); err != nil {
		return err
	}
	return x.finish()
}

// credit adds the details of a credit with an id.
func (c *composer) credit(cr *credits.Credit, id []byte) error {
	c.texts(`{"credit_type":"`, cr.Role.String(), `","department":"`)
	splice.Literal(&c.answer, cr.Department)
	c.texts(`","job":"`)
	splice.Literal(&c.answer, cr.Job)
	c.texts(`","media":{`)
	title := cr.TitleRow()
	if err := c.include(&title, 0); err != nil {
		return err
	}
	if cr.Role == credits.Cast {
		c.texts(`,"character":"`)
		splice.Literal(&c.answer, cr.Character)
		c.texts(`"`)
	}
	if cr.Kind == fragment.KindTV {
		if err := c.creditParts(cr); err != nil {
			return err
		}
	}
	c.texts(`},"media_type":"`, listrow.TypeOf(cr.Kind), `","id":"`)
	splice.Literal(&c.answer, id)
	c.texts(`","person":{`)
	person := cr.PersonRow()
	if err := c.include(&person, 0); err != nil {
		return err
	}
	c.texts("}}")
	return nil
}

// creditParts adds the episodes and the seasons of a credit in a series.
func (c *composer) creditParts(cr *credits.Credit) error {
	row := func(i int, what release.Include) error {
		if i > 0 {
			c.texts(",")
		}
		c.texts("{")
		err := c.include(&what, 0)
		c.texts("}")
		return err
	}
	seasons := false // has begun
	begin := func() {
		if !seasons {
			c.texts(`],"seasons":[`)
		}
		seasons = true
	}
	c.texts(`,"episodes":[`)
	err := cr.Parts(
		func(i int, e credits.Episode) error { return row(i, cr.EpisodeRow(e)) },
		func(i int, n uint32) error { begin(); return row(i, cr.SeasonRow(n)) },
	)
	begin()
	c.texts("]")
	return err
}

// texts adds literal texts.
func (c *composer) texts(list ...string) {
	for _, s := range list {
		splice.Literal(&c.answer, s)
	}
}
