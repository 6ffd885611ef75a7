package tmdb

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A Reader is the layout of TMDB's own responses of every kind: details with or without appended objects, rows of lists, and
// single sub-requests.
type Reader struct {
	parser    *record.Parser
	language  string
	Responses bool // rows are responses of the API
	// Values receives values that do not fit their field. If it is nil, their row is rejected.
	Values *record.Values
	// Genre returns the genre of a kind with a name, as JSON, or "". It may be nil.
	Genre   func(k fragment.Kind, name string) string
	dropped map[string]int64
}

// New returns a Reader for rows in a language, as ParseLanguage returns it.
func New(language string) *Reader {
	return &Reader{parser: record.NewParser(), language: language, dropped: map[string]int64{}}
}

// Counts counts values that are missing from records or were converted, by path.
type Counts struct {
	record.Counts
	Dropped map[string]int64        // values for which the API has no field
	Whole   map[string]int64        // joined lists that could not be split and were kept whole, by table and column
	Cells   map[string]record.Cells // by column, for rows with records
}

// Counts returns the counts of all rows.
func (t *Reader) Counts() Counts {
	return Counts{Counts: t.parser.Counts, Dropped: t.dropped, Cells: t.parser.Tally.Cells()}
}

// LostCells returns the columns of the last row whose values do not fit their field.
func (t *Reader) LostCells() []string { return t.parser.Tally.LeftOut() }

// Records returns the row's record, and the records of seasons and episodes whose responses were appended. A rejected row is
// not counted.
func (t *Reader) Records(r Row) ([]Record, error) {
	t.parser.Begin()
	t.parser.Values = t.Values
	r.Response = r.Response || t.Responses && !r.Table && !r.Texts
	t.parser.Tally.CountNext()
	recs, err := t.records(r)
	if err != nil {
		t.parser.Undo()
	} else {
		t.parser.Tally.Keep()
	}
	return recs, err
}

func (t *Reader) records(r Row) ([]Record, error) {
	if r.Type == nil {
		return nil, errors.New("neither the row nor its file has a kind of record")
	}
	text, comments := r.JSON, ""
	var err error
	switch {
	case r.Type.Kind == fragment.KindList && (r.Sub == "" || strings.HasPrefix(r.Sub, "page_")): // a file such as 509-page-2.json
		text, comments, err = t.listRow(r.JSON)
	case r.Sub != "":
		text, err = wrap(r)
	}
	if err != nil {
		return nil, err
	}
	rec := r.Type.New()
	t.parser.Columns, t.parser.Texts, t.parser.Named = r.Table, r.Texts, nil
	if t.Genre != nil {
		t.parser.Named = func(f *record.Field, name string) string {
			if f.Name != "genres" {
				return ""
			}
			return t.Genre(r.Type.Kind, name)
		}
	}
	if err := t.parser.Parse(text, rec); err != nil {
		return nil, err
	}
	var extra record.RawFields
	if text := rec.Object().Extra; text != "" {
		if extra, err = record.Fields("{" + text + "}"); err != nil {
			return nil, err
		}
	}
	if f, _ := rec.Schema.Field("id"); !record.Present(rec, f) {
		if err := answeredError(extra); err != nil {
			return nil, err
		}
	}
	day := catalog.FetchedOf(rec)
	if day != "" {
		err = catalog.CheckFetched(day)
	}
	if day == "" || err != nil { // tables have null or "" for no date
		f, _ := rec.Schema.Field(catalog.FetchedColumn)
		record.Unset(rec, f)
	}
	if err := t.Values.Reject(err); err != nil {
		return nil, err
	}
	unknown := len(extra)
	if removed, ok, err := t.removed(r, rec, &extra); ok || err != nil {
		return []Record{removed}, err
	}
	t.dropEmpty(rec)
	english, parts, err := t.known(r.Type, rec, &extra)
	if err != nil {
		return nil, err
	}
	// Only responses are served with unknown fields. A table that has the column for them was made from responses.
	if t.Responses && r.Table && !t.parser.HasExtraColumn() {
		for _, f := range extra {
			t.Forget(f.Name)
			t.parser.Tally.SetFate(f.Name, record.IsUnused)
		}
		extra = nil
	}
	if len(extra) < unknown {
		rec.Object().Extra = extra.Extra()
	}
	if err := address(rec, r); err != nil {
		return nil, err
	}
	whole, err := checked(r.Type, rec)
	if err != nil {
		return nil, err
	}
	if r.Response {
		r.Type.MarkDetails(rec)
	}
	switch r.Type.Kind { // lists and accounts have users' texts, without a language
	case fragment.KindList:
		whole.Part = slices.ContainsFunc(record.As[catalog.List](rec).Items, func(p catalog.ListItemPage) bool { return p.TotalPages.V > 1 })
		err = t.checkList(rec, comments)
	case fragment.KindAccount:
		err = t.checkAccount(rec)
	default:
		if t.language != "" {
			localize(rec, t.language)
		}
	}
	if err != nil {
		return nil, err
	}
	for _, e := range slices.Backward(english) { // after localize, which moved the crawl's own texts away
		if text := rec.String(e.field); !text.Set {
			record.MarkAbsent(rec, e.field.Name) // set by us, so not null
			*text = record.Text(e.text)
		}
	}
	return t.withParts(whole, parts, r.Response)
}

// withParts returns a record and its parts' records. It drops a part without a valid record, and counts a part's left-out
// values under its path.
func (t *Reader) withParts(whole Record, parts []part, response bool) ([]Record, error) {
	out, values := []Record{whole}, t.Values
	for _, p := range parts {
		r := Row{Type: p.typ, JSON: p.fields.Object(), Series: int64(whole.Key.ID()), Season: p.season, Episode: p.episode, Response: response}
		if whole.Type.Kind == fragment.KindSeason {
			r.Season = int64(whole.Key.Season())
		}
		if values != nil {
			t.Values = &record.Values{}
		}
		t.parser.Values = t.Values
		recs, err := t.records(r)
		if err == nil {
			values.AddRenamed(t.Values, func(path string) string { return p.path() + "." + path })
		}
		t.Values, t.parser.Values = values, values
		if err != nil {
			if err = values.Reject(within(err, p.name)); err != nil {
				return nil, err
			}
			continue
		}
		for i := range recs {
			if catalog.FetchedOf(recs[i].Record) == "" {
				catalog.SetFetched(recs[i].Record, catalog.FetchedOf(whole.Record))
			}
		}
		out = append(out, recs...)
	}
	return out, nil
}

// address completes the key of a record with the IDs in the file's name, or of the record that it was appended to. It returns
// an error if they contradict the row.
func address(rec record.Record, r Row) error {
	switch r.Type.Kind {
	case fragment.KindSeason, fragment.KindEpisode:
		return partAddress(rec, r)
	case fragment.KindReview, fragment.KindCredit, fragment.KindEpisodeGroup:
		if id := rec.StringNamed("id"); r.Text != "" && id.Set && id.V != r.Text {
			return &record.FieldError{Field: "id", What: fmt.Sprintf("the file name has %s, the row has %s", r.Text, id.V)}
		}
		return nil
	}
	return sameNumber(rec, "id", r.ID)
}

// sameNumber returns an error if a field differs from the number in the file's name. 0 means that the name has none.
func sameNumber(rec record.Record, field string, want int64) error {
	if got := rec.IntNamed(field); want != 0 && got.Set && got.V != want {
		return &record.FieldError{Field: field, What: fmt.Sprintf("the file name has %d, the row has %d", want, got.V)}
	}
	return nil
}

// partAddress completes the key of a season or an episode.
func partAddress(rec record.Record, r Row) error {
	if r.Series == 0 {
		series := rec.IntNamed("series_id")
		for episode := range rec.Each("episodes") { // of a season
			if id := episode.IntNamed("show_id"); id.Set && !series.Set {
				*series = *id
			}
		}
		return sameNumber(rec, "id", r.ID)
	}
	want := []struct {
		field string
		n     int64
	}{{"series_id", r.Series}, {"season_number", r.Season}, {"episode_number", r.Episode}}
	if r.Type.Kind == fragment.KindSeason {
		want = want[:2]
	}
	for _, w := range want {
		switch got := rec.IntNamed(w.field); {
		case !got.Set:
			record.MarkAbsent(rec, w.field) // set by us, so not null
			*got = record.Number(w.n)
		case got.V != w.n:
			return &record.FieldError{Field: w.field, What: fmt.Sprintf("want %d, as in its address, found %d", w.n, got.V)}
		}
	}
	return nil
}

// answeredError returns the API's error if a crawler stored an error response as a row, or nil.
func answeredError(fields record.RawFields) error {
	code, message := fields.Value("status_code"), fields.Value("status_message")
	if _, err := strconv.ParseInt(code, 10, 64); err == nil && strings.HasPrefix(message, `"`) {
		return &record.FieldError{Field: "status_code", What: fmt.Sprintf("want a response, found error %s: %s", code, record.Unquote(message))}
	}
	return nil
}

// wrap makes a record of the response to one sub-request.
func wrap(r Row) (string, error) {
	if f, ok := r.Type.Schema.Field(currentName(r.Type.Kind, r.Sub)); !ok || !f.IsSub() {
		return "", fmt.Errorf("the file name has sub-request %q, which a %s record does not have", r.Sub, r.Type.Name())
	}
	row, err := record.Fields(r.JSON)
	if err != nil {
		return "", err
	}
	if err := answeredError(row); err != nil {
		return "", err
	}
	response := r.JSON
	fetched, ok := row.Take(catalog.FetchedColumn)
	if ok {
		response = row.Object()
	}
	// Seasons and episodes have their own IDs, which are not in file names.
	id := row.Value("id")
	if r.Series == 0 {
		digits := strings.Trim(id, `"`) // some responses of 2022 have the ID as text
		if r.ID == 0 {                  // the file has many rows
			r.ID, err = strconv.ParseInt(digits, 10, 64)
			switch {
			case digits == "":
				return "", &record.FieldError{Field: "id", What: "want an integer, found nothing"}
			case err != nil || r.ID < 1:
				return "", &record.FieldError{Field: "id", What: fmt.Sprintf("want an integer from 1 to %d, found %s", int64(math.MaxInt64), record.Shown(digits))}
			}
		}
		if id != "" && digits != strconv.FormatInt(r.ID, 10) {
			return "", &record.FieldError{Field: "id", What: fmt.Sprintf("the file name has %d, the response has %s", r.ID, id)}
		}
		id = strconv.FormatInt(r.ID, 10)
	}
	return record.RawFields{{Name: "id", Raw: id}, {Name: catalog.FetchedColumn, Raw: fetched}, {Name: r.Sub, Raw: response}}.Object(), nil
}

// maxPage is the last page of the API's lists, except users' lists.
const maxPage = 500

// dropEmpty removes empty responses to sub-requests: null, {} and errors of the API. Crawlers store them for failed requests,
// and merging them would erase data of an earlier crawl. It also removes pages out of range, and makes pages without a number
// page 1, so that pages of several crawls can be merged.
func (t *Reader) dropEmpty(r record.Record) {
	for i := range r.Schema.Fields {
		f := &r.Schema.Fields[i]
		if f.Elem == nil || !f.Elem.DropID || !record.Present(r, f) {
			continue
		}
		if f.Shape != record.ShapePages {
			if sub, ok := r.Sub(f); !ok || isEmptyResponse(sub) {
				record.Unset(r, f)
				record.Count(t.dropped, f.Name, 1)
			}
			continue
		}
		before, _ := r.Len(f)
		record.Retain(r, f, func(p record.Record) bool {
			n := p.IntNamed("page")
			isWhole := p.Schema == record.SchemaOf[catalog.TaggedImagePage]() && n.Set && n.V == 0 // a list that the API serves as page 0
			if isEmptyResponse(p) || isWhole {
				return isWhole
			}
			if n.V < 1 {
				record.MarkAbsent(p, "page")
				*n = record.Number(1)
			}
			return n.V <= maxPage || p.Schema == record.SchemaOf[catalog.ListItemPage]()
		})
		switch after, _ := r.Len(f); {
		case after == 0:
			record.Unset(r, f)
			record.Count(t.dropped, f.Name, 1)
		case after < before:
			record.Count(t.dropped, f.Name+"[]", int64(before-after))
		}
	}
}

// isEmptyResponse reports whether a response has no fields at all, or is an error.
func isEmptyResponse(r record.Record) bool {
	for i := range r.Schema.Fields {
		if record.Present(r, &r.Schema.Fields[i]) {
			return false
		}
	}
	extra := r.Object().Extra
	return extra == "" || record.HasField(extra, "status_code")
}
