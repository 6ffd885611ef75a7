package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"reelsplice/schemas/record"
)

// members are the unknown members of a record, in their order.
type members []member

type member struct {
	name string
	raw  json.RawMessage
}

// membersOf reads what record.Object.Extra holds.
func membersOf(extra string) (members, error) {
	var out members
	d := json.NewDecoder(strings.NewReader("{" + extra + "}"))
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("parse unknown members: %w", err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("parse unknown members: %w", err)
		}
		m := member{name: name.(string)} // the library accepts no other
		if err := d.Decode(&m.raw); err != nil {
			return nil, fmt.Errorf("parse unknown members: %w", err)
		}
		out = append(out, m)
	}
	return out, nil
}

// text writes members as record.Object.Extra has them.
func (m members) text() string {
	var out []byte
	for i := range m {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(record.AppendString(out, m[i].name), ':')
		out = append(out, m[i].raw...)
	}
	return string(out)
}

// take removes the member of a name and returns its value; of several the last, as
// parsers do.
func (m *members) take(name string) (raw json.RawMessage, found bool) {
	kept := (*m)[:0]
	for _, one := range *m {
		if one.name == name {
			raw, found = one.raw, true
			continue
		}
		kept = append(kept, one)
	}
	*m = kept
	return raw, found
}

// has reports whether there is a member of a name.
func (m members) has(name string) bool {
	return slices.ContainsFunc(m, func(one member) bool { return one.name == name })
}

// inRow says of an error in which element of a list it is.
func inRow(err error, list string, i int) error {
	var fe *record.FieldError
	if errors.As(err, &fe) {
		return &record.FieldError{Field: fmt.Sprintf("%s[%d].%s", list, i, fe.Field), What: fe.What}
	}
	return fmt.Errorf("%s[%d]: %w", list, i, err)
}
