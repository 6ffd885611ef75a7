package sample

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// seasonParts are the appended seasons of a series, in ascending order.
type seasonParts []season

func (p *seasonParts) UnmarshalJSON(b []byte) error {
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for key, raw := range parts {
		if !strings.HasPrefix(key, "season/") {
			continue
		}
		var s season
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		*p = append(*p, s)
	}
	slices.SortFunc(*p, func(a, b season) int { return cmp.Compare(a.Number, b.Number) })
	return nil
}
