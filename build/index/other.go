package index

import (
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/tables"
)

// Person adds a person.
func (w *Writer) Person(id uint64, p *catalog.Person) error {
	r := w.start(id, p.Popularity.V)
	r.is(tables.Adult, p.Adult.V)
	r.name(Main, p.Name.V)
	r.name(Original, p.OriginalName.V)
	if p.Translations != nil {
		for i := range p.Translations.Translations {
			if d := p.Translations.Translations[i].Data; d != nil {
				r.name(Translated, d.Name.V)
			}
		}
	}
	for i := range p.Localized {
		r.name(Translated, p.Localized[i].Name.V)
	}
	for _, s := range p.AlsoKnownAs {
		r.name(Alternative, s)
	}
	return w.add(fragment.KindPerson)
}

// Collection adds a collection, with the popularity of its most popular part.
func (w *Writer) Collection(id uint64, c *catalog.Collection, popularity float64, adult bool) error {
	r := w.start(id, popularity)
	r.is(tables.Adult, adult)
	r.name(Main, c.Name.V)
	r.name(Original, c.OriginalName.V)
	if c.Translations != nil {
		for i := range c.Translations.Translations {
			if d := c.Translations.Translations[i].Data; d != nil {
				r.name(Translated, d.Title.V)
			}
		}
	}
	for i := range c.Localized {
		r.name(Translated, c.Localized[i].Name.V)
	}
	return w.add(fragment.KindCollection)
}

// Company adds a company that a number of titles name.
func (w *Writer) Company(id uint64, c *catalog.Company, titles int) error {
	r := w.start(id, float64(titles))
	r.name(Main, c.Name.V)
	if c.AlternativeNames != nil {
		for i := range c.AlternativeNames.Results {
			r.name(Alternative, c.AlternativeNames.Results[i].Name.V)
		}
	}
	return w.add(fragment.KindCompany)
}

// Keyword adds a keyword that a number of titles name.
func (w *Writer) Keyword(id uint64, k *catalog.KeywordRecord, titles int) error {
	r := w.start(id, float64(titles))
	r.name(Main, k.Name.V)
	return w.add(fragment.KindKeyword)
}
