package layout

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bytedance/sonic"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A function can be called in mappings. Its first argument is the value to read, the others are constants. For an empty value, it
// returns nil.
type function struct {
	name      string
	signature any  // the language checks only the result
	anyText   bool // it reads placeholders such as N/A too
	raw       bool // its result is JSON text
	numeric   bool // it reads numbers in the format of the table
	read      func(s *site, value any, v *evaluator) (any, error)
	newReader maker // in place of read, for a function with constants
}

// A maker makes the reader of a call. It checks the constants.
type maker func(p *patcher, constants []any) (reader, error)

// A reader converts a value. Its errors state the expected value.
type reader func(value any, v *evaluator) (any, error)

// day is a day in the API's format.
type day string

// returning is the type of a call with a result of type T.
type returning[T any] = func(value, read, evaluator any) T

// functions lists all functions. docs/tables.md documents them.
var functions = []function{
	{name: "int", signature: new(returning[int]), numeric: true, read: func(s *site, value any, _ *evaluator) (any, error) {
		n, err := s.numbers.forValue(value).integer(textOf(value))
		return int(n), err
	}},
	{name: "number", signature: new(returning[float64]), numeric: true, read: func(s *site, value any, _ *evaluator) (any, error) {
		return s.numbers.forValue(value).number(textOf(value))
	}},
	{name: "amount", signature: new(returning[float64]), newReader: amount},
	{name: "bool", signature: new(returning[bool]), read: func(_ *site, value any, _ *evaluator) (any, error) { return boolean(textOf(value)) }},
	{name: "date", signature: new(returning[day]), newReader: date},
	{name: "title", signature: new(returning[string]), anyText: true, newReader: withTexts(func(value any, articles []string) (any, error) {
		title, _ := splitTitle(textOf(value))
		return articleFirst(title, articles), nil
	})},
	{name: "year", signature: new(returning[day]), anyText: true, read: func(_ *site, value any, _ *evaluator) (any, error) {
		if _, year := splitTitle(textOf(value)); year != "" {
			return day(year + "-01-01"), nil
		}
		return nil, nil
	}},
	{name: "imdb", signature: new(returning[string]), read: readIMDb},
	{name: "tmdb", signature: new(returning[int]), read: readTMDB},
	{name: "image", signature: new(returning[string]), read: imagePath},
	{name: "minutes", signature: new(returning[int]), numeric: true, read: minutes},
	{name: "score", signature: new(returning[float64]), newReader: score},
	{name: "without", signature: new(returning[any]), anyText: true, newReader: withTexts(func(value any, words []string) (any, error) {
		if text, ok := value.(string); ok && slices.Contains(words, text) {
			return nil, nil
		}
		return value, nil
	})},
	{name: "unescape", signature: new(returning[string]), anyText: true, read: func(_ *site, value any, _ *evaluator) (any, error) {
		return html.UnescapeString(textOf(value)), nil
	}},
	{name: "json", signature: new(returning[any]), raw: true, read: func(_ *site, value any, _ *evaluator) (any, error) { return readJSON(textOf(value)) }},
	{name: "python", signature: new(returning[any]), raw: true, read: readLiteral},
	{name: "trimPrefix", signature: new(returning[string]), anyText: true, newReader: withTexts(trim(strings.CutPrefix))},
	{name: "trimSuffix", signature: new(returning[string]), anyText: true, newReader: withTexts(trim(strings.CutSuffix))},
	{name: "split", signature: new(returning[[]any]), newReader: split},
	{name: "uniq", signature: new(returning[[]any]), read: uniq},
	{name: "match", signature: new(returning[any]), newReader: match},
	{name: "name", signature: new(returning[any]), raw: true, newReader: ofNames(asObject, (*nameReader).single)},
	{name: "code", signature: new(returning[any]), raw: true, newReader: ofNames(asCode, (*nameReader).single)},
	{name: "id", signature: new(returning[any]), raw: true, newReader: ofNames(asID, (*nameReader).single)},
	{name: "names", signature: new(returning[any]), raw: true, newReader: ofNames(asObject, (*nameReader).list)},
	{name: "codes", signature: new(returning[any]), raw: true, newReader: ofNames(asCode, (*nameReader).list)},
}

// withTexts makes a function whose constants are texts.
func withTexts(read func(value any, texts []string) (any, error)) maker {
	return func(_ *patcher, constants []any) (reader, error) {
		list, err := texts(constants)
		return func(value any, _ *evaluator) (any, error) { return read(value, list) }, err
	}
}

// texts requires constants that are texts.
func texts(constants []any) (out []string, err error) {
	for i, c := range constants {
		text, ok := c.(string)
		if !ok {
			return nil, fmt.Errorf("argument %d: want a text, found %v", i+2, c)
		}
		out = append(out, text)
	}
	return out, nil
}

// textOf returns the text of a value, or the JSON of a list or an object.
func textOf(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case day:
		return string(v)
	case int:
		return strconv.Itoa(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	text, _ := json.Marshal(value) // decoded from JSON
	return string(text)
}

// ofNames makes a function of names. Its constants are the kind of the names and the options separator and mint.
func ofNames(form nameForm, read func(n *nameReader, value any, v *evaluator) (any, error)) maker {
	return func(p *patcher, constants []any) (reader, error) {
		n := &nameReader{form: form, ordered: p.ordered}
		if len(constants) == 0 || len(constants) > 2 {
			return nil, fmt.Errorf("want the kind of the names, one of %s, and at most {separator, mint} after it", strings.Join(form.kinds(), ", "))
		}
		n.kind, _ = constants[0].(string)
		if !slices.Contains(form.kinds(), n.kind) {
			return nil, fmt.Errorf("want one of %s, found %v", strings.Join(form.kinds(), ", "), constants[0])
		}
		if len(constants) == 2 {
			if err := n.options(constants[1]); err != nil {
				return nil, err
			}
		}
		switch {
		case n.mint && (nameKinds[n.kind] == 0 || n.kind == ofPerson):
			return nil, errors.New("mint: want names of company, network or keyword; unknown people get ids anyway")
		case n.kind == ofGenre && p.kind != fragment.KindMovie && p.kind != fragment.KindTV:
			return nil, errors.New("movies and series have genres")
		}
		n.separators = defaultSeparators[:1]
		switch {
		case n.separator != "":
			n.separators = []string{n.separator}
		case nameKinds[n.kind] == 0:
			n.separators = defaultSeparators
		}
		n.known = keyOf(n.kind, p.kind)
		p.expression.names = append(p.expression.names, n.kind)
		return func(value any, v *evaluator) (any, error) { return read(n, value, v) }, nil
	}
}

// options reads {separator, mint}.
func (n *nameReader) options(constant any) error {
	options, ok := constant.(map[string]any)
	if !ok {
		return fmt.Errorf("want {separator, mint}, found %v", constant)
	}
	for _, key := range slices.Sorted(maps.Keys(options)) {
		switch key {
		case "separator":
			n.separator, ok = options[key].(string)
			ok = ok && n.separator != ""
		case "mint":
			n.mint, ok = options[key].(bool)
		default:
			return fmt.Errorf("unknown option %s: want separator, mint", key)
		}
		if !ok {
			return fmt.Errorf("%s: found %v", key, options[key])
		}
	}
	return nil
}

// Values.

func boolean(s string) (bool, error) {
	if v, ok := record.Truth(s); ok {
		return v, nil
	}
	return false, errors.New("want true or false")
}

// imdbDigits is the minimum number of digits in an IMDb id.
const imdbDigits = 7

// An address or a GUID has the id of a resource among other text.
var (
	imdbAddress = regexp.MustCompile(`\b(tt|nm)(\d{5,9})\b`)
	tmdbAddress = regexp.MustCompile(`(?i)\b(?:tmdb|themoviedb)(?:\.org)?[:/-]/{0,2}(?:\d/)?(?:([a-z]+)/)?(\d+)`)
	imageURL    = regexp.MustCompile(`^(?:(?:https?:)?//[^/]+/t/p/[^/]+)?(/[^/]+)$`)
)

// readIMDb returns the IMDb ID of a title or a person. Tables often have only the number. For an address without an ID of the
// kind, it returns nil.
func readIMDb(s *site, value any, _ *evaluator) (any, error) {
	prefix, owner := "tt", "title"
	if s.kind == fragment.KindPerson {
		prefix, owner = "nm", "person"
	}
	text := strings.TrimSpace(textOf(value))
	number := strings.TrimSuffix(strings.TrimPrefix(text, prefix), ".0")
	if n, err := strconv.ParseUint(number, 10, 32); err == nil && n > 0 {
		return fmt.Sprintf("%s%0*d", prefix, imdbDigits, n), nil
	}
	for _, m := range imdbAddress.FindAllStringSubmatch(text, -1) {
		if m[1] == prefix {
			return m[0], nil
		}
	}
	if strings.Contains(text, "://") {
		return nil, nil
	}
	return nil, fmt.Errorf("want an IMDb id of a %s, with or without %s", owner, prefix)
}

// readTMDB returns the ID in a number, an address or a GUID. For an address of another kind or site, it returns nil.
func readTMDB(s *site, value any, _ *evaluator) (any, error) {
	text := textOf(value)
	if n, err := (numberReader{}).integer(text); err == nil && n > 0 {
		return int(n), nil
	}
	m := tmdbAddress.FindStringSubmatch(text)
	switch {
	case m != nil && (m[1] == "" || strings.EqualFold(m[1], s.kind.String())):
		n, err := strconv.Atoi(m[2])
		return n, err
	case m != nil || strings.Contains(text, "://"):
		return nil, nil
	}
	return nil, errors.New("want an id of TMDB, or an address with one")
}

// imagePath returns the path of an image from its address at TMDB's image host.
func imagePath(_ *site, value any, _ *evaluator) (any, error) {
	m := imageURL.FindStringSubmatch(strings.TrimSpace(textOf(value)))
	if m == nil {
		return nil, errors.New("want the path of an image, or its address at image.tmdb.org")
	}
	return m[1], nil
}

// duration matches hours, minutes and seconds with their units, and ISO 8601.
var duration = regexp.MustCompile(`(?i)^(?:PT)?(?:(\d+)\s*(?:hours?|hrs?|h|std|stunden?|heures?|horas?|or[ae]|час\pL*|ч|小时|ساع\pL*)\.?,?\s*(?:and|und|et|y|e|и)?\s*)?` +
	`(?:(\d+)\s*(?:minute[ns]?|minut[io]s?|mins?|m|мин\pL*|м|分钟?|دقيق\pL*|'|′)?\.?)?(?:\s*\d+\s*s(?:ec)?)?(?: per ep\pL*\.?)?$`)

// clock matches hours, minutes and optional seconds with colons.
var clock = regexp.MustCompile(`^(\d{1,2}):([0-5]\d)(?::[0-5]\d)?$`)

// minutes returns the minutes of a duration.
func minutes(s *site, value any, _ *evaluator) (any, error) {
	text := strings.TrimSpace(textOf(value))
	if n, err := s.numbers.forValue(value).integer(text); err == nil && n >= 0 {
		return int(n), nil
	}
	m := clock.FindStringSubmatch(text)
	if m == nil {
		m = duration.FindStringSubmatch(text)
	}
	if m == nil || m[1]+m[2] == "" {
		return nil, errors.New("want minutes, such as 139, 139 min or 2h 19m")
	}
	hours, _ := strconv.Atoi(m[1]) // digits or nothing
	rest, _ := strconv.Atoi(m[2])
	return 60*hours + rest, nil
}

// amount makes a function that reads numbers with units around them.
func amount(p *patcher, constants []any) (reader, error) {
	units, err := texts(constants)
	switch {
	case err != nil:
		return nil, err
	case len(units) == 0:
		return nil, errors.New("want at least one unit, such as $")
	case slices.Contains(units, ""):
		return nil, errors.New("want units, found an empty one")
	}
	numbers := p.numbers
	return func(value any, _ *evaluator) (any, error) {
		text := strings.TrimSpace(textOf(value))
		for i := 0; i < len(units); i++ {
			n := len(units[i])
			switch {
			case len(text) < n:
			case strings.EqualFold(text[:n], units[i]):
				text, i = strings.TrimSpace(text[n:]), -1 // several units may be adjacent: US$
			case strings.EqualFold(text[len(text)-n:], units[i]):
				text, i = strings.TrimSpace(text[:len(text)-n]), -1
			}
		}
		numbers := numbers.forValue(value)
		f, err := numbers.number(text)
		if err != nil || numbers.isUnclear(text) {
			return nil, fmt.Errorf("want a number, with or without %s", strings.Join(units, ", "))
		}
		return f, nil
	}, nil
}

// score makes a function that converts scores from 0 to a best one into scores from 0 to 10.
func score(p *patcher, constants []any) (reader, error) {
	best := 0.0
	if len(constants) == 1 {
		best, _ = numberReader{}.number(textOf(constants[0])) // 0 is no best score either
	}
	if best <= 0 {
		return nil, errors.New("want the best score, such as 5 or 100")
	}
	shown, numbers := strconv.FormatFloat(best, 'f', -1, 64), p.numbers
	return func(value any, _ *evaluator) (any, error) {
		number, scale, _ := strings.Cut(strings.TrimSpace(textOf(value)), "/")
		if rest, ok := strings.CutSuffix(number, "%"); ok && scale == "" {
			number, scale = rest, "100"
		}
		f, err := numbers.forValue(value).number(number)
		if scale = strings.TrimSpace(scale); err != nil || scale != "" && scale != shown || f < 0 || f > best {
			return nil, fmt.Errorf("want a score from 0 to %s", shown)
		}
		return 10 * f / best, nil
	}, nil
}

func readJSON(text string) (rawJSON, error) {
	if !json.Valid([]byte(text)) {
		return "", errors.New("want JSON")
	}
	return rawJSON(text), nil
}

func readPython(text string) (rawJSON, error) {
	out, err := appendPython(nil, text)
	if err != nil {
		return "", fmt.Errorf("want a Python literal: %w", err)
	}
	return rawJSON(out), nil
}

// readLiteral is readPython with a cache of the current row.
func readLiteral(_ *site, value any, v *evaluator) (any, error) {
	text := textOf(value)
	out, ok := v.literals[text]
	if ok {
		return out, nil
	}
	out, err := readPython(text)
	if err == nil {
		v.literals[text] = out
	}
	return out, err
}

// trim returns a function that removes the first prefix or suffix that a text has.
func trim(cut func(text, affix string) (string, bool)) func(value any, affixes []string) (any, error) {
	return func(value any, affixes []string) (any, error) {
		text := textOf(value)
		for _, affix := range affixes {
			if rest, ok := cut(text, affix); ok {
				return rest, nil
			}
		}
		return text, nil
	}
}

// split makes a function that returns the parts of a joined list, or the elements of a list in JSON or Python.
func split(_ *patcher, constants []any) (reader, error) {
	list, err := texts(constants)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 || list[0] == "" {
		return nil, errors.New(`want a separator, for instance ", "`)
	}
	return func(value any, _ *evaluator) (any, error) {
		if list, ok := value.([]any); ok {
			return list, nil
		}
		text := strings.TrimSpace(textOf(value))
		if list, ok := listOf(text); ok {
			return list, nil
		}
		out := []any{}
		for _, part := range splitText(text, list[0]) {
			out = append(out, part)
		}
		return out, nil
	}, nil
}

// nameSuffixes may follow a name after a comma: Sammy Davis, Jr.
var nameSuffixes = strings.Fields("Jr. Jr Sr. Sr Inc. Inc Ltd. Ltd LLC L.L.C. Co. Corp. M.D. Ph.D.")

// splitText returns the parts of a joined list. A suffix stays with its name.
func splitText(text, separator string) (out []string) {
	for part := range strings.SplitSeq(text, separator) {
		part = strings.TrimSpace(part)
		if n := len(out); n > 0 && slices.Contains(nameSuffixes, part) {
			out[n-1] += ", " + part
		} else {
			out = append(out, part)
		}
	}
	return out
}

// listOf returns the list that a text is in JSON or Python, or false.
func listOf(text string) (list []any, ok bool) {
	if !strings.HasPrefix(text, "[") || !strings.HasSuffix(text, "]") {
		return nil, false
	}
	raw, err := readJSON(text)
	if err != nil {
		if raw, err = readPython(text); err != nil {
			return nil, false
		}
	}
	list, ok = decode(string(raw)).([]any)
	return list, ok
}

// uniq removes repeated elements of a list. expr's own function compares all elements with all others.
func uniq(_ *site, value any, _ *evaluator) (any, error) {
	list, ok := value.([]any)
	if !ok {
		return nil, errors.New("want a list")
	}
	out, seen := []any{}, map[any]bool{}
	for _, v := range list {
		key := v
		if k := reflect.TypeOf(v); k != nil && !k.Comparable() { // a list or an object
			key = rawJSON(textOf(v))
		}
		if !seen[key] {
			seen[key] = true
			out = append(out, v)
		}
	}
	return out, nil
}

// match makes a function that returns the value assigned to a text.
func match(_ *patcher, constants []any) (reader, error) {
	var values map[string]any
	if len(constants) == 1 {
		values, _ = constants[0].(map[string]any)
	}
	if len(values) == 0 {
		return nil, errors.New(`want a value for each text, for instance {"Woman": 1, "Man": 2}`)
	}
	return func(value any, _ *evaluator) (any, error) {
		v, ok := values[textOf(value)]
		if !ok {
			var known []string
			for _, text := range slices.Sorted(maps.Keys(values)) {
				known = append(known, strconv.Quote(text))
			}
			return nil, fmt.Errorf("want one of %s", strings.Join(known, ", "))
		}
		return v, nil
	}, nil
}

// decode returns the value of JSON text, or nil if it is empty. Whole numbers that fit are int, as in expr, so that both are
// equal map keys.
func decode(raw string) (value any) {
	switch {
	case raw == "":
		return nil
	case raw[0] == '"': // nearly all cells of tables
		return record.Unquote(raw)
	default:
		_ = numbersApart.UnmarshalFromString(raw, &value) // a row is good JSON
	}
	return withInts(value)
}

// withInts converts int64 inside a value to int, expr's type.
func withInts(value any) any {
	switch v := value.(type) {
	case int64:
		return int(v)
	case []any:
		for i := range v {
			v[i] = withInts(v[i])
		}
	case map[string]any:
		for name, inner := range v {
			v[name] = withInts(inner)
		}
	}
	return value
}

var numbersApart = sonic.Config{UseInt64: true}.Froze()

// A numberReader reads the numbers of a table.
type numberReader struct {
	decimal   string             // decimal separator; "" for a point
	thousands string             // separator of groups of three digits, or ""
	scale     map[string]float64 // factors by the word or sign after a number
}

// forValue returns the reader for a value. A value that is already a number has Go's format.
func (r numberReader) forValue(value any) numberReader {
	if _, isText := value.(string); isText {
		return r
	}
	return numberReader{decimal: "."}
}

// isUnclear reports whether the table does not show what the point of a number such as 150.000 stands for.
func (r numberReader) isUnclear(s string) bool {
	return r.decimal+r.thousands == "" && record.IsGrouped(strings.TrimSpace(s))
}

// parse returns the number in a text, and the text in Go's format: digits with an optional sign, point and exponent.
// Surrounding blanks are allowed.
func (r numberReader) parse(s string) (text string, f float64, ok bool) {
	s = strings.TrimSpace(s)
	factor := 1.0
	for word, f := range r.scale {
		if rest, found := strings.CutSuffix(s, word); found && factor == 1 {
			s, factor = strings.TrimSpace(rest), f
		}
	}
	if r.thousands != "" && strings.Contains(s, r.thousands) {
		whole, fraction, _ := strings.Cut(s, cmp.Or(r.decimal, "."))
		if !isGrouped(whole, r.thousands) || strings.Contains(fraction, r.thousands) {
			return "", 0, false
		}
		s = strings.ReplaceAll(s, r.thousands, "")
	}
	if r.decimal != "" && r.decimal != "." {
		if strings.Contains(s, ".") {
			return "", 0, false
		}
		s = strings.Replace(s, r.decimal, ".", 1)
	}
	if strings.Trim(s, "0123456789+-.eE") != "" {
		return "", 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if factor != 1 {
		f *= factor
		if whole := math.Round(f); math.Abs(f-whole) < 1e-12*f { // 257.6 million is not exact
			f = whole
		}
		s = strconv.FormatFloat(f, 'f', -1, 64)
	}
	return s, f, err == nil
}

// isGrouped reports whether all groups of digits but the first have three.
func isGrouped(whole, thousands string) bool {
	groups := strings.Split(strings.TrimLeft(whole, "+-"), thousands)
	for i, g := range groups {
		if i == 0 && (g == "" || len(g) > 3) || i > 0 && len(g) != 3 {
			return false
		}
	}
	return true
}

// integer returns an integer, 550 also for 550.0 and 5.5e2.
func (r numberReader) integer(s string) (int64, error) {
	if len(r.scale) == 0 {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil { // nearly all
			return n, nil
		}
	}
	text, f, ok := r.parse(s)
	if n, err := strconv.ParseInt(text, 10, 64); ok && err == nil {
		return n, nil
	}
	const exact = 1 << 53
	if !ok || f != float64(int64(f)) || f > exact || f < -exact || r.isUnclear(s) {
		return 0, errors.New("want an integer")
	}
	return int64(f), nil
}

func (r numberReader) number(s string) (float64, error) {
	_, f, ok := r.parse(s)
	if !ok {
		return 0, errors.New("want a number")
	}
	return f, nil
}

// check refuses signs and factors that make numbers ambiguous.
func (r numberReader) check() error {
	signs := []string{cmp.Or(r.decimal, "."), r.thousands}
	for i, key := range []string{"decimal", "thousands"} {
		if len([]rune(signs[i])) > 1 || strings.ContainsAny(signs[i], "0123456789+-eE") {
			return fmt.Errorf("%s %q: want one sign, such as a comma", key, signs[i])
		}
	}
	if signs[0] == signs[1] {
		return fmt.Errorf("thousands %q: want a sign other than decimal", r.thousands)
	}
	for word, factor := range r.scale {
		if word == "" || factor <= 0 {
			return fmt.Errorf("scale: want words and their factors, found %q = %v", word, factor)
		}
	}
	return nil
}
