package merge

import (
	"slices"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// owners are the sources that gave the fields of the record at hand, by number. For fields with an
// order of sources of their own, they also decide which source is the stronger.
//
// A row joins the news in the order of the source numbers. An order of a field's own cannot change
// that, because other fields of the row would move with it. So choose drops the fields that a
// stronger source gave from the row, before the join.
type owners struct {
	schema *record.Schema
	first  int   // source of the fields that later has no number for
	later  []int // by place in the schema: the source's number plus one; 0 for none
	orders []fieldOrder
}

// A fieldOrder is the order of sources of one field.
type fieldOrder struct {
	field *record.Field
	ranks []int // by number of the source
	given int   // rank of the source that gave the field
}

// newOwners returns the owners of a kind's records. ranks are by field, as those of a Precedence.
func newOwners(t *catalog.Type, ranks map[string][]int) owners {
	o := owners{schema: t.Plan, later: make([]int, len(t.Plan.Fields))}
	for n := range t.Plan.Fields {
		f := &t.Plan.Fields[n]
		if list, ok := ranks[f.Name]; ok {
			o.orders = append(o.orders, fieldOrder{field: f, ranks: list})
		}
	}
	return o
}

// begin begins a record that one source gave.
func (o *owners) begin(number int) {
	o.first = number
	clear(o.later)
	for n := range o.orders {
		o.orders[n].given = o.orders[n].ranks[number]
	}
}

// add makes a source the owner of the fields of its row.
func (o *owners) add(row record.Record, number int) {
	for n := range row.Schema.Fields {
		if record.Present(row, &row.Schema.Fields[n]) {
			o.later[n] = number + 1
		}
	}
}

// of returns the source that gave a field.
func (o *owners) of(name string) int {
	n := slices.IndexFunc(o.schema.Fields, func(f record.Field) bool { return f.Name == name })
	if n < 0 || o.later[n] == 0 {
		return o.first
	}
	return o.later[n] - 1
}

// choose takes from a row the fields that a stronger source has given before. disagree gets those
// on which the two disagree.
func (o *owners) choose(dst, row record.Record, number int, disagree func(conflict)) {
	for n := range o.orders {
		f, rank := o.orders[n].field, o.orders[n].ranks[number]
		if !record.Present(row, f) {
			continue
		}
		if record.Present(dst, f) && o.orders[n].given > rank {
			if !record.Same(dst, row, f) {
				disagree(conflict{f.Name, record.FieldText(row, f), record.FieldText(dst, f)})
			}
			record.Unset(row, f)
			continue
		}
		o.orders[n].given = rank
	}
}
