package index

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// A NameKind is a name's relation to its resource. Better names come first.
type NameKind uint8

// The kinds of names.
const (
	Main        NameKind = iota // the title or name in en-US
	Original                    // the original title or name
	Translated                  // the title or name in another language
	Alternative                 // an alternative title, another name of a person or a company
)

// A Name is one of the names by which search finds a resource.
type Name struct {
	Text string
	Kind NameKind
}

// uniqueNames drops names without text and repeated ones with a worse kind. The rest is in the order of kind and text.
func uniqueNames(list []Name) []Name {
	list = slices.DeleteFunc(list, func(n Name) bool { return strings.TrimSpace(n.Text) == "" })
	slices.SortFunc(list, func(a, b Name) int { return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Kind, b.Kind)) })
	list = slices.CompactFunc(list, func(a, b Name) bool { return a.Text == b.Text })
	slices.SortFunc(list, func(a, b Name) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Text, b.Text)) })
	return list
}

// Options are the sources of tables beside the rows, and limits.
type Options struct {
	Work   string // folder for temporary files
	Memory int64  // bytes that sorting may use
	// Previous is the release before, by which trends are measured; nil without one.
	Previous *release.Reader
	// Access returns how often a resource was requested in the last day and the last week.
	// It may be nil, and is called from several goroutines.
	Access func(kind fragment.Kind, id uint64) (day, week uint64)
}
