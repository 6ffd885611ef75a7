package build

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/build/task"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// Access has the request counts of resources in the last day and the last week, by kind and id.
type Access = task.Access

// accessColumns are the columns of access counts.
var accessColumns = []string{"media_type", "id", "day", "week"}

// accessKinds are the kinds that trend, by their media_type.
var accessKinds = map[string]fragment.Kind{"movie": fragment.KindMovie, "tv": fragment.KindTV, "person": fragment.KindPerson}

// ReadAccess reads access counts from a CSV with the columns media_type (movie, tv or person), id, day and week. The
// first line names them in any order. Counts of one resource add up. An error names the file, the row and the field.
func ReadAccess(path string) (Access, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("access counts: %w", err)
	}
	defer f.Close()
	a := Access{}
	if err := readAccess(csv.NewReader(f), a); err != nil {
		return nil, fmt.Errorf("access counts: %s: %w", path, err)
	}
	return a, nil
}

func readAccess(r *csv.Reader, a Access) error {
	head, err := r.Read()
	if err != nil {
		return fmt.Errorf("want a first line with %s: %w", strings.Join(accessColumns, ","), err)
	}
	for _, name := range accessColumns {
		if !slices.Contains(head, name) {
			return fmt.Errorf("line 1: there is no column %q", name)
		}
	}
	cells := make([]string, len(accessColumns))
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err // it names the line
		}
		for i, name := range accessColumns {
			cells[i] = row[slices.Index(head, name)]
		}
		if err := addAccess(a, cells); err != nil {
			line, _ := r.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// addAccess adds a row. Its cells are in the order of accessColumns.
func addAccess(a Access, cells []string) error {
	kind, ok := accessKinds[cells[0]]
	if !ok {
		return fmt.Errorf("media_type is %q, want movie, tv or person", cells[0])
	}
	var n [3]uint64
	for i := range n {
		var err error
		if n[i], err = strconv.ParseUint(cells[i+1], 10, 63); err != nil {
			return fmt.Errorf("%s is %q, want a number of 0 or more", accessColumns[i+1], cells[i+1])
		}
	}
	if a[kind] == nil {
		a[kind] = map[uint64][2]uint64{}
	}
	sum := a[kind][n[0]]
	a[kind][n[0]] = [2]uint64{sum[0] + n[1], sum[1] + n[2]}
	return nil
}
