package records

import (
	"errors"
	"io"

	"github.com/reelsplice/reelsplice/schemas/age"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// Fetched returns the days on which records were fetched that are not removed, by the name of their kind, of
// kinds that have any. It reads no records but those of row groups with seasons or episodes of a removed series
// or season.
func (in *Inputs) Fetched() (map[string]age.Days, error) {
	out := map[string]age.Days{}
	for kind, f := range in.files {
		var days age.Days
		for group := range f.RowGroups() {
			read := f.Fetched
			if in.hides(f, group) {
				read = func(group int) (age.Days, error) { return in.fetchedLeft(f, group) }
			}
			of, err := read(group)
			if err != nil {
				return nil, f.failed(err)
			}
			days.Join(of)
		}
		if !days.IsZero() {
			out[kind.String()] = days
		}
	}
	return out, nil
}

// hides reports whether a row group may have records of a removed series or season.
func (in *Inputs) hides(f *Input, group int) bool {
	if f.kind.Kind != fragment.KindSeason && f.kind.Kind != fragment.KindEpisode {
		return false
	}
	for _, r := range in.Removed {
		if r.Kind != fragment.KindTV && r.Kind != fragment.KindSeason {
			continue
		}
		if r.Key.ID() >= f.first[group].ID() && (group+1 == len(f.first) || r.Key.ID() <= f.first[group+1].ID()) {
			return true
		}
	}
	return false
}

// fetchedLeft returns the days of the records of a row group that are not removed.
func (in *Inputs) fetchedLeft(f *Input, group int) (days age.Days, err error) {
	rows := f.Select(append(f.kind.KeyFields(), catalog.FetchedColumn), group, group+1)
	defer rows.Close()
	for rec := f.kind.New(); ; {
		err := rows.Next(rec)
		if errors.Is(err, io.EOF) {
			return days, nil
		}
		if err != nil {
			return days, err
		}
		key, err := f.kind.Key(rec)
		if err != nil {
			return days, err
		}
		if !in.Removed.Has(f.kind.Kind, key) {
			days.Add(catalog.FetchedOf(rec))
		}
	}
}
