package imdb

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/encoding"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// Contents of the people sorter for one person, in this order. The position in the sort key combines the tag, the title's
// number and the credit's index.
const (
	tagName      = 0 // a row of name.basics
	tagPrincipal = 1 // a row of title.principals
	tagCrew      = 2 // an ID in a row of title.crew; the payload is the row's place

	tagShift   = 62
	titleShift = 20
	// A credit's index is its ordering. In title.crew it is the index in the list, with writerBit for writers.
	creditMask = 1<<titleShift - 1
	writerBit  = 1 << 16
)

func addName(j *Joiner, t *table, from place) error {
	n, _ := parseID(j.cells[nameID], namePrefix)
	j.payload = j.appendRow(j.payload[:0], t, from)
	return j.sort(j.people, rowKey{n, tagName << tagShift, from.seq()}, j.payload)
}

func addPrincipal(j *Joiner, t *table, from place) error {
	title, _ := parseID(j.cells[principalsID], titlePrefix)
	person, _ := parseID(j.cells[principalsName], namePrefix)
	ordering, _ := parseNumber(j.cells[principalsOrdering])
	j.payload = j.appendRow(j.payload[:0], t, from)
	return j.sort(j.people, creditKey(tagPrincipal, person, title, uint64(ordering), from), j.payload)
}

// addCrew adds a row of title.crew twice: to its title, to find duplicate rows, and to each person.
func addCrew(j *Joiner, t *table, from place) error {
	if err := addToTitle(rankCrew)(j, t, from); err != nil {
		return err
	}
	title, _ := parseID(j.cells[crewID], titlePrefix)
	j.payload = appendPlace(j.payload[:0], from)
	return errors.Join(
		j.addCrewList(title, j.cells[crewDirectors], 0, from),
		j.addCrewList(title, j.cells[crewWriters], writerBit, from))
}

// addCrewList adds j.payload for every person of a list.
func (j *Joiner) addCrewList(title uint32, list string, nth uint64, from place) error {
	for item := range items(list) {
		person, _ := parseID(item, namePrefix)
		if err := j.sort(j.people, creditKey(tagCrew, person, title, nth, from), j.payload); err != nil {
			return err
		}
		nth++
	}
	return nil
}

func creditKey(tag uint64, person, title uint32, credit uint64, from place) rowKey {
	return rowKey{person, tag<<tagShift | uint64(title)<<titleShift | credit, from.seq()}
}

// A person has the fields that a credit repeats.
type person struct {
	number     uint32
	id         int64
	name       string // "" if name.basics lacks the person
	gender     int64
	department string // the department that the person is known for, or ""
}

// joinPeople makes the records of people, and moves credits with their people's names to the titles.
func (j *Joiner) joinPeople(ctx context.Context, out output) error {
	var p person
	var basics row // row of name.basics; its table is nil before it was read
	var packed, buf []byte
	return eachRow(ctx, j.people, func(key rowKey, payload []byte) error {
		if key.id != p.number {
			p, basics = person{number: key.id, id: j.identify(key.id, fragment.KindPerson).id}, row{}
			packed = appendPerson(packed[:0], &p)
		}
		if tag := key.position >> tagShift; tag != tagName { // a credit moves to its title
			title, nth, rank := key.position&(1<<tagShift-1)>>titleShift, key.position&creditMask, uint64(rankPrincipals)
			if tag == tagCrew {
				rank = rankCrewPeople
			}
			buf = append(append(buf[:0], packed...), payload...)
			return j.sort(j.titles, titleKey(uint32(title), rank, nth, key.seq), buf)
		}
		in := encoding.NewReader(payload)
		r, err := readRow(&in, tableNamed(nameBasics))
		if err != nil {
			return err
		}
		if basics.table != nil {
			return j.duplicate(&basics, &r)
		}
		basics, p.name = r, r.cells[namePrimary]
		p.gender, p.department = genderAndDepartment(r.cells[nameProfession])
		packed = appendPerson(packed[:0], &p)
		rec := &catalog.Person{ID: record.Number(p.id), IMDbID: record.Text(nameText(p.number)), Name: text(p.name), KnownForDepartment: text(p.department)}
		if p.gender != 0 {
			rec.Gender = record.Number(p.gender)
		}
		return out.record(r.place, fragment.KindPerson, record.Of(rec))
	})
}

func appendPerson(dst []byte, p *person) []byte {
	dst = binary.AppendUvarint(dst, uint64(p.number))
	dst = binary.AppendUvarint(dst, uint64(p.id))
	dst = binary.AppendUvarint(dst, uint64(p.gender))
	return encoding.AppendText(encoding.AppendText(dst, p.name), p.department)
}

func readPerson(r *encoding.Reader) person {
	return person{
		number: uint32(r.Uvarint()), id: int64(r.Uvarint()), gender: int64(r.Uvarint()),
		name: r.Text(), department: r.Text(),
	}
}

// duplicate counts an exact duplicate of a row. A second row with different content is refused.
func (j *Joiner) duplicate(first, second *row) error {
	if first.text == second.text {
		j.drop("duplicate rows", 1)
		return nil
	}
	c := &j.config
	key := second.cells[0]
	if second.table.columns[1].name == "ordering" {
		key += " " + second.cells[1]
	}
	return j.refuse(second, key+" already occurs at "+c.Place(first.file, first.row, first.line)+
		", with different content than at "+c.Place(second.file, second.row, second.line))
}

// refuse passes a row to Config.Bad, as an object of its columns.
func (j *Joiner) refuse(r *row, reason string) error {
	var fields record.RawFields
	for i, c := range r.table.columns {
		raw := "null"
		if r.cells[i] != "" {
			raw = string(record.AppendString(nil, r.cells[i]))
		}
		fields = append(fields, record.RawField{Name: c.name, Raw: raw})
	}
	return j.config.Bad(r.file, r.row, r.line, []byte(fields.Object()), &record.FieldError{Field: r.table.columns[0].name, What: reason})
}
