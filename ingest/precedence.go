package ingest

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"reelsplice/ingest/join"
	"reelsplice/ingest/layout"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// A Precedence says which of several sources wins. Without one, what a later source says
// wins, member by member.
type Precedence struct {
	order  []string                              // patterns of sources, the weakest first
	fields map[fragment.Kind]map[string][]string // by member: likewise
	file   []plannedFile
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
	p := &Precedence{order: f.Order, fields: map[fragment.Kind]map[string][]string{}}
	if p.file, err = onDisk(file); err != nil {
		return nil, fmt.Errorf("precedence: %w", err)
	}
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

// add notes the order of a member: kind.member, or *.member for all kinds that have it.
func (p *Precedence) add(name string, list []string) error {
	kind, member, ok := strings.Cut(name, ".")
	found := false
	for _, t := range catalog.Types() {
		if kind != "*" && kind != t.Name() {
			continue
		}
		if _, has := t.Plan.Field(member); !has {
			continue
		}
		if p.fields[t.Kind] == nil {
			p.fields[t.Kind] = map[string][]string{}
		}
		p.fields[t.Kind][member], found = list, true
	}
	switch _, known := catalog.TypeNamed(kind); {
	case found:
		return nil
	case ok && kind == "*":
		return fmt.Errorf("%s: no records have a member %s", name, member)
	case ok && known:
		return fmt.Errorf("%s: %s records have no member %s", name, kind, member)
	}
	return fmt.Errorf("%s: want kind.member, for instance movie.title or *.popularity", name)
}

// rank returns how strong a source is: the place of the last name that stands for it,
// counted from 1; 0 for none.
func rank(list []string, in *input) int {
	for n := len(list) - 1; n >= 0; n-- {
		if ok, _ := path.Match(list[n], in.Base()); ok || list[n] == orTMDB(in.layout) {
			return n + 1
		}
	}
	return 0
}

// renumber gives the inputs numbers in the order of their strength, of equal ones in
// that of the command line.
func (i *ingester) renumber() {
	if i.Precedence == nil {
		return
	}
	order := make([]int, len(i.inputs))
	for n := range order {
		order[n] = n
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &i.inputs[a], &i.inputs[b]
		if c := rank(i.Precedence.order, x) - rank(i.Precedence.order, y); c != 0 {
			return c
		}
		return x.number - y.number
	})
	for _, name := range i.Precedence.unmatched(i.inputs) {
		i.Log.Warn("the precedence names a source that is not there", "name", name)
	}
	names := make([]string, len(order))
	for number, n := range order {
		i.inputs[n].number, names[number] = number, i.inputs[n].Name
	}
	i.numbers = names
}

// unmatched returns the names in the file that stand for none of the inputs.
func (p *Precedence) unmatched(inputs []input) []string {
	lists := [][]string{p.order}
	for _, members := range p.fields {
		for _, list := range members {
			lists = append(lists, list)
		}
	}
	var out []string
	for _, name := range slices.Concat(lists...) {
		matches := func(in input) bool { return rank([]string{name}, &in) > 0 }
		if !slices.Contains(out, name) && !slices.ContainsFunc(inputs, matches) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// A choice says, for the records of one kind, which of their members have an order of
// sources of their own, and how strong the sources are there.
type choice struct {
	fields []*record.Field
	ranks  [][]int // by field, by number of the source
	given  []int   // by field: how strong the source is that gave it; of the record at hand
}

// choices returns the choice of a kind, nil for one without orders of its own.
func (i *ingester) choices(t *catalog.Type) *choice {
	if i.Precedence == nil || len(i.Precedence.fields[t.Kind]) == 0 {
		return nil
	}
	c := &choice{}
	for n := range t.Plan.Fields {
		f := &t.Plan.Fields[n]
		list, ok := i.Precedence.fields[t.Kind][f.Name]
		if !ok {
			continue
		}
		ranks := make([]int, len(i.numbers))
		for k := range i.inputs {
			ranks[i.inputs[k].number] = rank(list, &i.inputs[k])
		}
		c.fields, c.ranks = append(c.fields, f), append(c.ranks, ranks)
	}
	c.given = make([]int, len(c.fields))
	return c
}

// begin notes how strong the source of a new record is.
func (c *choice) begin(number int) {
	if c == nil {
		return
	}
	for n := range c.fields {
		c.given[n] = c.ranks[n][number]
	}
}

// choose takes from a row the members that a stronger source has given before, and tells
// of those on which the two disagree.
func (c *choice) choose(dst, row record.Record, number int, conflict func(c join.Conflict)) {
	if c == nil {
		return
	}
	for n, f := range c.fields {
		if !record.Present(row, f) {
			continue
		}
		if record.Present(dst, f) && c.given[n] > c.ranks[n][number] {
			if !record.Same(dst, row, f) {
				conflict(join.Conflict{Member: f.Name, Old: record.FieldText(row, f), New: record.FieldText(dst, f)})
			}
			record.Unset(row, f)
			continue
		}
		c.given[n] = c.ranks[n][number]
	}
}
