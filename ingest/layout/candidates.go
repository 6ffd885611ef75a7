package layout

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

//go:embed draft.txt
var draftText string

// A draftLine is a line of draft.txt: a field, the expressions that may read it, and the column names that suggest it.
type draftLine struct {
	fields  []string
	field   string // the one of fields that the record's kind has
	order   int    // index in the record's lines
	entries []string
	limit   float64            // upper bound of numbers, or 0
	crew    []string           // department and job of a crew field
	names   map[string]float64 // weight by plain name
	telling bool               // evidence that rows are about titles or people
	unsure  bool               // an ID that may be another source's
}

// A draftTable is draft.txt.
type draftTable struct {
	lines []*draftLine
	lists map[string]map[string]float64 // weight by plain name
}

var draftFile = sync.OnceValue(func() (out draftTable) {
	out.lists = map[string]map[string]float64{}
	for line := range strings.Lines(draftText) {
		colon := strings.LastIndex(line, ": ")
		if colon < 0 || line[0] == '#' {
			continue
		}
		names, weight := map[string]float64{}, 1.0
		for group := range strings.SplitSeq(line[colon+2:], ";") {
			for i, name := range strings.Split(group, ",") {
				names[plain(name)] = max(names[plain(name)], weight-float64(i)/1000)
			}
			weight -= 0.3
		}
		fields, entries, ok := strings.Cut(line[:colon], " = ")
		if !ok {
			out.lists[fields] = names
			continue
		}
		l := &draftLine{names: names, telling: fields[0] == '*', unsure: fields[0] == '?', entries: strings.Split(entries, " | ")}
		for _, word := range strings.Fields(strings.TrimLeft(fields, "*?")) {
			switch {
			case word[0] == '<':
				l.limit, _ = strconv.ParseFloat(word[1:], 64) // the tests read the file
			case unicode.IsUpper(rune(word[0])):
				l.crew = append(l.crew, strings.ReplaceAll(word, "_", " "))
			default:
				l.fields = append(l.fields, word)
			}
		}
		out.lines = append(out.lines, l)
	}
	return out
})

func draftLines() []*draftLine { return draftFile().lines }

func draftList(name string) map[string]float64 { return draftFile().lists[name] }

// isTitle reports whether the field names a title.
func (l *draftLine) isTitle() bool { return slices.Contains(l.fields, "movie.title") }

// weight returns how well a column's name matches the field, or 0. IDs must match by the whole name.
func (l *draftLine) weight(c *draftColumn) (w float64) {
	whole := l.fields[0] == "id" || strings.HasPrefix(l.entries[0], "imdb(")
	for i, form := range c.forms {
		if i < len(c.forms)-1 || !whole {
			w = max(w, l.names[form]*(1-float64(i)/20))
		}
	}
	return w
}

// A draftRecord is a record that all or some rows of a table make.
type draftRecord struct {
	*draft
	typ        *catalog.Type
	lines      []*draftLine
	where      string // condition; "" for all rows
	kindColumn *draftColumn
	rows       []int
	chosen     []*candidate
	failed     map[*draftColumn]string // by column: why the field that its name suggests does not fit
	mint       []string
	minted     string // why IDs are minted
}

// newRecord returns a record of all rows, or of no rows yet if a column names the kind.
func (d *draft) newRecord(kind string, kindColumn *draftColumn) *draftRecord {
	typ, _ := catalog.TypeNamed(kind)
	r := &draftRecord{draft: d, typ: typ, kindColumn: kindColumn, failed: map[*draftColumn]string{}}
	for _, l := range draftLines() {
		for _, name := range l.fields {
			name = strings.TrimPrefix(name, kind+".")
			if _, err := fieldAt(typ, typ.Schema, name); err == nil {
				copied := *l
				copied.field, copied.order = name, len(r.lines)
				r.lines = append(r.lines, &copied)
				break
			}
		}
	}
	for i := 0; i < d.rows && kindColumn == nil; i++ {
		r.rows = append(r.rows, i)
	}
	return r
}

// A candidate is a field and an expression that a column may have.
type candidate struct {
	line       *draftLine
	column     *draftColumn
	field      string
	source     string
	comment    string
	doubt      string
	filled     int      // cells with a value
	read       int      // cells that the expression reads
	fit        float64  // read / given
	out        []string // text of the field, by row
	unread     string   // a cell that the expression cannot read
	unknown    map[string]int
	score      float64
	near       []*candidate // candidates that score nearly as well
	difference string       // from the candidate that has it in near
	whole      bool         // a complete date, not a year
}

// choose takes the best candidates of all columns. The release date is chosen last, because titles may contain the year.
func (r *draftRecord) choose() {
	var all, days []*candidate
	keyed := false // the name of a column shows that it has TMDB's IDs
	for _, l := range r.lines {
		if l.unsure && (!r.proven || keyed) {
			continue
		}
		isID := l.field == "id" && !l.unsure
		for _, c := range r.columns {
			w := l.weight(c)
			if w == 0 && l.matchesCells(c, r.typ) {
				w = 0.8
			}
			isScore := isID && c.forms[0] == "tmdb" && c.share(percentage.MatchString) == 1
			if w == 0 || c == r.kindColumn || (l.unsure || l.field == "popularity") && c.isRowNumbers() || isScore {
				continue
			}
			t := r.best(l, c)
			if t.fit < leastFit {
				if t.filled > 0 && r.failed[c] == "" {
					r.failed[c] = fmt.Sprintf("%s? Most of its cells do not fit, such as %s", l.field, cut(t.unread))
				}
				continue
			}
			if isID {
				keyed, r.proven = true, true
			}
			t.score = w * t.fit * (0.8 + 0.2*float64(t.filled)/float64(len(r.rows)))
			if l.isTitle() && c.share(wholeNumber.MatchString) > leastFit {
				t.score /= 2
				t.doubt = "most titles in " + c.name + " are numbers"
			}
			if !slices.Contains(firstDays, l.field) {
				all = append(all, t)
				continue
			}
			if days = append(days, t); w < leastFit {
				t.doubt = "the days of " + t.column.name + " may not be release dates"
			}
		}
	}
	for _, c := range r.columns {
		name := strings.Join(wordsOf(c.name), "_")
		f, err := fieldAt(r.typ, r.typ.Schema, name)
		if err != nil || f.Own || strings.HasSuffix(name, "_en") || c == r.kindColumn || c.parent != nil || slices.ContainsFunc(r.lines, func(l *draftLine) bool { return l.field == name }) {
			continue
		}
		if t := r.bestEntry(&draftLine{field: name, order: len(r.lines)}, c, "{c}", "python({c})"); t.fit >= sureFit {
			t.score = t.fit
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b *candidate) int { return cmp.Compare(b.score, a.score) })
	for _, t := range all {
		i := slices.IndexFunc(r.chosen, t.overlaps)
		if i < 0 {
			r.chosen = append(r.chosen, t)
		} else if o := r.chosen[i]; t.score >= nearFit*o.score && (o.field == t.field) != (o.column == t.column) {
			o.near = append(o.near, t)
		}
	}
	if t := r.fieldOf("original_title", "original_name"); t != nil && r.fieldOf("title", "name") == nil {
		t.field = strings.TrimPrefix(t.field, "original_")
	}
	r.takeRelease(days)
}

// overlaps reports whether two candidates share a column or a field, or one contains the other's.
func (t *candidate) overlaps(o *candidate) bool {
	inside := func(a, b string) bool { return a == b || strings.HasPrefix(a, b+".") }
	field := inside(t.field, o.field) || inside(o.field, t.field)
	if t.isCrew() && o.isCrew() {
		field = t.line == o.line
	}
	return field || inside(t.column.name, o.column.name) || inside(o.column.name, t.column.name) ||
		slices.Contains(t.column.members, o.column) || slices.Contains(o.column.members, t.column)
}

// fieldOf returns the candidate taken for one of the fields, or nil.
func (r *draftRecord) fieldOf(fields ...string) *candidate {
	i := slices.IndexFunc(r.chosen, func(t *candidate) bool { return slices.Contains(fields, t.field) })
	if i < 0 {
		return nil
	}
	return r.chosen[i]
}

// matchesCells reports whether the cells of a column are IMDb IDs, or addresses of TMDB's pages, whatever its name. Plain numbers
// are no evidence, although imdb() reads them.
func (l *draftLine) matchesCells(c *draftColumn, typ *catalog.Type) bool {
	if l.fields[0] == "id" && !l.unsure && c.members == nil {
		return c.share(func(text string) bool { return strings.Contains(short(text), "themoviedb.org/"+typ.Name()+"/") }) >= leastFit
	}
	prefix := "tt"
	if typ.Kind == fragment.KindPerson {
		prefix = "nm"
	}
	return strings.HasPrefix(l.entries[0], "imdb(") && c.members == nil && c.share(func(text string) bool {
		if text = short(text); !strings.Contains(text, prefix) {
			return false
		}
		m := imdbAddress.FindStringSubmatch(text)
		return m != nil && m[1] == prefix && len(m[2]) >= imdbDigits
	}) >= leastFit && c.share(wholeNumber.MatchString) == 0
}

// best returns the best expression of a line for a column.
func (r *draftRecord) best(l *draftLine, c *draftColumn) *candidate {
	switch l.entries[0] {
	case "day":
		return r.day(l, c)
	case "score":
		return r.scores(l, c)
	}
	return r.bestEntry(l, c, l.entries...)
}

// bestEntry returns the candidate that reads most cells, the first of equals.
func (r *draftRecord) bestEntry(l *draftLine, c *draftColumn, entries ...string) (best *candidate) {
	text, separator := c.value(false), strconv.Quote(c.separator)
	trimmed, list, objects := c.value(true), text, text
	if c.isText() {
		list, objects = "split("+text+", "+separator+")", "python("+text+")"
		if c.share(func(text string) bool { return strings.TrimSpace(text) != text }) > 0 {
			trimmed = "trim(" + trimmed + ")"
		}
	}
	macros := strings.NewReplacer("{c}", text, "{text}", trimmed, "{list}", list, "{sep}", separator)
	for _, entry := range entries {
		if before, after, ok := strings.Cut(entry, "{named}"); ok {
			entry = before + "map(" + objects + ", " + c.label() + ")" + after
		}
		t := r.try(l, c, macros.Replace(entry))
		if best == nil || t.read > best.read {
			best = t
		}
		if t.fit == 1 {
			break
		}
	}
	return best
}

// label returns the field that names the objects in lists, as a part of an expression.
func (c *draftColumn) label() string {
	best, most := "name", 0.0
	_ = c.share(func(text string) bool {
		list, _ := listOf(text)
		for _, element := range list {
			object, _ := element.(map[string]any)
			for name := range object {
				if w := draftList("label")[plain(name)]; w > most || w == most && w > 0 && name < best {
					best, most = name, w
				}
			}
		}
		return true
	})
	return fieldSource(best, 1)
}

// isText reports whether all cells are JSON strings.
func (c *draftColumn) isText() bool {
	return c.members == nil && !slices.ContainsFunc(c.cells, func(raw string) bool { return raw != "" && raw[0] != '"' })
}

// value returns the expression of a column with HTML entities decoded and words for an empty value removed. Placeholders are
// removed for texts only: other fields skip them anyway.
func (c *draftColumn) value(placeholders bool) string {
	words, out := "", c.source
	for _, word := range c.empty {
		if placeholders || !record.IsNothing(word) {
			words += ", " + string(record.AppendString(nil, word))
		}
	}
	if words != "" {
		out = "without(" + out + words + ")"
	}
	if c.isText() && c.share(entity.MatchString) > 0 {
		out = "unescape(" + out + ")"
	}
	return out
}

// try returns the candidate of an expression, with the cells that it reads. It stops when too many cells are unread.
func (r *draftRecord) try(l *draftLine, c *draftColumn, source string) *candidate {
	t := &candidate{line: l, column: c, field: l.field, source: source}
	for _, i := range r.rows {
		if t.column.cells[i] != "" {
			t.filled++
		}
	}
	s := &shape{typ: r.typ, numbers: r.numbers, root: &output{}}
	var e *entry
	if t.isCrew() {
		source, err := newExpression(t.source, s.site(nil))
		if err != nil {
			return t
		}
		e = &entry{expression: source, path: t.field, field: &record.Field{Name: t.field, Shape: record.ShapeStrings}}
	} else {
		f, err := fieldAt(r.typ, r.typ.Schema, t.field)
		if err != nil || s.add(t.field, f, t.source) != nil {
			return t // the kind lacks the field
		}
		e = s.entries[0]
	}
	ids := &identifier{recordIDs: map[fragment.Kind]int64{}}
	v, row := newEvaluator(ids, &Options{}), &row{columns: map[string]*column{}}
	for _, name := range e.columns {
		row.columns[name] = &column{}
	}
	t.out, t.unknown = make([]string, len(t.column.cells)), map[string]int{}
	missed := 0
	for _, i := range r.rows {
		raw := t.column.cells[i]
		if raw == "" {
			continue
		}
		for name, c := range row.columns {
			cell := ""
			if source := r.byName[name]; source != nil && source.all[i] != "null" {
				cell = source.all[i]
			}
			c.set(cell)
		}
		ids.begin()
		clear(v.literals)
		var out []byte
		value, err := v.value(e.expression, row)
		if err == nil {
			out, err = e.append(nil, value)
		}
		dropped := false // the cell has only names without a place in the API
		for _, unmatched := range v.unmatched {
			dropped = dropped || unmatched.dropped != nil
			if unmatched.whole {
				unmatched.unknown = []string{textIn(raw)}
			}
			for _, name := range unmatched.unknown {
				t.unknown[name]++
			}
		}
		if err == nil && (len(out) > 0 && r.accepts(t, e, string(out)) || len(out) == 0 && dropped) {
			t.read++
			t.out[i] = scalarText(string(out))
			continue
		}
		if err == nil && len(out) == 0 && record.IsNothing(textIn(raw)) {
			t.filled--
			continue
		}
		t.unread = cmp.Or(t.unread, raw)
		if missed++; float64(missed) > (1-leastFit)*float64(t.filled) {
			break
		}
	}
	t.fit = float64(t.read) / float64(max(1, t.filled))
	return t
}

const crewField = "credits.crew"

// isCrew reports whether the column names crew of one job. Such a column makes its own record.
func (t *candidate) isCrew() bool { return t.line.crew != nil }

// accepts reports whether the field accepts the value that an expression made of a cell.
func (r *draftRecord) accepts(t *candidate, e *entry, out string) bool {
	switch e.field.Shape {
	case record.ShapeInt, record.ShapeFloat:
		f, err := strconv.ParseFloat(out, 64)
		return err == nil && f >= 0 && (t.line.limit == 0 || f <= t.line.limit) && (t.field != "id" || f > 0)
	case record.ShapeBool:
		return true
	case record.ShapeString:
		if text := record.Unquote(out); e.field.Day {
			return record.IsDay(text) && text >= firstDay && text < lastDay
		}
		return acceptsText(t.field, record.Unquote(out))
	case record.ShapeInts:
		var numbers []int64
		return json.Unmarshal([]byte(out), &numbers) == nil && (t.line.limit == 0 || !slices.ContainsFunc(numbers, func(n int64) bool { return float64(n) > t.line.limit }))
	case record.ShapeStrings:
		var names []string
		if t.isCrew() {
			return json.Unmarshal([]byte(out), &names) == nil && len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return !isName(name) })
		}
	case record.ShapeObjects:
		// Nested IDs are TMDB's if the table's are. Elements without IDs would collide.
		_, keyed := e.field.Elem.Field("id")
		fromNames := len(e.names) > 0
		if keyed && !fromNames && !r.proven || record.EachElement(out, func(_ int, el string) error {
			fields, err := record.Fields(el)
			if keyed && scalarText(fields.Value("id")) == "" || fromNames && e.names[0] == ofPerson && !isName(scalarText(fields.Value("name"))) {
				err = errors.New("no element of the list")
			}
			return err
		}) != nil {
			return false
		}
	}
	for _, name := range slices.Backward(strings.Split(e.path, ".")) {
		out = "{" + quoted(name) + ":" + out + "}"
	}
	p := record.NewParser()
	return p.Parse(out, r.typ.New()) == nil && len(p.Counts.Unknown) == 0
}

// isName reports whether a text may be a person's name.
func isName(text string) bool {
	const longest = 80 // bytes
	return len(text) <= longest && strings.ContainsFunc(text, unicode.IsLetter) && !strings.ContainsAny(text, "(){}[]:/_=") && !imdbAddress.MatchString(text)
}

// percentage matches numbers up to 99.
var percentage = regexp.MustCompile(`^\d\d?(\.\d+)?$`)

// structure matches lists and objects.
var (
	structure  = regexp.MustCompile(`(?s)^(\[.*\]|\{.*\})$`)
	wikidataID = regexp.MustCompile(`^Q\d+$`)
	entity     = regexp.MustCompile(`&(#\d+|#[xX][0-9a-fA-F]+|[a-zA-Z]+\d*);`)
)

// acceptsText reports whether a field may have a text.
func acceptsText(field, text string) bool {
	const longest = 500 // title, in bytes
	isTitle := slices.Contains([]string{"title", "name", "original_title", "original_name"}, field)
	switch {
	case strings.HasSuffix(field, "_path"):
		return strings.HasPrefix(text, "/") && strings.Count(text, "/") == 1
	case field == externalIDsField+".wikidata_id":
		return wikidataID.MatchString(text)
	case field == "homepage":
		return strings.Contains(text, ".")
	case draftList("values "+field) != nil:
		return draftList("values " + field)[plain(text)] > 0
	case structure.MatchString(text), isTitle && len(text) > longest, strings.Contains(text, "://") && !strings.Contains(text, " "):
		return false
	}
	return isTitle || strings.ContainsFunc(text, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) && strings.HasSuffix(field, "_id") })
}

// firstDay is earlier than every release and birth, and lastDay later.
const firstDay, lastDay = "1800", "2200"

// setSeparator sets the separator that most cells with several names have. Semicolons of HTML entities do not count.
func (c *draftColumn) setSeparator() {
	most := 0.0
	c.separator = ", "
	for _, separator := range []string{"|", ";", ",", "、", "，", "/", "\n", "·", "•"} {
		tight := false // a cell has no blank after it
		share := c.share(func(text string) bool {
			if strings.HasPrefix(text, "[") || !strings.Contains(text, separator) {
				return false
			}
			n := strings.Count(html.UnescapeString(text), separator)
			tight = tight || n > strings.Count(text, separator+" ")
			return n > 0
		})
		if share > most {
			if c.separator, most = separator, share; separator == "," && !tight {
				c.separator = ", "
			}
		}
	}
}

// scores returns the candidate of a column of scores. The cells show the best score.
func (r *draftRecord) scores(l *draftLine, c *draftColumn) *candidate {
	const few = 20 // cells are too few to show the best score
	five, ten := r.bestEntry(l, c, "score({c}, 5)"), r.bestEntry(l, c, "score({c}, 10)")
	hundred := r.bestEntry(l, c, "score({c}, 100)")
	name, unclear := c.forms[0], "the scores of "+c.name+" may be from 0 to 5 or to 10"
	isTen := strings.Contains(name, "imdb") || strings.Contains(name, "tmdb") || strings.HasPrefix(name, "vote")
	switch {
	case five.fit >= leastFit && (five.read > ten.read || five.read == ten.read && !isTen):
		if five.comment = "from 0 to 5 in the table"; five.filled < few && ten.read > 0 {
			five.doubt = unclear
		}
		return five
	case ten.fit >= leastFit:
		if five.read == five.filled && five.filled >= few {
			ten.doubt = unclear
		}
		if t := r.bestEntry(l, c, "{c}"); ten.fit == 1 && t.fit == 1 {
			t.doubt = ten.doubt
			return t
		}
		return ten
	}
	hundred.comment = "from 0 to 100 in the table"
	return hundred
}

// draftFormats are the date formats to try.
var draftFormats = []string{
	"YYYY-MM-DD", "YYYY/MM/DD", "YYYYMMDD", "D.M.YYYY", "M/D/YYYY", "D/M/YYYY", "D-M-YYYY", "M-D-YYYY", "MMM D YYYY", "MMM D, YYYY", "MMMM D, YYYY",
	"D MMM YYYY", "D MMMM YYYY", "D-MMM-YYYY", "D-MMM-YY", "M/D/YY", "D/M/YY", "D.M.YY", "D-M-YY", "M-D-YY", "YYYY年M月D日", "YYYY-MM", "MMMM YYYY", "MMM YYYY", "YYYY", "excel", "unix",
}

// daysFirst swaps day and month in a format.
var daysFirst = strings.NewReplacer("M/D", "D/M", "D/M", "M/D", "D-M-", "M-D-", "M-D-", "D-M-")

// day returns the candidate of a column of dates, with the formats that read most cells. A year alone is not a birthday.
func (r *draftRecord) day(l *draftLine, c *draftColumn) (best *candidate) {
	const maxFormats = 4 // further formats would match by coincidence
	try := func(formats ...string) *candidate {
		source, last := "date("+c.value(false), ""
		for _, f := range formats {
			if source += ", " + strconv.Quote(f); isShort(f) {
				last = fmt.Sprintf(", %d", time.Now().Year())
			}
		}
		return r.try(l, c, source+last+")")
	}
	var formats []string
	for len(formats) < maxFormats && (best == nil || best.fit < 1) {
		added := ""
		for _, f := range draftFormats {
			if r.numbers.decimal == "," && (strings.HasPrefix(f, "M/D") || strings.HasPrefix(f, "D/M")) { // countries with a decimal comma write the day first
				f = daysFirst.Replace(f)
			}
			if isYear := !strings.Contains(f, "D") && strings.Contains(f, "Y"); isYear && !slices.Contains(firstDays, l.field) {
				continue
			}
			if t := try(append(slices.Clone(formats), f)...); best == nil || t.read > best.read {
				best, added = t, f
			}
		}
		if added == "" {
			break
		}
		formats = append(formats, added)
	}
	if best.fit < leastFit {
		return best
	}
	best.whole = formats[0] != "YYYY"
	if isShort(formats[0]) {
		best.comment = fmt.Sprintf("two digits stand for %d to %d", time.Now().Year()-99, time.Now().Year())
	}
	if other := daysFirst.Replace(formats[0]); other != formats[0] {
		if t := try(append([]string{other}, formats[1:]...)...); t.read >= best.read && !slices.Equal(t.out, best.out) {
			best.comment = "or " + other + ": the rows fit both"
			best.doubt = fmt.Sprintf("the days of %s may be %s or %s", c.name, formats[0], other)
		}
	}
	return best
}

// isShort reports whether a format has two-digit years.
func isShort(format string) bool { return strings.Count(format, "Y") == 2 }

// takeRelease takes the release date. A full date is better than a year, and one that agrees with the years in titles is better
// than one that does not.
func (r *draftRecord) takeRelease(days []*candidate) {
	title := r.fieldOf("title", "name")
	inTitle := &candidate{}
	n := slices.IndexFunc(r.lines, func(l *draftLine) bool { return slices.Contains(firstDays, l.field) })
	if n >= 0 && title != nil {
		inTitle = r.try(&draftLine{field: r.lines[n].field, order: title.line.order}, title.column, "year("+title.column.value(true)+")")
		inTitle.unread = "" // titles need no year
	}
	titlesHaveYears := inTitle.fit >= leastFit
	days = slices.DeleteFunc(days, func(t *candidate) bool { return slices.ContainsFunc(r.chosen, t.overlaps) })
	for _, t := range days {
		if t.whole {
			t.score += 0.1
		}
		switch agrees := t.agreement(inTitle) >= leastFit; {
		case titlesHaveYears && agrees:
			t.score += 0.3
		case titlesHaveYears:
			t.score /= 2
			t.doubt = "the years of " + t.column.name + " differ from the years in titles"
		}
	}
	if titlesHaveYears {
		inTitle.score = 0.85 * inTitle.fit
		days = append(days, inTitle)
	}
	if len(days) > 0 {
		best := slices.MaxFunc(days, func(a, b *candidate) int { return cmp.Compare(a.score, b.score) })
		for _, o := range days {
			if o != best && o != inTitle && o.agreement(best) < leastFit {
				o.difference = ", with other years"
				best.near = append(best.near, o)
				if o.score >= nearFit*best.score && best.doubt == "" {
					best.doubt = fmt.Sprintf("the years of %s and %s differ", best.column.name, o.column.name)
				}
			}
		}
		if r.chosen = append(r.chosen, best); inTitle.read > 0 {
			titlesHaveYears = titlesHaveYears || best.agreement(inTitle) >= nearFit
		}
	}
	if title != nil && (titlesHaveYears || title.column.articles() != "") {
		title.source = "title(" + title.column.value(true) + title.column.articles() + ")"
	}
}

// agreement returns the share of rows with a year in two columns of dates in which the years differ by at most 1, or 1 without such
// rows.
func (t *candidate) agreement(o *candidate) float64 {
	year := func(date string) int {
		n, _ := strconv.Atoi(date[:min(len(date), len("2006"))]) // a date, or empty
		return n
	}
	same, both := 0, 0
	for i := range min(len(t.out), len(o.out)) {
		if a, b := year(t.out[i]), year(o.out[i]); a != 0 && b != 0 {
			both++
			if a-b <= 1 && b-a <= 1 {
				same++
			}
		}
	}
	if both == 0 {
		return 1
	}
	return float64(same) / float64(both)
}

// lastArticle matches an article at the end of a title.
var lastArticle = regexp.MustCompile(`, (The|An?|Der|Die|Das|L[ae]s?|L'|El|Los|Il|Lo|I|Gli|[OA]s?)$`)

// articles returns arguments for the articles at the end of titles.
func (c *draftColumn) articles() string {
	found := map[string]bool{}
	for _, raw := range c.cells {
		if raw != "" && strings.Contains(raw, ", ") {
			title, _ := splitTitle(textIn(raw))
			if m := lastArticle.FindStringSubmatch(title); m != nil {
				found[`, "`+m[1]+`"`] = true
			}
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(found)), "")
}
