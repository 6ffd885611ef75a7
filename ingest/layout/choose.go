package layout

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A Subject is a file whose meaning is to be chosen.
type Subject struct {
	// Row has what the file's name shows: base name, format, kind, and the resource if it names one.
	Row
	Path   string   // for messages
	Layout string   // layout that the caller asks for, or Auto
	Given  bool     // the caller states the kind
	Named  bool     // the whole name is the kind, not just one word of it or the folder
	Folder bool     // only the folder is named after the kind
	Rows   []string // sample of rows

	fields  []record.RawFields // fields of Rows, row by row
	columns []string           // names of all fields
}

// A Choice is the meaning of a file, or why it has none.
type Choice struct {
	Meaning *Meaning // may be nil
	Fit     Fit      // fit of the sample to the meaning, or to the draft
	Clear   bool     // the meaning uses nearly all cells of the sample
	Skip    string   // why the file holds no records
	Kinds   []string // kinds that fit equally well, if nothing shows which one is meant
	Why     string   // why the rows are not in the API's own form of the kind in the file's name
	Best    *Meaning // best known meaning, if the draft fits better; may be nil
	Lost    []string // columns that the draft uses, and Best does not
	Draft   *Draft   // fits better than all known meanings; may be nil
}

// Choose chooses the meaning that uses most cells, of all meanings whose required columns are present. The caller's mappings
// come first, and the file's name decides between equals.
func Choose(s Subject, o Options) (out Choice) {
	seen := map[string]bool{}
	for _, row := range s.Rows {
		fields, _ := record.Fields(row) // a good row
		s.fields = append(s.fields, fields)
		for _, f := range fields {
			if !seen[f.Name] {
				seen[f.Name] = true
				s.columns = append(s.columns, f.Name)
			}
		}
	}
	if s.Layout == Auto || s.Layout == tables {
		var all []Fit
		for _, m := range o.Mappings {
			for _, t := range m.tables {
				if t.matches(s.File, s.columns) {
					all = append(all, s.measure(&Meaning{Layout: tables, table: t, own: true, Doubts: t.doubts}, true, o))
				}
			}
		}
		if best := bestOf(all); best != nil {
			return Choice{Meaning: best.Meaning, Fit: *best, Clear: true}
		}
		if reason := cmp.Or(s.skipped(o.Mappings), s.mismatch(o.Mappings)); reason != "" {
			return Choice{Skip: reason}
		}
	}
	if s.Layout == TMDB {
		if s.Type != nil {
			out = Choice{Meaning: OwnForm(s.Type, s.Sub), Clear: true}
		}
		return out
	}
	if word := s.unrelatedWord(); word != "" {
		return Choice{Skip: fmt.Sprintf("its name contains %s, a word for other things: use --kind if its rows are titles or people", word)}
	}
	all := s.knownTables(o)
	if s.Layout != Auto {
		if best := bestOf(all); best != nil {
			return Choice{Meaning: best.Meaning, Fit: *best, Clear: true}
		}
		var labels []string
		for _, m := range o.mappings(s.Layout) {
			for _, t := range m.tables {
				labels = append(labels, t.label())
			}
		}
		slices.Sort(labels)
		want := strings.Join(slices.Compact(labels), ", ")
		return Choice{Skip: fmt.Sprintf("layout %s: no mapping has a table %q with these columns: want one of %s", s.Layout, s.File, want)}
	}
	var forms []Fit
	forms, out.Why = s.ownForms(o, all)
	switch best := bestOf(forms); {
	case s.Table:
		all = append(all, forms...)
	case best != nil && best.hint:
		all = append(forms, hinted(all)...)
	default:
		all = append(forms, all...) // the API's own form is JSON
	}
	best := bestOf(all)
	out.Clear = best != nil && best.isClear() && best.isProven()
	if !out.Clear {
		for _, layout := range mappedLayouts {
			if reason := s.skipped(ready(layout)); reason != "" {
				return Choice{Skip: reason}
			}
		}
	}
	if !out.Clear && !s.isAddressed() {
		if draft, fit := s.draft(o); draft != nil {
			if best != nil {
				out.Lost = lostColumns(best, &fit)
			}
			if best == nil || out.Lost != nil {
				if out.Draft, out.Fit = draft, fit; best != nil {
					out.Best = best.Meaning
				}
				return out
			}
		}
	}
	switch {
	case best != nil:
		out.Fit = *best
		for i := range all {
			if f := &all[i]; !best.hint && f.Made > 0 && f.used() == best.used() && !slices.Contains(out.Kinds, f.Kind()) {
				out.Kinds = append(out.Kinds, f.Kind())
			}
		}
		if len(out.Kinds) < 2 {
			out.Meaning = best.Meaning
			out.Meaning.Doubts = s.doubts(best)
		}
	case s.Type != nil && (s.isAddressed() || s.isKeyed(o)):
		out.Meaning = OwnForm(s.Type, s.Sub) // its rows will be rejected with a reason
	}
	return out
}

// unrelatedWord returns a word of the file's name for things that the API does not have, if the name shows no kind.
func (s *Subject) unrelatedWord() (unrelated string) {
	if s.Layout != Auto || s.Type != nil {
		return ""
	}
	for _, word := range wordsOf(s.File) {
		if draftList("file movie")[word]+draftList("file tv")[word] > 0 {
			return ""
		}
		if draftList("file other")[word] > 0 {
			unrelated = cmp.Or(unrelated, word)
		}
	}
	return unrelated
}

// lostColumns returns the columns that a draft uses, and whose values the best known meaning mostly leaves unused or rejects. It
// returns none if that meaning uses as many values. A draft may leave IDs to a person: then the values of IDs do not count against
// it for a column that the meaning has no field for.
func lostColumns(best, draft *Fit) (columns []string) {
	gain := draft.used() - best.used()
	gainBesidesIDs := gain
	if draft.Columns["id"].Used == 0 {
		gainBesidesIDs += best.Columns["id"].Used
	}
	for name, n := range best.Columns {
		lost := n.Unused + n.LeftOut
		if !best.isProven() && name != "type" { // type repeats the kind
			lost += n.Extra
		}
		lacksField := lost > n.LeftOut
		if d := draft.Columns[name]; 2*lost > n.All() && (gain > 0 && lost > 1 || gainBesidesIDs > 0 && lacksField) && 2*d.Used > d.All() {
			columns = append(columns, name)
		}
	}
	slices.Sort(columns)
	return columns
}

// mismatch finds a mapping of the caller that is meant for the file, and returns which of its required columns the file lacks.
func (s *Subject) mismatch(mappings []*Mapping) string {
	for _, m := range mappings {
		for _, t := range m.tables {
			lacks := slices.DeleteFunc(slices.Clone(t.Requires), func(name string) bool { return slices.Contains(s.columns, name) })
			if t.fitsName(s.File) || m.Name == s.File+".toml" || len(t.Files) == 0 && 2*len(lacks) <= len(t.Requires) {
				if len(lacks) == 0 {
					return fmt.Sprintf("mapping %s is for files named %s", m.Name, inList(t.Files))
				}
				return fmt.Sprintf("mapping %s requires columns that the file lacks: %s", m.Name, strings.Join(lacks, ", "))
			}
		}
	}
	return ""
}

// isKeyed reports whether the rows have the keys of their kind, and either nothing else or bad ones.
func (s *Subject) isKeyed(o Options) bool {
	keys := s.Type.KeyFields()
	lacks := func(key string) bool { return !slices.Contains(s.columns, key) }
	return !slices.ContainsFunc(keys, lacks) && (len(s.columns) == len(keys) || OwnForm(s.Type, s.Sub).Measure(s.Row, s.Rows, o).Made == 0)
}

// isAddressed reports whether the file is named after one resource.
func (s *Subject) isAddressed() bool { return s.ID != 0 || s.Series != 0 || s.Text != "" }

// isHinted reports whether the file is named after a kind.
func (s *Subject) isHinted(t *catalog.Type) bool { return s.Type != nil && s.Type.Kind == t.Kind }

func (s *Subject) measure(m *Meaning, hint bool, o Options) Fit {
	f := m.Measure(s.Row, s.Rows, o)
	f.hint = hint
	return f
}

// bestOf returns the fit that uses most cells, or nil. Of equals, a hint by the file's name decides, else the order.
func bestOf(all []Fit) (best *Fit) {
	for i := range all {
		f := &all[i]
		if f.Made == 0 && !f.own {
			continue
		}
		if best == nil || f.used() > best.used() || f.used() == best.used() && f.hint && !best.hint {
			best = f
		}
	}
	return best
}

// knownTables returns the built-in tables whose required columns are present.
func (s *Subject) knownTables(o Options) (out []Fit) {
	idIsOther := s.columnOfIDs() != "" || s.countsRows()
	for _, layout := range mappedLayouts {
		if s.Layout != Auto && s.Layout != layout || s.Layout == Auto && layout == kaggle && (s.isNested() || s.isAddressed() && s.Type != nil) {
			continue
		}
		for _, m := range ready(layout) {
			if layout == tables && slices.ContainsFunc(o.Mappings, func(custom *Mapping) bool { return custom.Name == m.Name }) {
				continue
			}
			for _, t := range m.tables {
				if !t.hasColumns(s.columns) || len(t.Requires) == 0 && !t.fitsName(s.File) {
					continue
				}
				meaning := &Meaning{Layout: layout, table: t}
				isID := func(e *entry) bool { return e.path == "id" && slices.Contains(e.columns, "id") }
				if s.Given && s.Type != nil && meaning.Kind() != s.Type.Name() || idIsOther && slices.ContainsFunc(meaning.form().shapes[0].entries, isID) {
					continue
				}
				if f := s.measure(meaning, len(t.Files) > 0 && t.fitsName(s.File), o); f.Made > 0 || s.Layout != Auto {
					out = append(out, f)
				}
			}
		}
	}
	return out
}

// hinted returns the fits that the file's name hints at.
func hinted(all []Fit) []Fit {
	return slices.DeleteFunc(slices.Clone(all), func(f Fit) bool { return !f.hint })
}

// isNested reports whether rows have nested objects, which Kaggle's tables have as text.
func (s *Subject) isNested() bool {
	return slices.ContainsFunc(slices.Concat(s.fields...), func(f record.RawField) bool {
		return f.Raw[0] == '{' || f.Raw[0] == '[' && strings.TrimLeft(f.Raw[1:], " \t\r\n")[0] == '{'
	})
}

// ownForms returns the API's own forms that fit the rows, and why the kind in the file's name does not. Other kinds are tried
// only if neither that kind nor a known table fits clearly.
func (s *Subject) ownForms(o Options, known []Fit) (out []Fit, why string) {
	if s.Type != nil {
		var f Fit
		if f, why = s.ownForm(s.Type, s.Sub, o); why == "" {
			out = append(out, f)
		}
		if subs := s.subsOf(s.Type); len(subs) == 1 && s.Sub == "" && !s.isAddressed() {
			if f, problem := s.ownForm(s.Type, subs[0], o); problem == "" {
				out, why = append(out, f), ""
			}
		}
	}
	if s.Given || s.isAddressed() {
		return out, why
	}
	if !s.Table {
		known = hinted(known)
	}
	if best := bestOf(slices.Concat(known, out)); best != nil && best.hint && best.isClear() {
		return out, why
	}
	var subs []*Meaning // sub-requests that the rows may respond to
	for _, t := range catalog.Types() {
		for _, sub := range s.subsOf(t) {
			subs = append(subs, OwnForm(t, sub))
		}
		if s.isHinted(t) || !s.resembles(t) {
			continue
		}
		if f, problem := s.ownForm(t, "", o); problem == "" && f.isClear() && f.isProven() {
			out = append(out, f)
		}
	}
	if len(subs) == 1 && !s.isHinted(subs[0].Type) {
		if f, problem := s.ownForm(subs[0].Type, subs[0].Sub, o); problem == "" && f.isClear() {
			out = append(out, f)
		}
	}
	if why == "" && len(out) == 0 {
		var f Fit
		if f, why = s.ownForm(catalog.TypeOf(fragment.KindMovie), "", o); why == "" {
			unknown := slices.DeleteFunc(slices.Clone(s.columns), func(name string) bool { return f.Columns[name].Used+f.Columns[name].LeftOut > 0 })
			why = "a movie has no " + strings.Join(unknown, ", ")
		}
	}
	return out, why
}

// resembles reports whether most columns are fields of a kind.
func (s *Subject) resembles(t *catalog.Type) bool {
	known := 0
	for _, name := range s.columns {
		if _, ok := t.Schema.Field(name); ok {
			known++
		}
	}
	return 2*known >= len(s.columns)
}

// ownForm measures the API's own form of a kind, and returns why the rows are not in it, or "".
func (s *Subject) ownForm(t *catalog.Type, sub string, o Options) (f Fit, why string) {
	f = s.measure(OwnForm(t, sub), s.isHinted(t), o)
	switch {
	case s.isAddressed():
		return f, ""
	case f.Made == 0 && f.Refused != nil:
		return f, f.Refused.Error()
	case f.Made == 0:
		return f, "no row makes a record"
	case s.Given:
		return f, ""
	case sub == "":
		why = s.recordProblem(&f)
	}
	if why == "" {
		why = s.fieldProblem(&f)
	}
	return f, why
}

// recordProblem returns why rows of a fit to the API's own form are no whole records of the kind, or "".
func (s *Subject) recordProblem(f *Fit) string {
	names := nameFields(f.Type)
	if !f.hint && len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(s.columns, name) }) {
		return fmt.Sprintf("no column is the %s of a %s", names[0], f.Type.Name()) // rows of series may have a title too
	}
	if column := s.columnOfIDs(); column != "" {
		return fmt.Sprintf("column %s has TMDB's ids, and id others", column)
	}
	if f.Type.Kind == fragment.KindMovie && s.countsRows() {
		return "column id counts the rows: use --kind if it has TMDB's ids"
	}
	return ""
}

// fieldProblem returns why the fields of a fit to the API's own form are not the kind's, or "".
func (s *Subject) fieldProblem(f *Fit) string {
	var hasField, isTelling, hasUnknown bool // besides id; besides id, name and media_type; without a place in records
	for name, n := range f.Columns {
		top, _, _ := strings.Cut(name, ".")
		hasField = hasField || top != "id" && n.Used+n.LeftOut > 0
		isTelling = isTelling || n.Used > 0 && top != "id" && top != "name" && top != "media_type"
		hasUnknown = hasUnknown || n.Extra+n.Unused > 0
	}
	t, names := f.Type, nameFields(f.Type)
	needsNoField := f.hasName || f.removes || len(names) == 0 || f.Sub != ""
	switch {
	case hasField || needsNoField && f.hint:
	case len(names) > 0:
		return fmt.Sprintf("no row has the %s of a %s", names[0], t.Name())
	default:
		return fmt.Sprintf("no row has a field of a %s except id", t.Name())
	}
	for i := range t.Schema.Fields {
		field := &t.Schema.Fields[i]
		if n := f.Columns[field.Name]; field.Shape < record.ShapeObject || n.LeftOut <= n.Used {
			continue
		}
		for _, l := range f.leftOut {
			if rest, ok := strings.CutPrefix(l.Path, field.Name); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				return l.First[0].Error()
			}
		}
		return field.Name + ": is not what the API has"
	}
	// Users and genres are stored beside movies, and have an ID and a name too.
	switch {
	case f.coerced["genres[]"] > 0 && !f.hasShapes():
		return "genres: want an array of objects, found names"
	case isTelling, f.removes, f.Sub != "", f.hint && s.Named && !s.Folder:
	case f.hint && !hasUnknown && (!s.Folder || t.Kind == fragment.KindKeyword):
	case f.hint && s.Folder:
		return fmt.Sprintf("its folder is named after %s records, but its rows have no field of that kind except id and name: use --kind if they are", t.Name())
	case f.hint:
		return fmt.Sprintf("its name contains a word for %s records, but its rows have no field of that kind except id: use --kind if they are", t.Name())
	case hasUnknown:
		return "its rows have no field of the kind except id and name"
	}
	return ""
}

// countsRows reports whether the column id of a table counts the rows. TMDB has no movie 1.
func (s *Subject) countsRows() bool {
	const many = 10 // rows needed to show a count
	if !s.Table || s.Given || len(s.Rows) < many {
		return false
	}
	var ids []string
	for _, row := range s.fields {
		ids = append(ids, row.Value("id"))
	}
	return areRowNumbers(ids)
}

// Patterns of values that a person should check.
var (
	dayOrMonth     = regexp.MustCompile(`^(0?[1-9]|1[0-2])/(0?[1-9]|1[0-2])/\d{4}$`)
	placeholderDay = regexp.MustCompile(`^(1900-01-01|1970-01-01|9999-.*)$`)
	tag            = regexp.MustCompile(`(?i)</?[a-z]+ ?/?>`)
	markup         = regexp.MustCompile(tag.String() + `|` + entity.String())
	twiceEncoded   = regexp.MustCompile(`[ÃÐÑ][\x{80}-\x{BF}‚ƒ„…†‡ˆ‰Š‹Œ•™š›œžŸ]|â€`) // UTF-8 read as windows-1252
	decoratedTitle = regexp.MustCompile(`^\d+[.)]\s|(^|[\s([])(18[7-9]|19\d|20\d)\d(\s|[)\]]|$)|^".*"$`)
)

// A check is a doubt about a field whose values look like another field's, or like another scale.
type check struct {
	field, doubt string
	least        int // values needed
	applies      func(c *draftColumn) bool
}

// checks are the doubts about values, for the API's own columns and for fields of drafts.
var checks = func() []check {
	const (
		many = 10   // values needed to show a scale
		some = 0.01 // titles with an article at the end
	)
	is := func(least float64, matches func(string) bool) func(c *draftColumn) bool {
		return func(c *draftColumn) bool { return c.share(matches) > least }
	}
	number := func(fits func(n float64) bool) func(string) bool {
		return func(text string) bool {
			n, err := strconv.ParseFloat(text, 64)
			return err == nil && fits(n)
		}
	}
	below0 := number(func(n float64) bool { return n < 0 })
	above := func(least float64) func(string) bool { return number(func(n float64) bool { return n > least }) }
	isNegative := func(c *draftColumn) bool { // -1 may stand for nothing
		return slices.ContainsFunc(slices.Concat(c.all, c.cells), func(raw string) bool { return below0(scalarText(raw)) })
	}
	hasArticle := func(text string) bool { title, _ := splitTitle(text); return lastArticle.MatchString(title) }
	out := []check{
		{"id", "id has exponents, and may lack digits", 1, is(0, regexp.MustCompile(`\d[eE]`).MatchString)},
		{"popularity", "popularity counts the rows", many, (*draftColumn).isRowNumbers},
		{"vote_average", "no vote_average is above 5 of 10", many, func(c *draftColumn) bool { return c.share(above(5)) == 0 && c.share(above(0)) > 0 }},
		{"runtime", "runtimes are above 600 minutes", many, is(oftenFit, above(600))},
		{"release_date", "release_date is read with the month first", 1, func(c *draftColumn) bool { return c.share(dayOrMonth.MatchString) == 1 }},
		{"original_language", "original_language has codes that the API lacks", 1, is(leastFit, func(text string) bool { _, ok := reference.LanguageByCode(text); return !ok })},
	}
	for _, field := range []string{"title", "name"} {
		out = append(out, check{field, field + " has years, numbers or quotes that may not be part of it", many, is(leastFit, decoratedTitle.MatchString)},
			check{field, field + " has articles at its end", many, is(some, hasArticle)})
	}
	out = append(out, check{"name", "name may begin with the last name", many, is(leastFit, regexp.MustCompile(`\pL, \pL`).MatchString)})
	for _, field := range firstDays {
		out = append(out, check{field, field + " has placeholders such as 9999-12-31", many, is(oftenFit, placeholderDay.MatchString)})
	}
	for _, field := range []string{"runtime", "budget", "revenue", "vote_count"} {
		out = append(out, check{field, field + " is below 0", 1, isNegative})
	}
	for _, field := range []string{"poster_path", "backdrop_path", "profile_path"} {
		out = append(out, check{field, field + " is not a path of TMDB's images", 1, is(leastFit, func(text string) bool { return !imageURL.MatchString(text) })})
	}
	for _, field := range []string{"status", "type"} {
		out = append(out, check{field, field + " has values that the API lacks", 1, is(leastFit, func(text string) bool { return draftList("values " + field)[plain(text)] == 0 })})
	}
	return out
}()

// doubts returns what a person should check in the values of a field.
func (c *draftColumn) doubts(field string) (out []string) {
	for _, check := range checks {
		if check.field == field && c.filled >= check.least && check.applies(c) {
			out = append(out, check.doubt)
		}
	}
	return out
}

// textDoubts returns what a person should check in the texts of a column. html matches markup that stays.
func (c *draftColumn) textDoubts(html *regexp.Regexp) (out []string) {
	if !c.isText() {
		return nil
	}
	if c.share(html.MatchString) > oftenFit {
		out = append(out, c.name+" has HTML")
	}
	if c.share(twiceEncoded.MatchString) > 0 {
		out = append(out, c.name+" has texts of another encoding, such as Ã© for é")
	}
	return out
}

// doubts returns what a person should check in columns that have the API's names: the values may not be what the API has there.
// A file whose name is the address of its record is a response of the API. A crawl has many such files, and each is chosen for.
func (s *Subject) doubts(f *Fit) (out []string) {
	if s.isAddressed() {
		return nil
	}
	d := newDraft(s.Rows)
	out = kindDoubts(d.columns)
	for _, name := range []string{"id", "series_id", "show_id"} {
		if !s.Given && f.Columns[name].Used > 0 && (f.table == nil || f.table.Files == nil) && !s.isNested() && !d.proven {
			out = append(out, name+" is treated as TMDB's")
		}
	}
	for _, c := range d.columns {
		if f.Columns[c.name].Used > 0 {
			out = append(out, append(c.doubts(c.name), c.textDoubts(markup)...)...)
		}
	}
	return out
}

// columnOfIDs returns the column with TMDB's IDs, if there is one beside a column id with other values, or "".
func (s *Subject) columnOfIDs() (column string) {
	for _, row := range s.fields {
		id := scalarText(row.Value("id"))
		for _, f := range row {
			fields := record.RawFields{f}
			if strings.HasPrefix(f.Raw, "{") {
				fields, _ = record.Fields(f.Raw)
				for i := range fields {
					fields[i].Name = f.Name + "." + fields[i].Name
				}
			}
			for _, f := range fields {
				name := plain(f.Name)
				isTMDB := name == "tmdbid" || name == "tmdb" || name == "idstmdb" || name == "provideridstmdb"
				if text := scalarText(f.Raw); isTMDB && text != "" && text != id {
					return f.Name
				}
			}
		}
	}
	return ""
}

// subsOf returns the sub-requests of a kind whose responses have the columns: the resource's ID and fields of the response.
func (s *Subject) subsOf(t *catalog.Type) (out []string) {
	if len(s.columns) < 2 || !slices.Contains(s.columns, "id") || slices.ContainsFunc(t.KeyFields(), func(name string) bool { return name != "id" }) {
		return nil
	}
	for i := range t.Schema.Fields {
		f := &t.Schema.Fields[i]
		if !f.IsSub() || f.Elem == nil {
			continue
		}
		if !slices.ContainsFunc(s.columns, func(name string) bool {
			_, ok := f.Elem.Field(name)
			return !ok && name != "id" && name != catalog.FetchedColumn
		}) {
			out = append(out, f.Name)
		}
	}
	return out
}

// skipped returns the reason why mappings skip the file, or "".
func (s *Subject) skipped(mappings []*Mapping) string {
	for _, m := range mappings {
		for i := range m.skips {
			k := &m.skips[i]
			if !k.matches(s.File, s.columns) {
				continue
			}
			inside, all := 0, 0 // values in the required columns
			for _, f := range slices.Concat(s.fields...) {
				if isEmpty(f.Raw) {
					continue
				}
				if all++; slices.Contains(k.Requires, f.Name) {
					inside++
				}
			}
			if float64(inside)/float64(max(all, 1)) >= k.MinFit {
				return k.Reason
			}
		}
	}
	return ""
}

// draft proposes a mapping for the file and measures it. It returns nil if no records are made.
func (s *Subject) draft(o Options) (*Draft, Fit) {
	if len(s.Rows) == 0 {
		return nil, Fit{}
	}
	kind := ""
	if s.Type != nil && (s.Given || s.Type.Kind != fragment.KindList) { // a file named list is a list of titles
		kind = s.Type.Name()
	}
	d := NewDraft(s.Path, s.File, kind, s.Rows)
	m, err := DraftMeaning(s.File+".toml", d.Text)
	if err != nil {
		return nil, Fit{}
	}
	fit := m.Measure(s.Row, s.Rows, o)
	if fit.Made == 0 || !Uses(fit.Columns, m.NameColumns()) {
		return nil, Fit{}
	}
	return &d, fit
}

// DraftMeaning returns the meaning of a draft. name is the mapping file's name.
func DraftMeaning(name, text string) (*Meaning, error) {
	m, err := parseMapping(name, []byte(text), true)
	if err == nil && len(m.tables) == 0 {
		err = errors.New("the draft makes no records")
	}
	if err != nil {
		return nil, err
	}
	return &Meaning{Layout: tables, table: m.tables[0], own: true}, nil
}
