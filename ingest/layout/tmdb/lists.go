package tmdb

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// nested returns the JSON inside a text, as tables have it. Other values are unchanged.
func nested(raw string) string {
	if !strings.HasPrefix(raw, `"`) {
		return raw
	}
	if inner := strings.TrimSpace(record.Unquote(raw)); inner != "" && (inner[0] == '[' || inner[0] == '{') {
		return inner
	}
	return raw
}

// listRow converts a row about a list to the catalogue's form. The row is a response of version 3 or 4 of the API, or has all
// items.
func (t *Reader) listRow(row string) (string, error) {
	all, err := record.Fields(row)
	if err != nil {
		return "", err
	}
	l := listReader{Reader: t}
	if l.comments, err = t.commentsOf(all.TakeValue("comments")); err != nil {
		return "", err
	}
	if raw := all.TakeValue("object_ids"); raw != "" && raw != "{}" {
		record.Count(t.dropped, "object_ids", 1)
	}
	var page record.RawFields
	for _, name := range []string{"page", "total_pages", "total_results"} {
		page = append(page, record.RawField{Name: name, Raw: all.TakeValue(name)})
	}
	field, items := "items", nested(all.TakeValue("items"))
	if results := nested(all.TakeValue("results")); items == "" {
		field, items = "results", results
	}
	if items != "" {
		if items, err = l.pages(field, items, page); err != nil {
			if err = t.Values.Reject(err); err != nil {
				return "", err
			}
			items = ""
		}
	}
	for i := range all {
		m := &all[i]
		switch {
		case m.Name == "created_by" && strings.HasPrefix(m.Raw, `"`) && nested(m.Raw) == m.Raw:
			m.Raw = `{"username":` + m.Raw + `}` // as version 3 has it
		case m.Name == "public" && (m.Raw == "0" || m.Raw == "1"):
			m.Raw = strconv.FormatBool(m.Raw == "1")
		case m.Name == "id" && isNumber(record.Unquote(m.Raw)):
			m.Raw = record.Unquote(m.Raw) // as the published example of version 3 has it
		}
	}
	return append(all, record.RawField{Name: "items", Raw: items}).Object(), nil
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// commentsOf returns the comments of a version 4 response by title, such as movie:550.
func (t *Reader) commentsOf(raw string) (map[string]string, error) {
	if raw = nested(raw); raw == "" {
		return nil, nil
	}
	out := map[string]string{}
	err := record.EachField(raw, func(name, raw string) error {
		switch {
		case raw == "null":
		case !strings.HasPrefix(raw, `"`):
			return t.Values.Reject(&record.FieldError{Field: "comments." + name, What: "want a string or null, found " + record.Shown(raw)})
		default:
			out[name] = raw
		}
		return nil
	})
	return out, t.Values.Reject(InField(err, "comments"))
}

// A listReader reads the items of one list.
type listReader struct {
	*Reader
	comments map[string]string
}

// pages converts the items of a row to pages. The row is one page, or has a list of pages, as in the catalogue.
func (l *listReader) pages(field, items string, page record.RawFields) (string, error) {
	if isPage(items) {
		items = "[" + items + "]"
	}
	many := false
	_ = record.EachElement(items, func(i int, raw string) error { // elements reports invalid JSON
		many = i == 0 && isPage(raw) || i > 0 && many
		return nil
	})
	if !many {
		if page[0].Raw == "" { // the complete list
			page = record.RawFields{{Name: "page", Raw: "1"}, {Name: "total_pages", Raw: "1"}}
		}
		return l.page(field, items, page)
	}
	return l.elements(items, field, func(at string, _ int, raw string) (string, error) {
		all, err := record.Fields(raw)
		if err != nil {
			return "", err
		}
		results := all.TakeValue("results")
		return l.page(at+".results", cmp.Or(results, "[]"), all)
	})
}

// isPage reports whether a value is a page: an object with results.
func isPage(raw string) bool {
	all, err := record.Fields(raw)
	return err == nil && all.Has("results")
}

// page writes a page of items.
func (l *listReader) page(field, items string, rest record.RawFields) (string, error) {
	list, err := l.elements(items, field, l.item)
	out := append(record.RawFields{{Name: "results", Raw: list}}, rest...)
	return out.Object(), err
}

// elements converts the elements of a list. Unreadable elements are dropped.
func (t *Reader) elements(list, field string, read func(at string, i int, raw string) (string, error)) (string, error) {
	var out []string
	err := record.EachElement(list, func(i int, raw string) error {
		at := fmt.Sprintf("%s[%d]", field, i)
		one, err := read(at, i, raw)
		if err == nil {
			out = append(out, one)
		}
		return t.Values.Reject(InField(err, at))
	})
	return record.List(out), InField(err, field)
}

// item reads one item of a list: an object, or a text such as movie:550. Facts about the title itself are dropped.
func (l *listReader) item(field string, i int, raw string) (string, error) {
	var media, id, comment string
	if strings.HasPrefix(raw, `"`) {
		media, id, _ = strings.Cut(record.Unquote(raw), ":")
		media = string(record.AppendString(nil, media))
	} else {
		all, err := record.Fields(raw)
		if err != nil {
			return "", err
		}
		media, id, comment = all.TakeValue("media_type"), all.TakeValue("id"), all.TakeValue("comment")
		all.TakeValue("order")
		media = cmp.Or(media, guessMedia(all))
		l.dropAll("items[].", all)
	}
	if media != `"movie"` && media != `"tv"` {
		return "", &record.FieldError{Field: field + ".media_type", What: `want "movie" or "tv", found ` + cmp.Or(record.Shown(media), "nothing")}
	}
	if _, err := parseID(id); err != nil {
		return "", InField(err, field+".id")
	}
	out := record.RawFields{
		{Name: "media_type", Raw: media},
		{Name: "id", Raw: id},
		{Name: "comment", Raw: cmp.Or(comment, l.comments[record.Unquote(media)+":"+id])},
		{Name: "order", Raw: strconv.Itoa(i)},
	}
	return out.Object(), nil
}

// guessMedia infers the type of a title in an old response without media_type, or returns "".
func guessMedia(all record.RawFields) string {
	for _, m := range all {
		switch m.Name {
		case "title", "original_title", "release_date":
			return `"movie"`
		case "name", "original_name", "first_air_date":
			return `"tv"`
		}
	}
	return ""
}

// parseID parses the JSON of an ID.
func parseID(raw string) (int64, error) {
	n, err := strconv.ParseInt(raw, 10, 64)
	switch {
	case raw == "":
		return 0, errors.New("want an integer, found nothing")
	case err != nil || n < 1:
		return 0, fmt.Errorf("want an integer from 1 to %d, found %s", int64(math.MaxInt64), record.Shown(raw))
	}
	return n, nil
}

// isPart reports whether a list's record is one page of several.
func isPart(rec record.Record) bool {
	l := record.As[catalog.List](rec)
	for i := range l.Items {
		if l.Items[i].TotalPages.V > 1 {
			return true
		}
	}
	return false
}

// ofUser reports whether records of a kind are made by users, and so have no language.
func ofUser(k fragment.Kind) bool { return k == fragment.KindList || k == fragment.KindAccount }
