package edge

import (
	"fmt"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/listrow"
	"reelsplice/schemas/release"
	"reelsplice/serve/splice"
)

// derivedRow adds a row that no fragment holds: it is made from the fragments of sub-request from,
// in the request's language.
func (c *composer) derivedRow(i *release.Include, from fragment.Sub) error {
	source := *i
	source.Sub = from
	raw, err := c.aside(func(side *composer) error { return side.include(&source, 0) })
	if err != nil {
		return err
	}
	if c.scratch.thin, err = listrow.Append(c.scratch.thin[:0], i.Kind, i.Sub, i.ID, raw); err != nil {
		return fmt.Errorf("%w: %s: %w", release.ErrCorrupt, *i, err)
	}
	if c.class == Page { // the page is compressed as a whole
		splice.Literal(&c.answer, c.scratch.thin)
		return nil
	}
	return c.deflate(c.scratch.thin)
}
