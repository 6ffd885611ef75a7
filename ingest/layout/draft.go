package layout

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	fold "github.com/reelsplice/reelsplice/schemas/text"
)

// A Draft is a mapping proposed for a table that no mapping describes.
type Draft struct {
	Text    string        // the mapping file, TOML, with comments
	Certain bool          // it may be used without a check by the user
	Columns []DraftColumn // in the order of the table; fields of objects have paths with dots
}

// A DraftColumn describes what a draft does with a column.
type DraftColumn struct {
	Name  string
	Field string // path of the field, with the kind if the table makes several kinds; "" if no field takes the column
	Note  string // a close second candidate, a scale, a century or cells that do not fit; may be empty
}

// Thresholds of a draft, as shares of cells, rows or scores.
const (
	leastFit = 0.5  // cells that a candidate must read
	sureFit  = 0.95 // cells of each column that a certain draft reads
	oftenFit = 0.1  // cells with a word for an empty value; rows with the same title
	nearFit  = 0.9  // score of a second candidate worth a comment, relative to the best
)

// NewDraft proposes a mapping. file is the table's name for comments, base the same without folder and extensions. kind is the
// kind of the rows, or "" if unknown. rows are JSON objects, sampled from the whole table.
func NewDraft(file, base, kind string, rows []string) Draft {
	d := newDraft(rows)
	d.setNumbers()
	d.words = wordsOf(base)
	for _, c := range d.columns {
		isSubject := slices.ContainsFunc(draftLines(), func(l *draftLine) bool { return (l.unsure || l.isTitle()) && l.weight(c) > 0 })
		if c.parent != nil || isSubject || strings.HasPrefix(c.forms[0], "letterboxd") {
			d.words = append(d.words, wordsOf(c.name)...)
		}
	}
	slices.Sort(d.words)
	d.words = slices.Compact(d.words)
	// A column that names kinds decides, else the names of columns and of the file.
	var records []*draftRecord
	_, known := catalog.TypeNamed(kind)
	if !known || kind == "movie" || kind == "tv" {
		records = d.kindsByColumn()
	}
	if records == nil {
		subject := kind
		if !known {
			subject = d.kindByNames()
		}
		records = []*draftRecord{d.newRecord(subject, nil)}
	}
	for _, r := range records {
		r.choose()
		if err := r.identify(kind != ""); err != nil {
			d.doubts = append([]string{err.Error()}, d.doubts...)
			continue
		}
		d.records = append(d.records, r)
	}
	for _, r := range d.records {
		r.write()
	}
	return d.finish(file, base)
}

// newDraft returns a draft that has read the columns of rows.
func newDraft(rows []string) *draft {
	d := &draft{rows: len(rows), byName: map[string]*draftColumn{}}
	for i, row := range rows {
		_ = record.EachField(row, func(name, raw string) error { // a good row
			d.add(i, nil, name, raw)
			return nil
		})
	}
	d.columns = slices.DeleteFunc(d.columns, func(c *draftColumn) bool {
		for p := c.parent; p != nil; p = p.parent {
			if p.share(func(text string) bool { return strings.HasPrefix(text, "{") }) < leastFit {
				return true
			}
		}
		return false
	})
	for _, c := range d.columns {
		c.setForms(c.name)
		c.setEmptyWords()
	}
	d.columns = append(d.columns, numbered(d.columns)...)
	signs := 0 // columns with the API's names, or addresses of its images
	for _, c := range d.columns {
		c.setSeparator()
		switch {
		case c.name == "genre_ids", c.share(func(text string) bool { return strings.Contains(short(text), "image.tmdb.org/t/p/") }) >= leastFit:
			signs += 2
		case draftList("own")[c.forms[0]] > 0 && strings.Contains(c.name, "_"):
			signs++
		}
	}
	d.proven = signs >= 2
	return d
}

// SetRows sets the path to the rows in JSON documents.
func (d *Draft) SetRows(path string) {
	d.Text = strings.Replace(d.Text, "[[table]]\n", fmt.Sprintf("[[table]]\nrows = %q\n", path), 1)
}

// A draft is a mapping under construction.
type draft struct {
	rows     int
	columns  []*draftColumn
	byName   map[string]*draftColumn
	numbers  numberReader
	proven   bool // columns called id have TMDB's IDs
	records  []*draftRecord
	requires []string
	words    []string // words of the file's and some columns' names, which show the subject of rows
	doubts   []string // reasons for a person to check the draft
	text     strings.Builder
}

// A draftColumn is a column of a table, a field of a column's objects, or a list of numbered columns such as actor1 and actor2.
type draftColumn struct {
	name      string // dotted path
	source    string // expression
	parent    *draftColumn
	depth     int
	members   []*draftColumn // columns of a list
	forms     []string       // plain names: the full path, its last part, the path without filler words
	all       []string       // JSON text by row; "" if the row lacks the column
	cells     []string       // the same, or "" for words for an empty value
	filled    int            // non-empty cells
	present   int            // rows that have the column
	bytes     int            // size of all cells
	empty     []string       // words for an empty value
	separator string         // separator of names in most cells that have several
	fields    []string       // fields that take the column
	notes     []string
}

func (d *draft) doubt(format string, a ...any) {
	if doubt := fmt.Sprintf(format, a...); !slices.Contains(d.doubts, doubt) {
		d.doubts = append(d.doubts, doubt)
	}
}

// add adds a cell, and the fields of an object. It drops cells after the first MiB of a column.
func (d *draft) add(row int, parent *draftColumn, name, raw string) {
	const maxColumns, maxDepth, maxBytes = 500, 3, 1 << 20
	path, depth := name, 1
	if parent != nil {
		path, depth = parent.name+"."+name, parent.depth+1
	}
	c := d.byName[path]
	if c == nil {
		if len(d.columns) == maxColumns {
			return
		}
		c = &draftColumn{name: path, source: columnSource(name), parent: parent, depth: depth, all: make([]string, d.rows)}
		if parent != nil {
			c.source = parent.source + fieldSource(name, depth)
		}
		c.cells = c.all
		d.byName[path], d.columns = c, append(d.columns, c)
	}
	if c.present++; c.bytes > maxBytes {
		return
	}
	c.bytes += len(raw)
	c.all[row] = raw
	if raw[0] == '{' && depth < maxDepth && !wholeNumber.MatchString(name) { // a number is a key of a dictionary
		_ = record.EachField(raw, func(name, raw string) error { // valid JSON
			d.add(row, c, name, raw)
			return nil
		})
	}
}

// setForms sets the plain forms of the name.
func (c *draftColumn) setForms(name string) {
	words := wordsOf(name)
	c.forms = []string{plain(name)}
	if c.parent != nil {
		c.forms = append(c.forms, plain(strings.TrimPrefix(name, c.parent.name)))
	}
	c.forms = append(c.forms, plain(strings.Join(slices.DeleteFunc(words, func(w string) bool { return draftList("words")[w] > 0 }), " ")))
}

// setEmptyWords empties cells without a value. A word for an empty value counts only if many cells have one: it may be the title
// of a film.
func (c *draftColumn) setEmptyWords() {
	const longest = 40
	words := map[string]int{}
	c.cells = slices.Clone(c.all)
	for i, raw := range c.cells {
		if isBlank(raw) || strings.TrimSpace(textIn(raw)) == "" {
			c.cells[i] = ""
			continue
		}
		c.filled++
		if raw[0] == '"' && len(raw) < longest {
			words[textIn(raw)]++
		}
	}
	empty, count := []string{}, 0
	for word, n := range words {
		isPlaceholder := record.IsNothing(word) || word == "-1"
		if (isPlaceholder || draftList("nothing")[plain(word)] > 0) && (n > 1 || isPlaceholder && plain(word) != "") {
			empty = append(empty, word)
			count += n
		}
	}
	if float64(count) < oftenFit*float64(c.filled) || count == c.filled {
		return
	}
	slices.Sort(empty)
	c.empty = empty
	c.filled -= count
	for i, raw := range c.cells {
		if raw != "" && raw[0] == '"' && slices.Contains(empty, textIn(raw)) {
			c.cells[i] = ""
		}
	}
}

// numberedName matches a column name that contains a number.
var numberedName = regexp.MustCompile(`^([^\d.]+)\d{1,2}(\D*)$`)

// numbered groups columns whose names differ only in a number.
func numbered(columns []*draftColumn) (out []*draftColumn) {
	lists := map[string][]*draftColumn{}
	for _, c := range columns {
		if m := numberedName.FindStringSubmatch(c.name); m != nil && c.parent == nil {
			lists[m[1]+m[2]] = append(lists[m[1]+m[2]], c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		members := lists[name]
		if len(members) == 1 {
			continue
		}
		l := &draftColumn{name: name, members: members, cells: make([]string, len(members[0].cells))}
		var sources []string
		for _, c := range members {
			sources = append(sources, c.source)
		}
		l.source = "[" + strings.Join(sources, ", ") + "]"
		for i := range l.cells {
			var cells []string
			for _, c := range members {
				if c.cells[i] != "" {
					cells = append(cells, c.cells[i])
				}
			}
			if cells != nil {
				l.cells[i] = record.List(cells)
				l.filled++
			}
		}
		l.setForms(name)
		out = append(out, l)
	}
	return out
}

// share returns the share of non-empty cells whose text satisfies matches.
func (c *draftColumn) share(matches func(text string) bool) float64 {
	n, given := 0, 0
	for _, raw := range c.cells {
		if !isEmpty(raw) {
			if given++; matches(textIn(raw)) {
				n++
			}
		}
	}
	return float64(n) / float64(max(1, given))
}

// textIn returns the text of a cell. Lists and objects give their JSON.
func textIn(raw string) string {
	if raw[0] == '"' {
		return record.Unquote(raw)
	}
	return raw
}

// isRowNumbers reports whether a column numbers the rows.
func (c *draftColumn) isRowNumbers() bool {
	cells := slices.DeleteFunc(slices.Clone(c.cells), func(raw string) bool { return raw == "" })
	return len(cells) > 0 && areRowNumbers(cells)
}

// areRowNumbers reports whether cells are numbers from 0 or 1, in any order. In a sample, the step may be larger.
func areRowNumbers(cells []string) bool {
	const many = 10 // values needed to show a step
	var v []int
	for _, raw := range cells {
		n, err := strconv.Atoi(scalarText(raw))
		if err != nil {
			return false
		}
		v = append(v, n)
	}
	slices.Sort(v)
	step, irregular := max(1, (v[len(v)-1]-v[0])/max(1, len(v)-1)), 0
	for i := range v[1:] {
		if off := v[i+1] - v[i] - step; off != 0 && (step == 1 || off != 1 && off != -1) {
			irregular++
		}
	}
	return v[0] >= 0 && v[0] <= step && (step == 1 || len(v) >= many) && float64(irregular) <= oftenFit*float64(len(v))
}

// wholeNumber matches an ID.
var wholeNumber = regexp.MustCompile(`^[1-9]\d*(\.0)?$`)

// short returns a text that may be an ID or an address, or "" for a longer one.
func short(text string) string {
	const longest = 300
	if len(text) > longest {
		return ""
	}
	return text
}

// conventions are number formats of texts, the most usual first.
var conventions = []numberReader{
	{},
	{thousands: ","},
	{decimal: ",", thousands: "."},
	{decimal: ",", thousands: " "},
	{decimal: ",", thousands: "\u00a0"},
	{decimal: ",", thousands: "\u202f"},
	{thousands: " "},
	{thousands: "'"},
}

// scales are known words after numbers.
var scales = map[string]float64{
	"k": 1e3, "K": 1e3, "Tsd.": 1e3, "M": 1e6, "Mio": 1e6, "Mio.": 1e6, "mln": 1e6, "million": 1e6, "Millionen": 1e6, "B": 1e9, "Mrd": 1e9, "Mrd.": 1e9, "billion": 1e9,
}

// scaled matches a number followed by a word, signed a number with separators.
var (
	scaled = regexp.MustCompile(`^\D?[\d., ]*\d\s*([\pL.]+)$`)
	signed = regexp.MustCompile(`\d[.,' \x{a0}\x{202f}]\d`)
)

// setNumbers sets the number format of the table to the convention that reads most cells of numeric columns.
func (d *draft) setNumbers() {
	scale := map[string]float64{}
	r := d.newRecord("movie", nil)
	columns := map[*draftColumn]*draftLine{}
	for _, l := range r.lines {
		for _, c := range d.columns {
			isNumber := l.entries[0] == "score" || len(l.entries) > 1 && strings.HasPrefix(l.entries[1], "amount(")
			if !isNumber || l.weight(c) == 0 {
				continue
			}
			_ = c.share(func(text string) bool {
				if m := scaled.FindStringSubmatch(text); m != nil && scales[m[1]] != 0 {
					scale[m[1]] = scales[m[1]]
				}
				if signed.MatchString(text) {
					columns[c] = l
				}
				return true
			})
		}
	}
	best, most, given := numberReader{scale: scale}, 0, 0
	for c := range columns {
		given += c.filled
	}
	for i := 0; i < len(conventions) && most < given; i++ {
		d.numbers = conventions[i]
		d.numbers.scale = scale
		read := 0
		for c, l := range columns {
			if t := r.best(l, c); t.fit >= leastFit {
				read += t.read
			}
		}
		if read > most {
			best, most = d.numbers, read
		}
	}
	d.numbers = best
}

// kindsByColumn returns one record for each kind that a column names. Most of its cells must name one.
func (d *draft) kindsByColumn() (out []*draftRecord) {
	var column *draftColumn
	best := 0.0
	for _, c := range d.columns {
		w := max(draftList("types")[c.forms[0]], draftList("types")[c.forms[len(c.forms)-1]]*nearFit)
		if w == 0 || c.share(func(text string) bool { return kindNamed(text) == "movie" || kindNamed(text) == "tv" }) == 0 {
			continue
		}
		if share := c.share(func(text string) bool { return kindNamed(text) != "" }); share >= leastFit && share*w > best {
			column, best = c, share*w
		}
	}
	if column == nil {
		return nil
	}
	none := map[string]int{}
	for i, raw := range column.cells {
		if raw == "" {
			continue
		}
		kind := kindNamed(textIn(raw))
		if kind == "" || kind == "none" {
			none[textIn(raw)]++
			continue
		}
		n := slices.IndexFunc(out, func(r *draftRecord) bool { return r.typ.Name() == kind })
		if n < 0 {
			n, out = len(out), append(out, d.newRecord(kind, column))
		}
		out[n].rows = append(out[n].rows, i)
	}
	slices.SortFunc(out, func(a, b *draftRecord) int { return strings.Compare(a.typ.Name(), b.typ.Name()) })
	for _, r := range out {
		var texts []string
		for _, i := range r.rows {
			if text := textIn(column.cells[i]); !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
		r.where = column.source + " in " + textList(texts)
		if !column.isText() { // the language compares texts only with texts
			r.where = "string(" + column.source + ") in " + textList(texts)
		}
	}
	if len(none) > 0 {
		column.note("no record: " + frequent(none))
	}
	if column.share(func(text string) bool { k := kindNamed(text); return k == "" || k == "none" }) > 1-sureFit {
		d.doubt("rows of %s make no record: %s", column.name, frequent(none))
	}
	return out
}

// kindNamed returns the kind that a text names, "none" for a kind without records, or "".
func kindNamed(text string) string {
	for _, kind := range []string{"movie", "tv", "none"} {
		if len(text) < 40 && draftList("type " + kind)[plain(text)] > 0 {
			return kind
		}
	}
	return ""
}

// kindByNames returns the kind that most column names and words suggest.
func (d *draft) kindByNames() (best string) {
	most, second := -1.0, -1.0
	for _, k := range mintable {
		kind, score := k.String(), 0.0
		for _, c := range d.columns {
			if slices.ContainsFunc(draftLines(), func(l *draftLine) bool {
				isMovie := kind == "movie" && l.crew != nil && l.crew[0] == "Directing" // a series has several directors
				return l.weight(c) > 0 && (isMovie || slices.ContainsFunc(l.fields, func(f string) bool { return strings.HasPrefix(f, kind+".") }))
			}) {
				score += float64(c.filled) / float64(d.rows)
			}
		}
		for _, word := range d.words {
			if draftList("file " + kind)[word] > 0 {
				score += 0.6
			}
		}
		if score > most {
			best, most, second = kind, score, most
		} else {
			second = max(second, score)
		}
	}
	if most-second < leastFit {
		d.doubt("it is unclear whether the rows are movies or series")
	}
	return best
}

// identify finds the key of the rows. The error is the reason why they make no record.
func (r *draftRecord) identify(known bool) error {
	id, imdb, title := r.fieldOf("id"), r.fieldOf("imdb_id", externalIDsField+".imdb_id"), r.fieldOf("title", "name")
	keys := []*candidate{id, imdb, title}
	if !slices.Contains(mintable, r.typ.Kind) {
		keys = nil
		for _, name := range r.typ.KeyFields() {
			if keys = append(keys, r.fieldOf(name)); keys[len(keys)-1] == nil {
				return fmt.Errorf("no column has %s, which identifies %s records", name, r.typ.Name())
			}
		}
	} else if err := r.checkSubject(id, imdb, title, known); err != nil {
		return err
	} else {
		r.setMint(id, imdb, title)
	}
	if r.kindColumn != nil {
		r.require(r.kindColumn)
	}
	for _, t := range keys {
		if t != nil && (t != imdb || id == nil) {
			r.require(t.column)
		}
	}
	return nil
}

// checkSubject rejects rows about something else. Names alone are not titles.
func (r *draftRecord) checkSubject(id, imdb, title *candidate, known bool) error {
	switch {
	case id == nil && imdb == nil && title == nil:
		return errors.New("no column is an id or a title")
	case title == nil && len(r.chosen) == 1:
		return fmt.Errorf("ids alone make no %s records", r.typ.Name())
	}
	has := func(list string) bool {
		return slices.ContainsFunc(r.columns, func(c *draftColumn) bool { return c.parent == nil && draftList(list)[c.forms[0]] > 0 })
	}
	if has("season") && has("episode") {
		return errors.New("the rows are seasons or episodes: a table of that kind needs series_id, season_number and episode_number")
	}
	if r.kindColumn == nil {
		for _, doubt := range kindDoubts(r.columns) {
			r.doubt("%s", doubt)
		}
	}
	telling := slices.ContainsFunc(r.chosen, func(t *candidate) bool { return t.line.telling && (t != id || len(r.chosen) > 2) })
	for _, c := range r.columns {
		if draftList("other")[c.forms[0]] > 0 && !telling {
			return fmt.Errorf("the column %s belongs to rows about something else", c.name)
		}
	}
	if title == nil {
		r.doubt("no column is the title: another dump must have it")
		return nil
	}
	genres := knownNames()[keyOf(ofGenre, r.typ.Kind)]
	if title.column.share(func(text string) bool { _, ok := genres.find(text); return ok }) > leastFit {
		return errors.New("the names are genres")
	}
	for _, word := range r.words {
		known = known || draftList("file movie")[word]+draftList("file tv")[word]+draftList("file person")[word] > 0
	}
	known = known || r.kindColumn != nil
	isPerson, anyName := r.typ.Kind == fragment.KindPerson, title.line.names[title.column.forms[0]] < nearFit
	switch {
	case !telling && len(r.chosen) == 1 && (anyName || isPerson), !telling && !known && anyName && id == nil:
		return fmt.Errorf("names alone make no %s records", r.typ.Name())
	case !telling && !known && (anyName || id == nil):
		r.doubt("neither a column nor the file name shows that the rows are %s records", r.typ.Name())
	}
	if untitled := len(r.rows) - title.filled; float64(untitled) > (1-sureFit)*float64(len(r.rows)) {
		r.doubt("%d of %d rows have no title", untitled, len(r.rows))
	}
	return nil
}

// kindDoubts returns a doubt for each column, such as is_movie, whose values may show that rows are of several kinds.
func kindDoubts(columns []*draftColumn) (out []string) {
	for _, c := range columns {
		if draftList("kind flag")[c.forms[0]] > 0 && slices.ContainsFunc(c.cells, func(cell string) bool { return cell != c.cells[0] }) {
			out = append(out, c.name+" may show that some rows are of another kind")
		}
	}
	return out
}

// setMint sets what IDs are minted from in rows without TMDB's.
func (r *draftRecord) setMint(id, imdb, title *candidate) {
	all := len(r.rows)
	r.minted = "no row has TMDB's id"
	if id != nil {
		r.minted = "for rows without TMDB's id"
	}
	for _, t := range []*candidate{id, imdb} {
		if t == nil {
			continue
		}
		if n := r.repeats(t); float64(n) > oftenFit*float64(all) {
			r.doubt("%d of %d rows have the %s of another row: several may be about one title", n, all, t.field)
			break
		}
	}
	switch {
	case id != nil && id.read == all, imdb == nil && title == nil:
		return
	case imdb != nil && (title == nil || float64(imdb.read) >= sureFit*float64(all)):
		if r.mint = []string{"imdb_id"}; imdb.read < all {
			r.minted += fmt.Sprintf("; %d of %d rows have no IMDb id, and make no record", all-imdb.read, all)
		}
		return
	case imdb != nil:
		r.mint = []string{"imdb_id?"}
	}
	r.mint = append(r.mint, title.field)
	day := r.fieldOf(firstDays...)
	if day != nil {
		part := yearPart
		if r.byName[yearPart] != nil && day.column.name != yearPart { // the column year has other years
			part = day.field
		}
		if day.read < all {
			part += "?"
			r.minted += fmt.Sprintf("; %d of %d rows have no year, and an id of the title alone", all-day.read, all)
		}
		r.mint = append(r.mint, part)
	}
	repeated := r.repeats(imdb, title, day)
	if repeated > 0 {
		r.minted += fmt.Sprintf("; %d rows have the id of another row", repeated)
	}
	if float64(repeated) > oftenFit*float64(all) {
		r.doubt("%d of %d rows have the title and the year of another row: they may be about something else", repeated, all)
	}
}

// repeats counts rows with the same values of candidates as an earlier row. Of days, only the year counts.
func (r *draftRecord) repeats(parts ...*candidate) (n int) {
	seen := map[string]bool{}
	for _, i := range r.rows {
		key := ""
		for _, t := range parts {
			if t != nil {
				text := Folded(t.out[i])
				if slices.Contains(firstDays, t.field) {
					text = text[:min(len(text), len("2006"))]
				}
				key += text + "\x00"
			}
		}
		if seen[key] && strings.Trim(key, "\x00") != "" {
			n++
		}
		seen[key] = true
	}
	return n
}

// require adds a column that rows need to make a record.
func (d *draft) require(c *draftColumn) {
	for c.parent != nil {
		c = c.parent
	}
	if c.members == nil && c.present == d.rows && !slices.Contains(d.requires, c.name) {
		d.requires = append(d.requires, c.name)
	}
}

// write writes the record, and one record for each crew job.
func (r *draftRecord) write() {
	head := fmt.Sprintf("\n[[table.record]]\nkind = %q\n", r.typ.Name())
	if r.where != "" {
		head += "where = " + literal(r.where) + "\n"
	}
	r.text.WriteString(head)
	if r.mint != nil {
		fmt.Fprintf(&r.text, "mint = %s  # %s\n", textList(r.mint), r.minted)
	}
	r.text.WriteString("[table.record.fields]\n")
	if r.kindColumn != nil {
		r.kindColumn.fields = []string{"kind"}
	}
	slices.SortStableFunc(r.chosen, func(a, b *candidate) int { return cmp.Compare(a.line.order, b.line.order) })
	crew := ""
	for _, t := range r.chosen {
		field, notes := t.field, r.notes(t)
		end := literal(t.source)
		if notes != "" {
			end += "  # " + notes
		}
		if t.isCrew() {
			field += " (" + t.line.crew[1] + ")"
			crew += fmt.Sprintf("%slist = %q\neach = %s\n[table.record.element]\nid = 'id(element, \"person\")'\nname = 'element'\ndepartment = '%q'\njob = '%q'\n",
				head, crewField, end, t.line.crew[0], t.line.crew[1])
		} else {
			fmt.Fprintf(&r.text, "%s = %s\n", field, end)
		}
		if len(r.records) > 1 {
			field = r.typ.Name() + "." + field
		}
		columns := t.column.members
		if columns == nil {
			columns = []*draftColumn{t.column}
		}
		for _, c := range columns {
			if c.note(notes); !slices.Contains(c.fields, field) {
				c.fields = append(c.fields, field)
			}
		}
	}
	for c, failed := range r.failed {
		if len(c.fields) == 0 {
			c.note(failed)
		}
	}
	r.text.WriteString(crew)
}

// notes returns a one-line comment on a candidate, and adds doubts if it is not certain.
func (r *draftRecord) notes(t *candidate) string {
	var notes []string
	if t.comment != "" {
		notes = append(notes, t.comment)
	}
	for _, o := range t.near {
		switch free := !slices.ContainsFunc(r.chosen, func(other *candidate) bool { return other != t && other.overlaps(o) }); {
		case o.column == t.column && free:
			notes = append(notes, "or "+o.field)
		case o.field == t.field && free:
			notes = append(notes, "or "+strconv.Quote(o.column.name)+o.difference)
			if t.line.isTitle() && o.column.parent == nil {
				r.doubt("the titles may be in %s or in %s", t.column.name, o.column.name)
			}
		}
	}
	if len(t.unknown) > 0 {
		notes = append(notes, "unknown names: "+frequent(t.unknown))
	}
	if t.fit < 1 && t.unread != "" {
		notes = append(notes, fmt.Sprintf("not read: %d of %d cells, such as %s", t.filled-t.read, t.filled, cut(t.unread)))
		if t.fit <= sureFit {
			r.doubt("%d of %d cells of %s are not read", t.filled-t.read, t.filled, t.column.name)
		}
	}
	if t.doubt != "" {
		r.doubt("%s", t.doubt)
	}
	values := t.result()
	if t.field == "id" {
		values = t.column
	}
	for _, doubt := range slices.Concat(values.doubts(t.field), t.column.textDoubts(tag), t.nameDoubts()) {
		r.doubt("%s", doubt)
	}
	return oneLineOf(strings.Join(notes, "; "))
}

// severalNames matches several people, or a person with a role.
var severalNames = regexp.MustCompile(`(?i) (as|and|und|&|et al\.?)( |$)`)

// nameDoubts returns what a person should check in joined lists of people.
func (t *candidate) nameDoubts() (out []string) {
	if !t.isCrew() && t.field != "credits.cast" || !t.column.isText() {
		return nil
	}
	all, several, inverted := 0, 0, 0
	_ = t.column.share(func(text string) bool {
		if _, isList := listOf(text); isList {
			return true
		}
		for _, name := range splitText(text, t.column.separator) {
			isWord := strings.TrimSpace(t.column.separator) == "," && !strings.Contains(name, " ") && strings.ToUpper(name) != strings.ToLower(name)
			if all++; severalNames.MatchString(name) {
				several++
			} else if isWord || strings.Contains(name, ", ") {
				inverted++
			}
		}
		return true
	})
	if float64(several) > (1-sureFit)*float64(all) {
		out = append(out, "names in "+t.column.name+" may be of several people, or have roles")
	}
	if float64(inverted) > leastFit*float64(all) {
		out = append(out, "names in "+t.column.name+" may begin with the last name")
	}
	return out
}

// result returns the column of the values that a candidate makes of its column.
func (t *candidate) result() *draftColumn {
	c := &draftColumn{name: t.column.name, cells: make([]string, len(t.out)), filled: t.read}
	for i, text := range t.out {
		if text != "" {
			c.cells[i] = quoted(text)
		}
	}
	return c
}

func (c *draftColumn) note(note string) {
	if note != "" && !slices.Contains(c.notes, note) {
		c.notes = append(c.notes, note)
	}
}

// finish writes the table around the records.
func (d *draft) finish(file, base string) (out Draft) {
	var ignored strings.Builder
	given, unused := 0, 0
	for _, c := range d.columns {
		used := len(c.fields) > 0
		isParent, usedInside, usedAround := false, false, false
		for _, o := range d.columns {
			isParent = isParent || o.parent == c
			usedInside = usedInside || strings.HasPrefix(o.name, c.name+".") && len(o.fields) > 0
			usedAround = usedAround || strings.HasPrefix(c.name, o.name+".") && len(o.fields) > 0
		}
		if c.parent == nil && c.members == nil && !used && !usedInside {
			isID := slices.ContainsFunc(draftLines(), func(l *draftLine) bool { return l.unsure && l.weight(c) > 0 })
			switch {
			case c.isRowNumbers():
				c.notes = []string{"row numbers, not TMDB's ids"}
			case isID && !slices.ContainsFunc(d.records, func(r *draftRecord) bool { return r.fieldOf("id") != nil }) && c.share(wholeNumber.MatchString) >= leastFit:
				c.notes = []string{"ids of the table. If they are TMDB's, write id = " + literal(c.source) + " instead of mint"}
				d.doubt("the ids in %s may be TMDB's or the table's own", c.name)
			}
			example := "always empty"
			if i := slices.IndexFunc(c.cells, func(raw string) bool { return raw != "" }); i >= 0 {
				example = "such as " + oneLineOf(cut(c.cells[i]))
			}
			fmt.Fprintf(&ignored, "  { column = %s, note = %s },  # %s\n", quoted(c.name), quoted(cmp.Or(strings.Join(c.notes, "; "), "no field found")), example)
		}
		if c.members != nil || usedAround || isParent && !used {
			continue
		}
		given += c.filled
		if !used && !c.isRowNumbers() {
			unused += c.filled
		}
		out.Columns = append(out.Columns, DraftColumn{c.name, strings.Join(c.fields, ", "), oneLineOf(strings.Join(c.notes, "; "))})
	}
	const many = 10 // rows that show a rule
	if last := d.rows - 1; d.rows >= many && slices.ContainsFunc(d.columns, func(c *draftColumn) bool {
		return c.parent == nil && (c.filled == last && c.cells[last] == "" || c.cells[last] != "" && draftList("total")[plain(textIn(c.cells[last]))] > 0)
	}) {
		d.doubt("the last row may be a sum or a note")
	}
	if 2*unused >= given {
		d.doubt("%d of %d cells are in columns that no field takes", unused, given)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# A mapping to start from, made of %d rows of %s.\n", d.rows, oneLineOf(file))
	if len(d.records) == 0 {
		fmt.Fprintf(&b, "\n# Replace this with a [[table]].\n[[skip]]\nfiles = [%s]\nreason = %s\n", quoted(pattern(base)), quoted(d.doubts[0]))
		for line := range strings.Lines(ignored.String()) {
			b.WriteString("#" + line)
		}
		out.Text = b.String()
		return out
	}
	for _, doubt := range d.doubts {
		fmt.Fprintf(&b, "%s%s.\n", checkPrefix, oneLineOf(doubt))
	}
	var scale []string
	for _, word := range slices.Sorted(maps.Keys(d.numbers.scale)) {
		scale = append(scale, fmt.Sprintf("%s = %.0f", quoted(word), d.numbers.scale[word]))
	}
	b.WriteString("\n[[table]]\n")
	for _, key := range []struct{ name, value, form string }{
		{"files", quoted(pattern(base)), "[%s]"},
		{"requires", inList(d.requires), "[%s]"},
		{"decimal", d.numbers.decimal, "%q"},
		{"thousands", d.numbers.thousands, "%q"},
		{"scale", strings.Join(scale, ", "), "{ %s }"},
		{"ignore", ignored.String(), "[\n%s]"},
	} {
		if key.value != "" {
			fmt.Fprintf(&b, key.name+" = "+key.form+"\n", key.value)
		}
	}
	out.Text, out.Certain = b.String()+d.text.String(), d.doubts == nil
	return out
}

func cut(raw string) string { return fmt.Sprintf("%.60s", raw) }

// frequent lists the most frequent texts.
func frequent(count map[string]int) string {
	const most = 5
	texts := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
	for i := range texts[:min(len(texts), most)] {
		texts[i] = quoted(cut(texts[i]))
	}
	if more := len(texts) - most; more > 0 {
		texts = append(texts[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, ", ")
}

// textList returns a list in the syntax of TOML and expressions, and inList its elements.
func textList(texts []string) string { return "[" + inList(texts) + "]" }

func inList(texts []string) string {
	var out []string
	for _, text := range texts {
		out = append(out, quoted(text))
	}
	return strings.Join(out, ", ")
}

// wordsOf returns the words of a name in lower case without accents. releaseDate has two.
func wordsOf(name string) []string {
	const longest = 100
	var spaced strings.Builder
	var last rune
	for _, c := range name {
		if unicode.IsUpper(c) && unicode.IsLower(last) {
			spaced.WriteByte(' ')
		}
		spaced.WriteRune(c)
		last = c
	}
	return strings.FieldsFunc(string(fold.AppendFolded(nil, spaced.String(), longest)), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c)
	})
}

// small are words that names may omit.
var small = strings.Fields("the of in a de du des da do di del della la le les el")

// plain joins the significant words of a name. A language at its end is significant: title_de.
func plain(name string) string {
	words := wordsOf(name)
	n := len(words) - 1
	var out []string
	for i, w := range words {
		_, isLanguage := reference.LanguageByCode(w)
		if !slices.Contains(small, w) || i == n && isLanguage {
			out = append(out, w)
		}
	}
	return cmp.Or(strings.Join(out, ""), strings.Join(words, ""))
}

// columnSource returns the expression of a column.
func columnSource(name string) string {
	if e, err := newExpression(name, &site{}); err == nil && e.isColumn() && e.columns[0] == name && name != rowName {
		return name
	}
	return rowName + "[" + string(record.AppendString(nil, name)) + "]"
}

// fieldSource returns the suffix that selects an object's field in an expression. A nested object may be missing.
func fieldSource(name string, depth int) string {
	optional := ""
	if depth > 2 {
		optional = "?."
	}
	if columnPath.MatchString(name) && !strings.Contains(name, ".") && columnSource(name) == name {
		return cmp.Or(optional, ".") + name
	}
	return optional + "[" + string(record.AppendString(nil, name)) + "]"
}

// oneLineOf replaces control characters, which comments cannot contain.
func oneLineOf(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// literal returns an expression in TOML.
func literal(source string) string {
	if strings.ContainsAny(source, "'\n\x7f") {
		return quoted(source)
	}
	return "'" + source + "'"
}

// quoted returns a text as a TOML string, which is JSON but for U+007F.
func quoted(s string) string {
	return strings.ReplaceAll(string(record.AppendString(nil, s)), "\x7f", `\u007f`)
}

// pattern returns the pattern of a file name. A number is one of many such files.
func pattern(base string) string {
	if strings.Trim(base, "0123456789.") == "" && base > "." { // starts with a digit
		return "[0-9]*"
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(strings.ToLower(base))
}
