package record

import (
	"fmt"
	"strings"
)

// A path leads from a row to a value in it.
type path []step

// A step is one level of a path.
type step struct {
	name  string
	index int // -1 for a field
}

func (p *path) push(name string) { *p = append(*p, step{name, -1}) }
func (p *path) pushIndex(i int)  { *p = append(*p, step{index: i}) }
func (p *path) pop()             { *p = (*p)[:len(*p)-1] }

// where returns the path as text, with the numbers of elements if requested.
func (p path) where(indices bool) string {
	var b strings.Builder
	for _, s := range p {
		switch {
		case s.index >= 0 && indices:
			fmt.Fprintf(&b, "[%d]", s.index)
		case s.index >= 0:
			b.WriteString("[]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.name)
		}
	}
	return b.String()
}
