package input

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// A Precedence is an order of sources: for each field, the strongest one that has it wins. Without
// a Precedence, the later one wins.
type Precedence struct {
	order  []string                              // patterns of sources, the weakest first
	fields map[fragment.Kind]map[string][]string // likewise, by field
	// File is the path of the file.
	File string
}

// precedenceFile is the form of the file:
//
//	order = ["imdb", "movie_ids*", "tmdb_5000_movies"]   # the strongest last
//
//	[fields]
//	"movie.vote_average" = ["tmdb_5000_movies", "films"]
//	"*.popularity" = ["movie_ids*"]
//
// A name is that of a layout, or a pattern of file names without folders and extensions.
// Sources that are not named are weaker than those that are, and those that one name
// stands for are in the order of the command line.
type precedenceFile struct {
	Order  []string            `toml:"order"`
	Fields map[string][]string `toml:"fields"`
}

// ReadPrecedence reads the file of an order. Errors name it and what is wrong in it.
func ReadPrecedence(file string) (*Precedence, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("precedence: %w", err)
	}
	var f precedenceFile
	if err := layout.DecodeTOML(b, &f); err != nil {
		return nil, fmt.Errorf("precedence %s: %w", file, err)
	}
	p := &Precedence{order: f.Order, fields: map[fragment.Kind]map[string][]string{}, File: file}
	errs := checkPatterns("order", f.Order)
	for name, list := range f.Fields {
		errs = append(errs, checkPatterns(name, list)...)
		errs = append(errs, p.add(name, list))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("precedence %s: %w", file, err)
	}
	return p, nil
}

func checkPatterns(name string, list []string) []error {
	var errs []error
	for _, pattern := range list {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			errs = append(errs, fmt.Errorf("%s: %q is no name or pattern of a source", name, pattern))
		}
	}
	return errs
}

// add adds the order of a field: kind.field, or *.field for all kinds that have it.
func (p *Precedence) add(name string, list []string) error {
	kind, field, ok := strings.Cut(name, ".")
	found := false
	for _, t := range catalog.Types() {
		if kind != "*" && kind != t.Name() {
			continue
		}
		if _, has := t.Plan.Field(field); !has {
			continue
		}
		if p.fields[t.Kind] == nil {
			p.fields[t.Kind] = map[string][]string{}
		}
		p.fields[t.Kind][field], found = list, true
	}
	switch _, known := catalog.TypeNamed(kind); {
	case found:
		return nil
	case ok && kind == "*":
		return fmt.Errorf("%s: no records have a field %s", name, field)
	case ok && known:
		return fmt.Errorf("%s: %s records have no field %s", name, kind, field)
	}
	return fmt.Errorf("%s: want kind.field, for instance movie.title or *.popularity", name)
}

// rank returns how strong a source is: the place of the last name that stands for it,
// counted from 1; 0 for none.
func rank(list []string, in *Input) int {
	for n := len(list) - 1; n >= 0; n-- {
		if ok, _ := path.Match(list[n], in.Base()); ok || list[n] == in.LayoutOrTMDB() {
			return n + 1
		}
	}
	return 0
}

// renumber gives the inputs numbers in the order of their strength, of equal ones in that of the
// command line.
func (l *List) renumber(p *Precedence, log *slog.Logger) {
	order := make([]int, len(l.Inputs))
	for n := range order {
		order[n] = n
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &l.Inputs[a], &l.Inputs[b]
		return cmp.Or(cmp.Compare(rank(p.order, x), rank(p.order, y)), cmp.Compare(x.Number, y.Number))
	})
	for _, name := range p.unmatched(l.Inputs) {
		log.Warn("the precedence names a source that is not there", "name", name)
	}
	l.Names = make([]string, len(order))
	for number, n := range order {
		l.Inputs[n].Number, l.Names[number] = number, l.Inputs[n].Name
	}
}

// unmatched returns the names in the file that stand for none of the inputs.
func (p *Precedence) unmatched(inputs []Input) []string {
	lists := [][]string{p.order}
	for _, fields := range p.fields {
		for _, list := range fields {
			lists = append(lists, list)
		}
	}
	var out []string
	for _, name := range slices.Concat(lists...) {
		matches := func(in Input) bool { return rank([]string{name}, &in) > 0 }
		if !slices.Contains(out, name) && !slices.ContainsFunc(inputs, matches) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Ranks returns, for each field of a kind that has an order of sources of its own, how strong
// each source is there, by number.
func (p *Precedence) Ranks(kind fragment.Kind, l *List) map[string][]int {
	if p == nil || len(p.fields[kind]) == 0 {
		return nil
	}
	out := map[string][]int{}
	for field, order := range p.fields[kind] {
		ranks := make([]int, len(l.Names))
		for k := range l.Inputs {
			ranks[l.Inputs[k].Number] = rank(order, &l.Inputs[k])
		}
		out[field] = ranks
	}
	return out
}
