package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/reelsplice/reelsplice/schemas/catalog"
)

// An Ingest is the part of an ingest's report that readers of a release want: rows that are not in it, and
// fields on which sources disagreed.
type Ingest struct {
	Quarantine Quarantine `json:"quarantine"`
	Conflicts  Conflicts  `json:"conflicts"`
}

// A Quarantine counts the rows that were put aside.
type Quarantine struct {
	Rows    int64       `json:"rows"`
	Reasons Top[Reason] `json:"reasons"`
}

// Conflicts are the fields on which sources disagreed.
type Conflicts struct {
	Count  int64         `json:"count"`
	Fields Top[Conflict] `json:"fields"`
}

// A Top is the first entries of a list, and the sum of the others.
type Top[T any] struct {
	Top       []T   `json:"top"`
	More      int64 `json:"more"`       // entries that are not in Top
	MoreCount int64 `json:"more_count"` // their counts in sum
}

// A Reason is a group of rows in quarantine for the same reason.
type Reason struct {
	Field   string `json:"field,omitempty"`
	Reason  string `json:"reason"`
	Count   int64  `json:"count"`
	Example string `json:"example"` // place and reason of the first row
}

// A Conflict is all those of one field.
type Conflict struct {
	Field   string   `json:"field"` // with its kind: movie.title
	Count   int64    `json:"count"`
	Samples []string `json:"samples"`
}

// maxIngestReport is the largest report of an ingest that is read, in bytes.
const maxIngestReport = 16 << 20

// parseIngest reads the report of an ingest. A list has at most maxListed entries.
func parseIngest(data []byte) (*Ingest, error) {
	var v struct {
		Totals struct {
			Quarantined int64       `json:"quarantined"`
			Reasons     Top[Reason] `json:"reasons"`
		} `json:"totals"`
		Conflicts Conflicts `json:"conflicts"`
	}
	if len(data) > maxIngestReport {
		return nil, fmt.Errorf("%s: more than %d bytes", catalog.ReportName, maxIngestReport)
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, fmt.Errorf("%s: %w", catalog.ReportName, err)
	}
	in := &Ingest{Quarantine{v.Totals.Quarantined, v.Totals.Reasons}, v.Conflicts}
	cut(&in.Quarantine.Reasons, func(r *Reason) int64 { return r.Count })
	cut(&in.Conflicts.Fields, func(c *Conflict) int64 { return c.Count })
	return in, nil
}

// maxListed is how many entries a list has at most, as in the report of an ingest.
const maxListed = 50

// cut moves the entries beyond maxListed to the sum of the others.
func cut[T any](t *Top[T], count func(*T) int64) {
	for len(t.Top) > maxListed {
		last := len(t.Top) - 1
		t.More, t.MoreCount = t.More+1, t.MoreCount+count(&t.Top[last])
		t.Top = t.Top[:last]
	}
}

// ReadIngest reads the report that lies in the folder of a catalogue; nil for one without a report.
func ReadIngest(dir string) (*Ingest, error) {
	f, err := os.Open(filepath.Join(dir, catalog.ReportName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxIngestReport+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return parseIngest(data)
}
