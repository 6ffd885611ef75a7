package index

import (
	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/tables"
)

// Person adds a person.
func (w *Writer) Person(id uint64, c complete.Record[catalog.Person]) error {
	p := c.V()
	r := w.start(id, p.Popularity.V)
	r.fields(fragment.KindPerson, record.Of(p))
	r.is(tables.Adult, p.Adult.V)
	return w.add(fragment.KindPerson)
}

// Collection adds a collection, with the popularity of its most popular part.
func (w *Writer) Collection(id uint64, c complete.Record[catalog.Collection], popularity float64, adult bool) error {
	r := w.start(id, popularity)
	r.fields(fragment.KindCollection, record.Of(c.V()))
	r.is(tables.Adult, adult)
	return w.add(fragment.KindCollection)
}

// Company adds a company that a number of titles name.
func (w *Writer) Company(id uint64, c complete.Record[catalog.Company], titles int) error {
	w.start(id, float64(titles)).fields(fragment.KindCompany, record.Of(c.V()))
	return w.add(fragment.KindCompany)
}

// Keyword adds a keyword that a number of titles name.
func (w *Writer) Keyword(id uint64, c complete.Record[catalog.KeywordRecord], titles int) error {
	w.start(id, float64(titles)).fields(fragment.KindKeyword, record.Of(c.V()))
	return w.add(fragment.KindKeyword)
}
