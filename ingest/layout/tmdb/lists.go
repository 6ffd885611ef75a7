package tmdb

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// listRow converts a row with a list to the catalogue's form, in which items are pages. It also returns the comments of a page.
// The row is a response of version 3 (items) or 4 (results) of the API, or has all items.
func (t *Reader) listRow(row string) (list, comments string, err error) {
	all, err := record.Fields(row)
	if err != nil {
		return "", "", err
	}
	comments = opened(all.TakeValue("comments"))
	if raw := all.TakeValue("object_ids"); raw != "" && raw != "{}" {
		record.Count(t.dropped, "object_ids", 1)
	}
	var page record.RawFields
	for _, name := range []string{"page", "total_pages", "total_results"} {
		page = append(page, record.RawField{Name: name, Raw: all.TakeValue(name)})
	}
	items := opened(cmp.Or(all.TakeValue("items"), all.TakeValue("results")))
	hasPages := false
	_ = record.EachElement(items, func(_ int, raw string) error {
		first, err := record.Fields(raw)
		hasPages = err == nil && first.Has("results")
		return io.EOF // the first one is enough
	})
	switch {
	case items == "" || hasPages:
	case page[0].Raw == "":
		items = `[{"page":1,"total_pages":1,"results":` + items + `}]`
	default:
		items = "[" + append(page, record.RawField{Name: "results", Raw: items}).Object() + "]"
	}
	for i := range all {
		m := &all[i]
		if m.Name != "created_by" {
			continue
		}
		if m.Raw = opened(m.Raw); strings.HasPrefix(m.Raw, `"`) {
			m.Raw = `{"username":` + m.Raw + `}` // as version 3 has it
		}
	}
	return append(all, record.RawField{Name: "items", Raw: items}).Object(), comments, nil
}

// opened returns the JSON in a text, as in tables. Other values are unchanged.
func opened(raw string) string {
	if text := textOf(raw); json.Valid([]byte(text)) && strings.ContainsAny(text, "[{") {
		return text
	}
	return raw
}

// checkList completes the items of a list: their order, and the comments of a page. It removes items without a title, and
// facts about the title itself.
func (t *Reader) checkList(rec record.Record, comments string) error {
	var byTitle map[string]string
	if comments != "" && json.Unmarshal([]byte(comments), &byTitle) != nil {
		err := t.Values.Reject(&record.FieldError{Field: "comments", What: "want texts by title, such as movie:550"})
		if err != nil {
			return err
		}
	}
	list := record.As[catalog.List](rec)
	for p := range list.Items {
		rows := &list.Items[p].Results
		kept := (*rows)[:0]
		for i, item := range *rows {
			if _, err := t.dropUnknown("items[].results[].", &item.Object); err != nil {
				return err
			}
			field, what := "id", numberFault(item.ID, 1)
			if media := item.MediaType.V; media != "movie" && media != "tv" {
				field, what = "media_type", fmt.Sprintf(`want "movie" or "tv", found %q`, media)
			}
			if what != "" {
				if err := t.Values.Reject(&record.FieldError{Field: fmt.Sprintf("items[%d].%s", i, field), What: what}); err != nil {
					return err
				}
				continue
			}
			if comment := byTitle[item.MediaType.V+":"+strconv.FormatInt(item.ID.V, 10)]; comment != "" && !item.Comment.Set {
				record.MarkAbsent(record.Of(&item), "comment") // a text in place of null
				item.Comment = record.Text(comment)
			}
			record.MarkAbsent(record.Of(&item), "order")
			item.Order = record.Number(int64(i))
			kept = append(kept, item)
		}
		*rows = kept
	}
	return nil
}

// dropUnknown drops and counts the unknown fields of an object at a path. It returns the fields to keep.
func (t *Reader) dropUnknown(path string, o *record.Object, keep ...string) (kept record.RawFields, err error) {
	if o.Extra == "" {
		return nil, nil
	}
	all, err := record.Fields("{" + o.Extra + "}")
	o.Extra = ""
	for _, f := range all {
		t.Forget(path + f.Name)
		if slices.Contains(keep, f.Name) {
			kept = append(kept, f)
		} else {
			record.Count(t.dropped, path+f.Name, 1)
		}
	}
	return kept, err
}

// checkAccount removes invalid values of an account: titles without an ID or a rating, and malformed account IDs. It reads
// ratings in the form of responses, and removes other data of titles.
func (t *Reader) checkAccount(rec record.Record) error {
	ids := []struct {
		name, want string
		parse      func(string) (catalog.Key, bool)
	}{{"account_object_id", "24 hex digits", catalog.TextKey}, {"guest_session_id", "32 hex digits in lower case", catalog.GuestKey}}
	for _, id := range ids {
		f, _ := rec.Schema.Field(id.name)
		s := rec.String(f)
		if _, ok := id.parse(s.V); ok || !s.Set {
			continue
		}
		found := strconv.Quote(s.V)
		if err := t.Values.Reject(&record.FieldError{Field: id.name, What: "want " + id.want + ", found " + found, Value: found}); err != nil {
			return err
		}
		record.Unset(rec, f)
	}
	for _, shelf := range []string{"favorites", "watchlist", "rated", "recommendations"} {
		f, _ := rec.Schema.Field(shelf)
		titles, ok := rec.Sub(f)
		if !ok {
			continue
		}
		lists := record.As[catalog.AccountTitles](titles)
		for i, rows := range []*[]catalog.AccountTitle{&lists.Movies, &lists.TV, &lists.Episodes} {
			name := []string{"movies", "tv", "episodes"}[i]
			var err error
			if *rows, err = t.checkTitles(shelf+"."+name, *rows, name == "episodes", shelf == "rated"); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkTitles returns the valid titles of a user.
func (t *Reader) checkTitles(path string, rows []catalog.AccountTitle, episodes, rated bool) ([]catalog.AccountTitle, error) {
	kept := rows[:0]
	for i, row := range rows {
		if err := t.readRating(path+"[].", &row); err != nil {
			return nil, err
		}
		if field, what := titleFault(&row, episodes, rated); what != "" {
			if err := t.Values.Reject(&record.FieldError{Field: fmt.Sprintf("%s[%d].%s", path, i, field), What: what}); err != nil {
				return nil, err
			}
			if field != "created_at" {
				continue
			}
			row.CreatedAt = record.String{}
		}
		kept = append(kept, row)
	}
	return kept, nil
}

// ratingFields are the fields of a rated title in responses of version 3 and 4 of the API.
type ratingFields struct {
	record.Object
	Rating        record.Float          `record:"rating"`
	AccountRating *catalog.AccountTitle `record:"account_rating"` // value and created_at
}

// readRating reads the rating of a title in a response. Other unknown fields are dropped.
func (t *Reader) readRating(path string, row *catalog.AccountTitle) error {
	found, err := t.dropUnknown(path, &row.Object, "rating", "account_rating")
	if err != nil || found == nil {
		return err
	}
	var r ratingFields
	if err := t.parser.Parse(found.Object(), record.Of(&r)); err != nil {
		return within(err, strings.TrimSuffix(path, "."))
	}
	for _, name := range []string{"value", "created_at"} {
		record.MarkAbsent(record.Of(row), name)
	}
	if r.AccountRating != nil {
		row.Value, row.CreatedAt = r.AccountRating.Value, r.AccountRating.CreatedAt
	}
	if r.Rating.Set {
		row.Value = r.Rating
	}
	return nil
}

// Bounds of a rating.
const (
	minRating = 0.5
	maxRating = 10
)

// titleFault returns the invalid field of a title of an account, and the reason.
func titleFault(r *catalog.AccountTitle, episode, rated bool) (field, what string) {
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
		if what := numberFault(m.n, m.low); what != "" {
			return m.name, what
		}
	}
	if v := r.Value; rated && !v.Set {
		return "value", fmt.Sprintf("want %v to %v, found nothing", minRating, maxRating)
	} else if rated && (v.V < minRating || v.V > maxRating) {
		return "value", fmt.Sprintf("want %v to %v, found %v", minRating, maxRating, v.V)
	}
	if _, ok := catalog.ParseTime(r.CreatedAt.V); !ok && r.CreatedAt.V != "" {
		return "created_at", fmt.Sprintf("want a time such as 2026-08-01 12:30:00 UTC or in RFC 3339, found %q", r.CreatedAt.V)
	}
	return "", ""
}

// numberFault returns why a number is invalid, or "". low is 1 for IDs, and 0 for numbers of seasons and episodes.
func numberFault(n record.Int, low int64) string {
	switch {
	case !n.Set:
		return "want an integer, found nothing"
	case n.V < low || low == 0 && n.V > math.MaxUint32:
		return fmt.Sprintf("want %d or more, found %d", low, n.V)
	}
	return ""
}
