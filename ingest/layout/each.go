package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/ingest/layout/pyliteral"
	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// placeInList is the path that stands for the place of an element in its list.
const placeInList = "#"

// checkEach checks the list column whose elements each make a record.
func (r *recordSpec) checkEach() error {
	e := r.Each
	switch {
	case e == nil:
		for i := range r.Map {
			if r.Map[i].Path == placeInList {
				return fmt.Errorf("column %s: path %q: want each, whose elements have a place", r.Map[i].Column, placeInList)
			}
		}
		return nil
	case e.Column == "":
		return errors.New("each: want a column")
	case e.As != "" && e.As != asJSON && e.As != asPython:
		return fmt.Errorf("each: as %q: want json or python", e.As)
	case e.As != "" && e.Separator != "":
		return errors.New("each: want either as or separator")
	}
	for i := range r.Map {
		if m := &r.Map[i]; m.Path == placeInList && m.Column != e.Column {
			return fmt.Errorf("column %s: path %q: want the column of each, %s", m.Column, placeInList, e.Column)
		}
	}
	return nil
}

// elements returns the elements of a cell as JSON texts, nulls and empty texts included.
func (e *eachSpec) elements(cell string) (out []string, err error) {
	text := cell
	if cell[0] == '"' {
		text = strings.TrimSpace(record.Unquote(cell))
		switch {
		case text == "":
			return nil, nil
		case e.Separator != "" && text[0] != '[':
			for part := range strings.SplitSeq(text, e.Separator) {
				out = append(out, string(record.AppendString(nil, strings.TrimSpace(part))))
			}
			return out, nil
		case e.As == asPython:
			b, err := pyliteral.AppendJSON(nil, text)
			if err != nil {
				return nil, fmt.Errorf("want a Python literal: %w, found %s", err, record.Shown(cell))
			}
			text = string(b)
		case !json.Valid([]byte(text)):
			return nil, fmt.Errorf("want a list, found %s", record.Shown(cell))
		}
	}
	err = record.EachElement(text, func(_ int, raw string) error {
		out = append(out, raw)
		return nil
	})
	return out, err
}

// each returns the records of a shape: of the row, or of each element of its list.
func (m *mapped) each(s *shape) ([]Record, error) {
	if s.each == nil {
		return m.record(s)
	}
	if !m.row.has(s.each.Column) {
		return nil, nil
	}
	cell := &m.row.cells[m.row.at[s.each.Column]]
	defer func(whole string) { *cell = whole }(*cell)
	list, err := s.each.elements(*cell)
	if err != nil {
		return nil, tmdb.InField(err, s.each.Column)
	}
	var out []Record
	for i, el := range list {
		if isEmpty(el) {
			continue
		}
		*cell, m.write.place = el, i
		recs, err := m.record(s)
		if err != nil {
			return nil, s.elementError(err, i)
		}
		out = append(out, recs...)
	}
	return out, nil
}

// elementError names in an error about the list column the element that is at fault.
func (s *shape) elementError(err error, i int) error {
	return tmdb.Renamed(err, func(field string) string {
		rest, ok := strings.CutPrefix(field, s.each.Column)
		if !ok || rest != "" && rest[0] != '.' {
			return field
		}
		return s.each.Column + "[" + strconv.Itoa(i) + "]" + rest
	})
}

// isPlace reports whether an entry is the place of an element in its list.
func (e *entry) isPlace() bool { return slices.Equal(e.inside, []string{placeInList}) }
