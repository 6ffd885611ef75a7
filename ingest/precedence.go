package ingest

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
	"github.com/reelsplice/reelsplice/ingest/merge"
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
	var errs []error
	check := func(name string, list []string) {
		for _, pattern := range list {
			if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
				errs = append(errs, fmt.Errorf("%s: %q is no name or pattern of a source", name, pattern))
			}
		}
	}
	check("order", f.Order)
	for name, list := range f.Fields {
		check(name, list)
		errs = append(errs, p.add(name, list))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("precedence %s: %w", file, err)
	}
	return p, nil
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
func rank(list []string, in *input) int {
	for n := len(list) - 1; n >= 0; n-- {
		if ok, _ := path.Match(list[n], in.Base()); ok || list[n] == in.layoutOrTMDB() {
			return n + 1
		}
	}
	return 0
}

// renumber gives the inputs numbers in the order of their strength, of equal ones in that of the
// command line, and warns of names in the file that stand for none of them.
func (l *fileList) renumber(log *slog.Logger) {
	p := l.precedence
	order := make([]*input, len(l.inputs))
	for n := range order {
		order[n] = &l.inputs[n]
	}
	slices.SortStableFunc(order, func(a, b *input) int {
		return cmp.Or(cmp.Compare(rank(p.order, a), rank(p.order, b)), cmp.Compare(a.number, b.number))
	})
	l.sources = nil
	for number, in := range order {
		in.number = number
		l.sources = append(l.sources, merge.Source{Name: in.Name, Path: in.Path})
	}
	names := slices.Clone(p.order)
	for _, fields := range p.fields {
		for _, list := range fields {
			names = append(names, list...)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if !slices.ContainsFunc(order, func(in *input) bool { return rank([]string{name}, in) > 0 }) {
			log.Warn("the precedence names a source that is not there", "name", name)
		}
	}
}

// ranks returns, for each field of a kind that has an order of sources of its own, how strong
// each source is there, by number.
func (l *fileList) ranks(kind fragment.Kind) map[string][]int {
	if l.precedence == nil {
		return nil
	}
	out := map[string][]int{}
	for field, order := range l.precedence.fields[kind] {
		ranks := make([]int, len(l.sources))
		for k := range l.inputs {
			ranks[l.inputs[k].number] = rank(order, &l.inputs[k])
		}
		out[field] = ranks
	}
	return out
}
