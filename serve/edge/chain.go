package edge

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/splice"
	"github.com/reelsplice/reelsplice/serve/variant"
)

// A request with several languages gets each part joined field by field: see package variant. A part
// that is the same in all of them, or equal to that of one language, is spliced as it is stored.

// inChain adds sub-request s of e, of kind k, in the languages of the request's chain. choice is what
// answers the whole request.
func (c *composer) inChain(e release.Entry, k fragment.Kind, s fragment.Sub, choice variant.Choice, depth int) error {
	if c.trace != nil {
		defer c.trace.begin(&choice.Fragment, c.answer)()
	}
	if variant.ByLanguage(k, s) {
		return c.fragment(&choice, depth)
	}
	same := true
	for _, v := range c.q.Chain {
		err := c.q.In(v, func() error {
			one, ok := c.pick(e, k, s)
			same = same && ok && one.Fragment.Same(choice.Fragment)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if same { // what it includes is joined on its own
		return c.fragment(&choice, depth)
	}
	return c.joined(func() error {
		one, ok := c.pick(e, k, s)
		if !ok {
			return fmt.Errorf("%w: %s is there in some languages only", release.ErrCorrupt, s)
		}
		one.ID = choice.ID
		return c.fragment(&one, depth)
	})
}

// joined adds what compose adds in each language of the chain, joined field by field.
func (c *composer) joined(compose func() error) error {
	in := func(v fragment.Variant) (text []byte, err error) {
		err = c.q.In(v, func() error {
			text, err = c.aside(compose)
			return err
		})
		c.work += len(text)
		return bytes.Clone(text), err
	}
	texts := make([]variant.Text, len(c.q.Chain))
	held, equal := 0, true
	for i, v := range c.q.Chain {
		b, err := in(v)
		if err != nil {
			return err
		}
		texts[i] = variant.Text{Language: v, JSON: b}
		equal = equal && bytes.Equal(b, texts[0].JSON)
		held += len(b)
		// All texts, the one without a language, the joined one and its compressed form.
		if err := c.charge(held + 3*len(b)); err != nil {
			return err
		}
	}
	out := texts[0].JSON
	if !equal {
		plain, err := in(fragment.Untranslated)
		if err != nil {
			return err
		}
		if out, err = variant.JoinLanguages(nil, texts, plain, c.translated); err != nil {
			return fmt.Errorf("%w: %w", release.ErrCorrupt, err)
		}
	}
	for i := range texts {
		if bytes.Equal(out, texts[i].JSON) {
			return c.q.In(texts[i].Language, compose)
		}
	}
	return c.add(out)
}

// titleNames are the languages that a title has translations in.
type titleNames struct {
	kind fragment.Kind
	id   uint64
	in   []nameIn
}

type nameIn struct {
	language, region string
	isNamed          bool
}

// translated reports whether the translations of a title name it in a language. Those of a bare language
// are those of its usual region, or the first ones without that.
func (c *composer) translated(k fragment.Kind, id uint64, language fragment.Variant) (bool, error) {
	if c.names.kind != k || c.names.id != id { // a title is asked for in one language after the other
		in, err := c.namesOf(k, id)
		if err != nil {
			return false, err
		}
		c.names = titleNames{k, id, in}
	}
	lang := language.Bare().String()
	usual := fragment.Language(lang, reference.DefaultRegion(lang))
	found, named := false, false
	for _, t := range c.names.in {
		v := fragment.Language(t.language, t.region)
		if t.language != lang || v != language && language != language.Bare() {
			continue
		}
		if exact := v == language || v == usual; exact || !found {
			found, named = true, t.isNamed
			if exact {
				break
			}
		}
	}
	return named, nil
}

// namesOf reads the translations of a title, nil for none.
func (c *composer) namesOf(k fragment.Kind, id uint64) ([]nameIn, error) {
	e, ok := c.rel.Include(release.Include{Kind: k, ID: id})
	if !ok {
		return nil, nil
	}
	f, ok := e.Find(fragment.Address{Sub: fragment.SubTranslations})
	if !ok {
		return nil, nil
	}
	b, err := c.aside(func() error {
		splice.Literal(c.answer, "{")
		return c.fragment(&variant.Choice{Fragment: f}, 1)
	})
	if err != nil {
		return nil, err
	}
	c.work += len(b)
	var list struct {
		Translations []struct {
			Language string `json:"iso_639_1"`
			Country  string `json:"iso_3166_1"`
			Data     struct {
				Title string `json:"title"`
				Name  string `json:"name"`
			} `json:"data"`
		} `json:"translations"`
	}
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("%w: translations of %s %d: %w", release.ErrCorrupt, k, id, err)
	}
	in := make([]nameIn, len(list.Translations))
	for i, t := range list.Translations {
		in[i] = nameIn{t.Language, t.Country, t.Data.Title != "" || t.Data.Name != ""}
	}
	return in, nil
}
