package imdb

import (
	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// scan sets j.cells to the columns of a row, a valid JSON object of texts, numbers, booleans and nulls. Unknown columns are
// counted.
func (j *Joiner) scan(t *table, row string) error {
	j.cells = [maxColumns]string{}
	next := 0
	return tmdb.InField(record.EachField(row, func(name, raw string) error {
		text, ok := cellText(raw)
		if !ok {
			text = ""
			err := j.config.Values.Reject(&record.FieldError{Field: name, What: "want a text, a number or null, found " + record.Shown(raw), Value: record.Shown(raw)})
			if err != nil {
				return err
			}
		}
		switch i := t.column(name, next); {
		case i >= 0:
			j.cells[i] = text
		case text != "":
			j.dropName(t.name+".", name)
		}
		next++
		return nil
	}), "")
}

// cellText returns the text of a value: numbers and booleans in IMDb's form, "" for null and \N. It returns false for objects
// and lists.
func cellText(raw string) (text string, ok bool) {
	switch {
	case raw[0] == '"':
		text = record.Unquote(raw)
	case raw == "true":
		text = "1"
	case raw == "false":
		text = "0"
	case raw != "null":
		text = raw
	}
	if text == `\N` {
		text = ""
	}
	return text, raw[0] != '{' && raw[0] != '['
}
