package tmdb

import (
	"errors"
	"fmt"
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
	// Values receives values that fit no field. With nil, their row is rejected.
	Values *record.Values
	// Genre returns the genre of a kind with a name, as JSON, or "". It may be nil.
	Genre   func(k fragment.Kind, name string) string
	dropped map[string]int64
}

// New returns a Reader for rows in a language, as ParseLanguage returns it.
func New(language string) *Reader {
	return &Reader{parser: record.NewParser(), language: language, dropped: map[string]int64{}}
}

// Counts counts values that records lack or hold in another form, by path.
type Counts struct {
	record.Counts
	Dropped map[string]int64        // values without a place in the API
	Whole   map[string]int64        // joined lists kept as they were because they could not be split, by table and column
	Cells   map[string]record.Cells // by column, for rows that made records
}

// Counts returns the counts of all rows.
func (t *Reader) Counts() Counts {
	return Counts{Counts: t.parser.Counts, Dropped: t.dropped, Cells: t.parser.Tally.Cells()}
}

// LostCells returns the columns of the last row whose values fit no field.
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
	text, err := t.textOf(&r)
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
	if err := t.Values.Reject(checkFetched(rec)); err != nil {
		return nil, err
	}
	unknown := len(extra)
	if gone, is, err := t.removed(r, rec, &extra); is || err != nil {
		return []Record{gone}, err
	}
	t.dropEmpty(rec)
	english, parts, err := t.known(r.Type, rec, &extra)
	if err != nil {
		return nil, err
	}
	// Only responses are served with unknown fields. A table with the column for them was made of responses.
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
	one, err := checked(r.Type, rec)
	if err != nil {
		return nil, err
	}
	if r.Response {
		r.Type.MarkDetails(rec)
	}
	if t.language != "" && !ofUser(r.Type.Kind) {
		localize(rec, t.language)
	}
	switch r.Type.Kind {
	case fragment.KindList:
		one.Part = isPart(rec)
		if err := t.checkList(rec, r.comments); err != nil {
			return nil, err
		}
	case fragment.KindAccount:
		if err := t.checkAccount(rec); err != nil {
			return nil, err
		}
	}
	fill(rec, english) // after localize, which moved the crawl's own texts away
	return t.withParts(one, parts, r.Response)
}

// textOf returns the JSON of a row in its kind's form.
func (t *Reader) textOf(r *Row) (string, error) {
	if r.Type.Kind == fragment.KindList {
		if strings.HasPrefix(r.Sub, "page_") { // a file such as 509-page-2.json
			r.Sub = ""
		}
		if r.Sub == "" {
			list, comments, err := t.listRow(r.JSON)
			r.comments = comments
			return list, err
		}
	}
	if r.Sub != "" {
		return wrap(*r)
	}
	return r.JSON, nil
}

// withParts returns a record and its parts' records. A part without a valid record is dropped.
func (t *Reader) withParts(one Record, parts []part, response bool) ([]Record, error) {
	out := []Record{one}
	for _, p := range parts {
		r := Row{Type: p.typ, JSON: p.fields.Object(), Series: int64(one.Key.ID()), Season: p.season, Episode: p.episode, Response: response}
		if one.Type.Kind == fragment.KindSeason {
			r.Season = int64(one.Key.Season())
		}
		recs, err := t.part(r, p)
		if err != nil {
			if err = t.Values.Reject(Within(err, p.name)); err != nil {
				return nil, err
			}
			continue
		}
		for i := range recs {
			if catalog.FetchedOf(recs[i].Record) == "" {
				catalog.SetFetched(recs[i].Record, catalog.FetchedOf(one.Record))
			}
		}
		out = append(out, recs...)
	}
	return out, nil
}

// part returns the records of a part. Values that it loses are counted under the part's path.
func (t *Reader) part(r Row, p part) ([]Record, error) {
	values := t.Values
	if values != nil {
		t.Values = &record.Values{}
		t.parser.Values = t.Values
		defer func() { t.Values, t.parser.Values = values, values }()
	}
	recs, err := t.records(r)
	if err == nil {
		values.AddRenamed(t.Values, func(path string) string { return p.path() + "." + path })
	}
	return recs, err
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
		if err := sameNumber(rec, "id", r.ID); err != nil {
			return err
		}
		seriesOfEpisodes(rec)
		return nil
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

// seriesOfEpisodes sets a missing series ID of a season from the first episode that has one.
func seriesOfEpisodes(rec record.Record) {
	series := rec.IntNamed("series_id")
	list, ok := rec.Schema.Field("episodes")
	if series.Set || !ok {
		return
	}
	n, _ := rec.Len(list)
	for i := range n {
		if id := rec.At(list, i).IntNamed("show_id"); id.Set {
			*series = *id
			return
		}
	}
}

// answeredError returns the API's error that a crawler stored as a row with some fields, or nil.
func answeredError(fields record.RawFields) error {
	code, message := fields.Value("status_code"), fields.Value("status_message")
	if _, err := strconv.ParseInt(code, 10, 64); err == nil && strings.HasPrefix(message, `"`) {
		return &record.FieldError{Field: "status_code", What: fmt.Sprintf("want a response, found error %s: %s", code, record.Unquote(message))}
	}
	return nil
}

// checkFetched removes the fetch date from a record unless it is valid. Tables have null or "" for no date.
func checkFetched(r record.Record) (err error) {
	day := catalog.FetchedOf(r)
	if day != "" {
		err = catalog.CheckFetched(day)
	}
	if day == "" || err != nil {
		f, _ := r.Schema.Field(catalog.FetchedColumn)
		record.Unset(r, f)
	}
	return err
}

// isSub reports whether a kind has a sub-request.
func isSub(t *catalog.Type, name string) bool {
	f, ok := t.Plan.Field(nameNow(t.Kind, name))
	return ok && f.IsSub()
}

// wrap makes a record of the response to one sub-request.
func wrap(r Row) (string, error) {
	if !isSub(r.Type, r.Sub) {
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
	// Seasons and episodes have an ID of their own, which no file name contains.
	id := row.Value("id")
	if r.Series == 0 {
		own := strings.Trim(id, `"`) // some responses of 2022 have the ID as text
		if r.ID == 0 {               // the file has many rows
			if r.ID, err = parseID(own); err != nil {
				return "", InField(err, "id")
			}
		}
		if id != "" && own != strconv.FormatInt(r.ID, 10) {
			return "", &record.FieldError{Field: "id", What: fmt.Sprintf("the file name has %d, the response has %s", r.ID, id)}
		}
		id = strconv.FormatInt(r.ID, 10)
	}
	return record.RawFields{{Name: "id", Raw: id}, {Name: catalog.FetchedColumn, Raw: fetched}, {Name: r.Sub, Raw: response}}.Object(), nil
}
