package merge

import "github.com/reelsplice/reelsplice/schemas/record"

// owners are the sources that gave the fields of a record, for messages.
type owners struct {
	first int            // source of the fields that later lacks
	later map[string]int // by field; nil of a single source
}

// add makes a source the owner of the fields of its row.
func (o *owners) add(row record.Record, number int) {
	if o.later == nil {
		o.later = map[string]int{}
	}
	for n := range row.Schema.Fields {
		if f := &row.Schema.Fields[n]; record.Present(row, f) {
			o.later[f.Name] = number
		}
	}
}

// of returns the source that gave a field.
func (o *owners) of(name string) int {
	if number, ok := o.later[name]; ok {
		return number
	}
	return o.first
}
