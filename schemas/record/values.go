package record

import (
	"errors"
	"strings"
)

// Values takes the values of a row that fit no field: each is left out, and the row stays. All that reads a row
// hands them to the same Values. A nil *Values takes none, and the row is refused. It is not safe for concurrent use.
type Values struct {
	left []LeftOut
	at   map[string]int // in left, by path
}

// A LeftOut is the values that a row lost in one field.
type LeftOut struct {
	Path  string // without indices: "credits.cast[].popularity"
	Count int64
	First []FieldError // of the first, LeftOutSamples at most
}

// LeftOutSamples is how many of the values that are left out of a field are shown.
const LeftOutSamples = 3

// Leave takes the value that err is about, a *FieldError, and returns nil. It returns any other error, and of a nil
// Values every one.
func (v *Values) Leave(err error) error {
	var fe *FieldError
	if v == nil || !errors.As(err, &fe) {
		return err
	}
	v.add(LeftOut{Path: WithoutIndices(fe.Field), Count: 1, First: []FieldError{*fe}})
	return nil
}

func (v *Values) add(l LeftOut) {
	i, ok := v.at[l.Path]
	if !ok && len(v.left) >= MaxPaths {
		l.Path = OtherPaths
		i, ok = v.at[l.Path]
	}
	if !ok {
		if v.at == nil {
			v.at = map[string]int{}
		}
		v.at[l.Path] = len(v.left)
		v.left = append(v.left, l)
		return
	}
	have := &v.left[i]
	have.Count += l.Count
	have.First = append(have.First, l.First[:min(len(l.First), LeftOutSamples-len(have.First))]...)
}

// Take returns what was taken since the last call, in the order of the row.
func (v *Values) Take() []LeftOut {
	if v == nil || v.left == nil {
		return nil
	}
	left := v.left
	v.left = nil
	clear(v.at)
	return left
}

// AddRenamed adds what another Values took, under other names of its fields.
func (v *Values) AddRenamed(o *Values, name func(path string) string) {
	for _, l := range o.Take() {
		l.Path = name(l.Path)
		for i := range l.First {
			l.First[i].Field = name(l.First[i].Field)
		}
		v.add(l)
	}
}

// WithoutIndices returns a path as counts have it: rows[].id for rows[3].id.
func WithoutIndices(path string) string {
	if !strings.Contains(path, "[") {
		return path
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(path, "[")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		b.WriteString("[]")
		_, path, _ = strings.Cut(rest, "]")
	}
}
