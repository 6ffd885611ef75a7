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

func addName(j *Joiner, t *table, at place) error {
	n, _ := parseID(j.cells[nameID], namePrefix)
	j.payload = j.appendRow(j.payload[:0], t, at)
	return j.sort(j.people, rowKey{n, tagName << tagShift, at.seq()}, j.payload)
}

func addPrincipal(j *Joiner, t *table, at place) error {
	title, _ := parseID(j.cells[principalsID], titlePrefix)
	person, _ := parseID(j.cells[principalsName], namePrefix)
	ordering, _ := parseNumber(j.cells[principalsOrdering])
	j.payload = j.appendRow(j.payload[:0], t, at)
	return j.sort(j.people, creditKey(tagPrincipal, person, title, uint64(ordering), at), j.payload)
}

// addCrew adds a row of title.crew twice: to its title, to find duplicate rows, and to each person.
func addCrew(j *Joiner, t *table, at place) error {
	if err := addOf(rankCrew)(j, t, at); err != nil {
		return err
	}
	title, _ := parseID(j.cells[crewID], titlePrefix)
	j.payload = appendPlace(j.payload[:0], at)
	return errors.Join(
		j.addCrewList(title, j.cells[crewDirectors], 0, at),
		j.addCrewList(title, j.cells[crewWriters], writerBit, at))
}

// addCrewList adds j.payload for every person of a list.
func (j *Joiner) addCrewList(title uint32, list string, nth uint64, at place) error {
	for item := range items(list) {
		person, _ := parseID(item, namePrefix)
		if err := j.sort(j.people, creditKey(tagCrew, person, title, nth, at), j.payload); err != nil {
			return err
		}
		nth++
	}
	return nil
}

func creditKey(tag uint64, person, title uint32, credit uint64, from place) rowKey {
	return rowKey{person, tag<<tagShift | uint64(title)<<titleShift | credit, from.seq()}
}

// A person has the fields that credits need.
type person struct {
	number     uint32
	id         int64
	name       string // "" if name.basics lacks the person
	gender     int64
	department string // the department that the person is known for, or ""
}

// joinPeople makes the records of people, and moves credits with their people's names to the titles.
func (j *Joiner) joinPeople(ctx context.Context, out output) error {
	g := &personGroup{j: j, out: out}
	return each(ctx, j.people, func(key rowKey, payload []byte) error {
		if key.id != g.person.number {
			g.start(key.id)
		}
		if key.at>>tagShift == tagName {
			return g.name(payload)
		}
		return g.credit(key.at, key.seq, payload)
	})
}

// A personGroup collects the rows of the current person.
type personGroup struct {
	j      *Joiner
	out    output
	person person
	row    row // row of name.basics; its table is nil if there was none
	packed []byte
	buf    []byte
}

func (g *personGroup) start(number uint32) {
	g.person = person{number: number, id: g.j.identify(number, fragment.KindPerson).id}
	g.row = row{}
	g.packed = appendPerson(g.packed[:0], &g.person)
}

// name makes the person's record from a row of name.basics.
func (g *personGroup) name(payload []byte) error {
	in := encoding.NewReader(payload)
	r, err := readRow(&in, tableNamed(nameBasics))
	if err != nil {
		return err
	}
	if g.row.table != nil {
		return g.j.again(&g.row, &r)
	}
	g.row = r
	p := &g.person
	p.name = r.cells[namePrimary]
	p.gender, p.department = ofProfessions(r.cells[nameProfession])
	g.packed = appendPerson(g.packed[:0], p)
	rec := &catalog.Person{ID: record.Number(p.id), IMDbID: record.Text(nameText(p.number)), Name: text(p.name), KnownForDepartment: text(p.department)}
	if p.gender != 0 {
		rec.Gender = record.Number(p.gender)
	}
	return g.out.record(r.place, fragment.KindPerson, record.Of(rec))
}

// credit moves a credit to its title.
func (g *personGroup) credit(at, seq uint64, payload []byte) error {
	tag, title, nth := at>>tagShift, at&(1<<tagShift-1)>>titleShift, at&creditMask
	rank := uint64(rankPrincipals)
	if tag == tagCrew {
		rank = rankCrewPeople
	}
	g.buf = append(append(g.buf[:0], g.packed...), payload...)
	return g.j.sort(g.j.titles, titleKey(uint32(title), rank, nth, seq), g.buf)
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

// again counts an exact duplicate of a row. A second row with other content goes to Config.Bad.
func (j *Joiner) again(first, second *row) error {
	if first.text == second.text {
		j.drop("rows that repeat another", 1)
		return nil
	}
	c, t := &j.config, second.table
	key := second.cells[0]
	if t.columns[1].name == "ordering" {
		key += " " + second.cells[1]
	}
	return j.refuse(second, key+" is already at "+c.Place(first.file, first.row, first.line)+
		", with other content than at "+c.Place(second.file, second.row, second.line))
}

// refuse passes a row to Config.Bad.
func (j *Joiner) refuse(r *row, why string) error {
	return j.config.Bad(r.file, r.row, r.line, r.table.json(r), &record.FieldError{Field: r.table.columns[0].name, What: why})
}
