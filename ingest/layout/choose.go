package layout

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

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

// clearFit is the share of cells that a meaning must use to be taken without trying others.
const clearFit = 0.95

// A contender is a possible meaning of rows.
type contender struct {
	*Meaning
	fit  Fit
	hint bool // the file's name matches the table or the kind
}

// isClear reports whether most rows make records and nearly all their cells are used.
func (c *contender) isClear() bool {
	return 2*c.fit.Made >= c.fit.Rows-c.fit.Passed && c.share() >= clearFit
}

// isProven reports whether rows with fields that the API lacks show the API's own form by lists and objects.
func (c *contender) isProven() bool {
	return c.Type == nil || c.fit.Cells().Extra == 0 || c.hasShapes()
}

// share returns the share of cells that become part of a record, or that the mapping ignores.
func (c *contender) share() float64 {
	n := c.fit.Cells()
	kept := n.Used + n.Extra
	for name, of := range c.fit.Columns {
		if ignored, _ := c.Ignores(name); ignored {
			kept += of.Unused
		}
	}
	return float64(kept) / float64(max(n.All(), 1))
}

// Choose chooses the meaning that uses most cells, of all meanings whose required columns are present. The caller's mappings
// come first, and the file's name decides between equals.
func Choose(s Subject, o Options) (out Choice) {
	s.read()
	var all []contender
	for _, m := range o.Mappings {
		for _, t := range m.tables {
			if t.match(s.File, s.columns) {
				all = append(all, s.measure(&Meaning{Layout: Tables, table: t, own: true}, true, o))
			}
		}
	}
	if best := bestOf(all); best != nil && (s.Layout == Auto || s.Layout == Tables) {
		return Choice{Meaning: best.Meaning, Fit: best.fit, Clear: true}
	}
	if s.Layout == Auto || s.Layout == Tables {
		if reason := cmp.Or(s.skipped(o.Mappings), s.lackedBy(o.Mappings)); reason != "" {
			return Choice{Skip: reason}
		}
	}
	if s.Layout == TMDB {
		if s.Type == nil {
			return Choice{}
		}
		return Choice{Meaning: OwnForm(s.Type, s.Sub), Clear: true}
	}

	all = s.known(o)
	if s.Layout != Auto {
		if best := bestOf(all); best != nil {
			return Choice{Meaning: best.Meaning, Fit: best.fit, Clear: true}
		}
		return Choice{Skip: noTable(s.Layout, o.mappings(s.Layout), s.File)}
	}
	own, why := s.ownForms(o, all)
	if best := bestOf(own); !s.Table && best != nil && best.hint {
		all = hinted(all)
	}
	out.Why = why
	if s.Table {
		all = append(all, own...)
	} else {
		all = append(own, all...) // the API's own form is JSON
	}
	best := bestOf(all)
	clear := best != nil && best.isClear() && best.isProven()
	if !clear {
		for _, layout := range mappedLayouts {
			if reason := s.skipped(ready(layout)); reason != "" {
				return Choice{Skip: reason}
			}
		}
	}
	if !clear && !s.isAddressed() {
		draft, fit := s.draft(o)
		if draft != nil && best != nil {
			out.Best, out.Lost = best.Meaning, lostColumns(best, &fit)
		}
		if draft != nil && (best == nil || out.Lost != nil) {
			out.Draft, out.Fit = draft, fit
			return out
		}
		out.Best = nil
	}
	switch {
	case best != nil:
		out.Meaning, out.Fit, out.Kinds, out.Clear = best.Meaning, best.fit, equals(all, best), clear
		if len(out.Kinds) > 1 {
			out.Meaning = nil
		}
	case s.Type != nil && (s.isAddressed() || s.isKeyed(o)):
		out.Meaning = OwnForm(s.Type, s.Sub) // its rows will be rejected with a reason
	}
	return out
}

// lostColumns returns the columns that a draft uses, and whose values the best known meaning mostly leaves unused or rejects. It
// returns none if that meaning uses as many values. A draft may leave IDs to a person: then the values of IDs do not count against
// it for a column that the meaning has no field for.
func lostColumns(best *contender, draft *Fit) (columns []string) {
	more := draft.Cells().Used - best.fit.Cells().Used
	named := more
	if draft.Columns["id"].Used == 0 {
		named += best.fit.Columns["id"].Used
	}
	for name, n := range best.fit.Columns {
		lost := n.Unused + n.LeftOut
		if !best.isProven() && name != "type" { // type repeats the kind
			lost += n.Extra
		}
		isNamed := lost > n.LeftOut
		if d := draft.Columns[name]; 2*lost > n.All() && (more > 0 && lost > 1 || named > 0 && isNamed) && 2*d.Used > d.All() {
			columns = append(columns, name)
		}
	}
	slices.Sort(columns)
	return columns
}

// lackedBy finds a mapping of the caller that is meant for the file, and returns which of its required columns the file lacks.
func (s *Subject) lackedBy(mappings []*Mapping) string {
	for _, m := range mappings {
		for _, t := range m.tables {
			lacks := slices.DeleteFunc(slices.Clone(t.requires), func(name string) bool { return slices.Contains(s.columns, name) })
			if t.fits(s.File) || m.Name == s.File+".toml" || len(t.files) == 0 && 2*len(lacks) <= len(t.requires) {
				if len(lacks) == 0 {
					return fmt.Sprintf("mapping %s is for files named %s", m.Name, inList(t.files))
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

// read reads the fields of the rows.
func (s *Subject) read() {
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
}

func (s *Subject) measure(m *Meaning, hint bool, o Options) contender {
	return contender{m, m.Measure(s.Row, s.Rows, o), hint}
}

// bestOf returns the contender that uses most cells, or nil. Of equals, a hint by the file's name decides, else the order.
func bestOf(all []contender) (best *contender) {
	for i := range all {
		c := &all[i]
		if c.fit.Made == 0 && !c.own {
			continue
		}
		if best == nil {
			best = c
			continue
		}
		n, most := c.fit.Cells().Used, best.fit.Cells().Used
		if n > most || n == most && c.hint && !best.hint {
			best = c
		}
	}
	return best
}

// equals returns the kinds of meanings that fit as well as the best, unless a name hints at the best.
func equals(all []contender, best *contender) (kinds []string) {
	if best.hint {
		return nil
	}
	for i := range all {
		if c := &all[i]; c.fit.Made > 0 && c.fit.Cells().Used == best.fit.Cells().Used {
			if name := c.Kind(); name != "" && !slices.Contains(kinds, name) {
				kinds = append(kinds, name)
			}
		}
	}
	return kinds
}

// known returns the built-in tables whose required columns are present.
func (s *Subject) known(o Options) (out []contender) {
	others := s.ownIDs() != "" || s.countsRows()
	for _, layout := range mappedLayouts {
		if s.Layout != Auto && s.Layout != layout || s.Layout == Auto && layout == kaggle && (s.isNested() || s.isAddressed() && s.Type != nil) {
			continue
		}
		for _, m := range ready(layout) {
			if layout == Tables && slices.ContainsFunc(o.Mappings, func(own *Mapping) bool { return own.Name == m.Name }) {
				continue
			}
			for _, t := range m.tables {
				if !t.has(s.columns) || len(t.requires) == 0 && !t.fits(s.File) {
					continue
				}
				meaning := &Meaning{Layout: layout, table: t}
				if s.Given && s.Type != nil && meaning.Kind() != s.Type.Name() || others && meaning.hasID("id") {
					continue
				}
				if c := s.measure(meaning, len(t.files) > 0 && t.fits(s.File), o); c.fit.Made > 0 || s.Layout != Auto {
					out = append(out, c)
				}
			}
		}
	}
	return out
}

// hinted returns the contenders that the file's name hints at.
func hinted(all []contender) []contender {
	return slices.DeleteFunc(slices.Clone(all), func(c contender) bool { return !c.hint })
}

// isNested reports whether rows have nested objects, which Kaggle's tables have as text.
func (s *Subject) isNested() bool {
	return slices.ContainsFunc(slices.Concat(s.fields...), func(f record.RawField) bool {
		return f.Raw[0] == '{' || f.Raw[0] == '[' && strings.TrimLeft(f.Raw[1:], " \t\r\n")[0] == '{'
	})
}

// ownForms returns the API's own forms that fit the rows, and why the kind in the file's name does not. Other kinds are tried
// only if neither that kind nor a known table fits clearly.
func (s *Subject) ownForms(o Options, known []contender) (out []contender, why string) {
	if s.Type != nil {
		c, no := s.ownForm(s.Type, s.Sub, o)
		if why = no; no == "" {
			out = append(out, c)
		}
		if sub := subOf(s.Type, s.columns); sub != "" && s.Sub == "" && !s.isAddressed() {
			if c, no := s.ownForm(s.Type, sub, o); no == "" {
				out, why = append(out, c), ""
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
	var subs []*catalog.Type // kinds of sub-requests that the rows may respond to, once for each sub-request
	for _, t := range catalog.Types() {
		for range subsOf(t, s.columns) {
			subs = append(subs, t)
		}
		if s.Type != nil && t.Kind == s.Type.Kind || !s.mayBe(t) {
			continue
		}
		if c, no := s.ownForm(t, "", o); no == "" && c.isClear() && c.isProven() {
			out = append(out, c)
		}
	}
	if len(subs) == 1 && (s.Type == nil || subs[0].Kind != s.Type.Kind) {
		if c, no := s.ownForm(subs[0], subOf(subs[0], s.columns), o); no == "" && c.isClear() {
			out = append(out, c)
		}
	}
	if why == "" && len(out) == 0 {
		_, why = s.ownForm(catalog.TypeOf(fragment.KindMovie), "", o)
	}
	return out, why
}

// hasShapes reports whether a list or an object in the API's shape was used. Genres do not count: they may be names.
func (c *contender) hasShapes() bool {
	for name, n := range c.fit.Columns {
		top, _, _ := strings.Cut(name, ".")
		if f, ok := c.Type.Plan.Field(top); ok && n.Used > 0 && (f.Shape == record.ShapeObjects || f.Shape == record.ShapeObject) && top != "genres" {
			return true
		}
	}
	return false
}

// mayBe reports whether most columns are fields of a kind.
func (s *Subject) mayBe(t *catalog.Type) bool {
	known := 0
	for _, name := range s.columns {
		if _, ok := t.Plan.Field(name); ok {
			known++
		}
	}
	return 2*known >= len(s.columns)
}

// nameFields returns the fields that name a resource of a kind. A record has at least one of them.
func nameFields(t *catalog.Type) []string {
	switch t.Kind {
	case fragment.KindMovie:
		return []string{"title", "original_title"}
	case fragment.KindTV:
		return []string{"name", "original_name"}
	case fragment.KindPerson, fragment.KindCollection, fragment.KindCompany, fragment.KindNetwork, fragment.KindKeyword, fragment.KindList:
		return []string{"name"}
	}
	return nil
}

// ownForm measures the API's own form of a kind. no is the reason if the rows are not in that form.
func (s *Subject) ownForm(t *catalog.Type, sub string, o Options) (c contender, no string) {
	m := OwnForm(t, sub)
	c = contender{Meaning: m, hint: s.Type != nil && s.Type.Kind == t.Kind}
	names := nameFields(t)
	named := len(names) == 0 || sub != "" || s.isAddressed()
	removals := false
	c.fit = m.measure(s.Row, s.Rows, o, func(r *Record) {
		removals = removals || r.Removed
		named = named || r.Removed || slices.ContainsFunc(names, func(name string) bool { return r.StringNamed(name).V != "" })
	})
	if s.isAddressed() {
		return c, ""
	}
	if c.fit.Made == 0 {
		if c.fit.Refused != nil {
			return c, c.fit.Refused.Error()
		}
		return c, "no row makes a record"
	}
	if s.Given {
		return c, ""
	}
	if !c.hint && len(names) > 0 && sub == "" && !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(s.columns, name) }) {
		return c, fmt.Sprintf("no column is the %s of a %s", names[0], t.Name()) // rows of series may have a title too
	}
	if column := s.ownIDs(); column != "" && sub == "" {
		return c, fmt.Sprintf("column %s has TMDB's ids, and id others", column)
	}
	if t.Kind == fragment.KindMovie && sub == "" && s.countsRows() {
		return c, "column id counts the rows: use --kind if it has TMDB's ids"
	}
	known := false // a column is a field of the kind
	for name, n := range c.fit.Columns {
		top, _, _ := strings.Cut(name, ".")
		known = known || top != "id" && n.Used+n.LeftOut > 0
	}
	switch {
	case named && (known || c.hint), known:
	case len(names) > 0:
		return c, fmt.Sprintf("no row has the %s of a %s", names[0], t.Name())
	default:
		return c, fmt.Sprintf("no row has a field of a %s besides id", t.Name())
	}
	for i := range t.Plan.Fields {
		f := &t.Plan.Fields[i]
		if n := c.fit.Columns[f.Name]; f.Shape >= record.ShapeObject && n.LeftOut > n.Used {
			return c, firstOf(c.fit.left, f.Name)
		}
	}
	if c.fit.coerced["genres[]"] > 0 && !c.hasShapes() {
		return c, "genres: want an array of objects, found names"
	}
	if why := s.foreign(t, &c.fit); why != "" && !removals && sub == "" {
		return c, why
	}
	return c, ""
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

// firstOf returns the error of the first value of a field that was left out.
func firstOf(left []record.LeftOut, field string) string {
	for _, l := range left {
		if rest, ok := strings.CutPrefix(l.Path, field); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return l.First[0].Error()
		}
	}
	return field + ": is not what the API has"
}

// foreign returns why rows are not of the kind that a folder or a word of the file's name suggests. Users and genres are stored
// beside movies, and have an ID and a name too.
func (s *Subject) foreign(t *catalog.Type, fit *Fit) string {
	known, others := false, false
	for name, n := range fit.Columns {
		top, _, _ := strings.Cut(name, ".")
		known = known || n.Used > 0 && top != "id" && top != "name" && top != "media_type" // rows about anything have those
		others = others || n.Extra+n.Unused > 0
	}
	hinted := s.Type != nil && s.Type.Kind == t.Kind
	switch {
	case known, hinted && s.Named && !s.Folder:
		return ""
	case hinted && !others && (!s.Folder || t.Kind == fragment.KindKeyword):
		return ""
	case hinted && s.Folder:
		return fmt.Sprintf("its folder is named after %s records, and its rows have no field of that kind besides id and name: use --kind if they are", t.Name())
	case hinted:
		return fmt.Sprintf("its name has a word for %s records, and its rows have no field of that kind besides id: use --kind if they are", t.Name())
	case others:
		return "its rows have no field of the kind besides id and name"
	}
	return ""
}

// ownIDs returns the column with TMDB's IDs, if there is one beside a column id with other values, or "".
func (s *Subject) ownIDs() (column string) {
	for _, row := range s.fields {
		id := scalarText(row.Value("id"))
		for _, f := range row {
			one := record.RawFields{f}
			if strings.HasPrefix(f.Raw, "{") {
				one, _ = record.Fields(f.Raw)
				for i := range one {
					one[i].Name = f.Name + "." + one[i].Name
				}
			}
			for _, f := range one {
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

// subOf returns the one sub-request whose response has such columns, or "" if none or several have.
func subOf(t *catalog.Type, columns []string) string {
	if all := subsOf(t, columns); len(all) == 1 {
		return all[0]
	}
	return ""
}

// subsOf returns the sub-requests whose responses have such columns: the resource's ID and fields of the response.
func subsOf(t *catalog.Type, columns []string) (out []string) {
	if len(columns) < 2 || !slices.Contains(columns, "id") || slices.ContainsFunc(t.KeyFields(), func(name string) bool { return name != "id" }) {
		return nil
	}
	for i := range t.Plan.Fields {
		f := &t.Plan.Fields[i]
		if !f.IsSub() || f.Elem == nil {
			continue
		}
		if !slices.ContainsFunc(columns, func(name string) bool {
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
			if k := &m.skips[i]; k.match(s.File, s.columns) && s.shareOf(k.requires) >= k.least {
				return k.reason
			}
		}
	}
	return ""
}

// shareOf returns the share of the sample's values in the given columns.
func (s *Subject) shareOf(columns []string) float64 {
	there, all := 0, 0
	for _, f := range slices.Concat(s.fields...) {
		if isEmpty(f.Raw) {
			continue
		}
		if all++; slices.Contains(columns, f.Name) {
			there++
		}
	}
	return float64(there) / float64(max(all, 1))
}

// noTable returns the message for a file that is not a table of a layout.
func noTable(layout string, mappings []*Mapping, file string) string {
	var labels []string
	for _, m := range mappings {
		for _, t := range m.tables {
			labels = append(labels, t.label)
		}
	}
	slices.Sort(labels)
	return fmt.Sprintf("layout %s: no mapping has a table %q with these columns: want one of %s", layout, file, strings.Join(slices.Compact(labels), ", "))
}

// draft proposes a mapping for the file and measures it. It returns nil if no records are made.
func (s *Subject) draft(o Options) (*Draft, Fit) {
	if len(s.Rows) == 0 {
		return nil, Fit{}
	}
	kind := ""
	if s.Type != nil {
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
	return &Meaning{Layout: Tables, table: m.tables[0], own: true}, nil
}
