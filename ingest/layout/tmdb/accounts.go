package tmdb

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// accountRow converts a row about an account to the catalogue's form. A title may be a bare ID or a row of a response; facts
// about the title itself are dropped.
func (t *Reader) accountRow(row string) (string, error) {
	all, err := record.Fields(row)
	if err != nil {
		return "", err
	}
	for i := range all {
		f := &all[i]
		read := t.titlesByType
		switch f.Name {
		case "favorites", "watchlist", "rated", "recommendations":
		case "lists":
			read = t.listIDs
		default:
			continue
		}
		if f.Raw == "null" {
			f.Raw = "" // as if absent
		} else if f.Raw, err = read(f.Name, nested(f.Raw)); err != nil {
			if err = t.Values.Reject(err); err != nil {
				return "", err
			}
			f.Raw = ""
		}
	}
	return all.Object(), nil
}

var titleTypes = []string{"movies", "tv", "episodes"}

// titlesByType reads an object that has a list of titles for each type, such as the favorites.
func (t *Reader) titlesByType(field, raw string) (string, error) {
	var out record.RawFields
	err := record.EachField(raw, func(typ, raw string) (err error) {
		path := field + "." + typ
		switch {
		case !slices.Contains(titleTypes, typ):
		case raw == "null":
			return nil
		default:
			raw, err = t.elements(resultsOf(nested(raw)), path, func(at string, _ int, raw string) (string, error) { return t.title(path+"[].", at, raw) })
		}
		if err == nil {
			out = append(out, record.RawField{Name: typ, Raw: raw})
		}
		return t.Values.Reject(err)
	})
	return out.Object(), InField(err, field)
}

// resultsOf returns the rows of a page, or raw if it is not a page.
func resultsOf(raw string) string {
	if !isPage(raw) {
		return raw
	}
	all, _ := record.Fields(raw) // isPage parsed it
	return all.TakeValue("results")
}

// title reads one title: an ID, or a row with its rating and time. Other fields are counted under the path counted.
func (t *Reader) title(counted, field, raw string) (string, error) {
	if !strings.HasPrefix(raw, "{") {
		_, err := parseID(raw)
		return `{"id":` + raw + "}", InField(err, field)
	}
	all, err := record.Fields(raw)
	if err != nil {
		return "", err
	}
	value, created := all.TakeValue("value"), all.TakeValue("created_at")
	value = cmp.Or(all.TakeValue("rating"), value) // version 3 of the API has rating, version 4 account_rating
	if rating := all.TakeValue("account_rating"); strings.HasPrefix(rating, "{") {
		inner, err := record.Fields(rating)
		if err != nil {
			return "", err
		}
		value, created = inner.TakeValue("value"), inner.TakeValue("created_at")
	}
	series := all.TakeValue("series_id")
	out := record.RawFields{
		{Name: "show_id", Raw: cmp.Or(all.TakeValue("show_id"), series)}, {Name: "value", Raw: value}, {Name: "created_at", Raw: created},
	}
	for _, name := range []string{"id", "season_number", "episode_number"} {
		out = append(out, record.RawField{Name: name, Raw: all.TakeValue(name)})
	}
	all.TakeValue("media_type")
	t.dropAll(counted, all)
	return out.Object(), nil
}

// dropAll counts fields that have no place in the API.
func (t *Reader) dropAll(path string, left record.RawFields) {
	for _, f := range left {
		record.Count(t.dropped, path+f.Name, 1)
	}
}

// listIDs returns the IDs of an account's lists, from IDs or from rows that have them.
func (t *Reader) listIDs(field, raw string) (string, error) {
	return t.elements(resultsOf(raw), field, func(at string, _ int, raw string) (string, error) {
		if strings.HasPrefix(raw, "{") {
			all, err := record.Fields(raw)
			if err != nil {
				return "", err
			}
			raw, at = all.TakeValue("id"), at+".id"
			t.dropAll(field+"[].", all)
		}
		_, err := parseID(raw)
		return raw, InField(err, at)
	})
}

// Bounds of a rating.
const (
	minRating = 0.5
	maxRating = 10
)

// checkAccount removes invalid values of an account: titles without an ID or a rating, and malformed account IDs.
func (t *Reader) checkAccount(rec record.Record) error {
	ids := []struct {
		name, want string
		of         func(string) (catalog.Key, bool)
	}{{"account_object_id", "24 hex digits", catalog.TextKey}, {"guest_session_id", "32 hex digits in lower case", catalog.GuestKey}}
	for _, id := range ids {
		f, _ := rec.Schema.Field(id.name)
		s := rec.String(f)
		if _, ok := id.of(s.V); ok || !s.Set {
			continue
		}
		found := strconv.Quote(s.V)
		if err := t.Values.Reject(&record.FieldError{Field: id.name, What: "want " + id.want + ", found " + found, Value: found}); err != nil {
			return err
		}
		record.Unset(rec, f)
	}
	for _, name := range []string{"favorites", "watchlist", "rated", "recommendations"} {
		f, _ := rec.Schema.Field(name)
		titles, ok := rec.Sub(f)
		if !ok {
			continue
		}
		one := record.As[catalog.AccountTitles](titles)
		for i, rows := range []*[]catalog.AccountTitle{&one.Movies, &one.TV, &one.Episodes} {
			kept := (*rows)[:0]
			for n, row := range *rows {
				field, what := faultOf(&row, titleTypes[i] == "episodes", name == "rated")
				if what != "" {
					path := fmt.Sprintf("%s.%s[%d].%s", name, titleTypes[i], n, field)
					if err := t.Values.Reject(&record.FieldError{Field: path, What: what}); err != nil {
						return err
					}
					if field != "created_at" {
						continue
					}
					row.CreatedAt = record.String{}
				}
				kept = append(kept, row)
			}
			*rows = kept
		}
	}
	return nil
}

// faultOf returns the field that is wrong in a title of an account, and why.
func faultOf(r *catalog.AccountTitle, episode, rated bool) (field, what string) {
	type number struct {
		name string
		n    record.Int
		low  int64
	}
	numbers := []number{{"id", r.ID, 1}}
	if episode {
		numbers = []number{{"show_id", r.ShowID, 1}, {"season_number", r.SeasonNumber, 0}, {"episode_number", r.EpisodeNumber, 0}}
	}
	for _, m := range numbers {
		switch {
		case !m.n.Set:
			return m.name, "want an integer, found nothing"
		case m.n.V < m.low || m.low == 0 && m.n.V > math.MaxUint32:
			return m.name, fmt.Sprintf("want %d or more, found %d", m.low, m.n.V)
		}
	}
	if v := r.Value; rated && !v.Set {
		return "value", fmt.Sprintf("want %v to %v, found nothing", minRating, maxRating)
	} else if rated && (v.V < minRating || v.V > maxRating) {
		return "value", fmt.Sprintf("want %v to %v, found %v", minRating, maxRating, v.V)
	}
	if at := r.CreatedAt; at.V != "" {
		if _, ok := catalog.ParseTime(at.V); !ok {
			return "created_at", fmt.Sprintf("want a time such as 2026-08-01 12:30:00 UTC or in RFC 3339, found %q", at.V)
		}
	}
	return "", ""
}
