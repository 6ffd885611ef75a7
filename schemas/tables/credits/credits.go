// Package credits implements the table for credit/{id}, for credits that no dump has. A title has hundreds of
// credits, so most IDs in a release are IDs of credits. A response combines the row of the title, the row of the
// person, and the few texts of this table.
//
// # Layout
//
// The table is named Table. Its rows are sorted by ID and stored back to back in section "row":
//
//	12 bytes       id, 24 hexadecimal digits
//	uvarint        length of the rest
//	uvarint        8 times the id of the title, plus 4 for a series, plus the Role
//	uvarint        id of the person
//	uvarint twice  numbers of words: department and job
//	uvarint, text  character
//	uvarint, ...   for a series: number of episodes, and season and number of each as uvarints
//	uvarint, ...   for a series: number of seasons, and each as uvarint
//
// Section "block" has 20 bytes for every 64th row: its ID, and its offset in section "row", 8 bytes in big-endian
// order. Section "word" has the words in order of number, each after its length as uvarint. Words and characters are
// JSON strings without quotes.
package credits

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/reelsplice/reelsplice/schemas/encoding"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/compare"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// Table is the name of the table.
const Table = "credit"

const (
	rowSection   = "row"
	blockSection = "block"
	wordSection  = "word"

	idLen     = 12
	blockRows = 64 // rows per entry of section "block"
	blockLen  = idLen + 8
	maxRow    = 1 << 24 // maximum bytes of a row after its id, to detect damage
)

// A Role is the type of a credit. Values are stored in files.
type Role uint8

// The types of credits.
const (
	Cast    Role = 1
	Crew    Role = 2
	Creator Role = 3
)

var roleNames = [...]string{Cast: "cast", Crew: "crew", Creator: "creator"}

// String returns the value of credit_type.
func (r Role) String() string { return roleNames[r] }

// A Credit is one person's part in one title. Its texts are JSON strings without quotes.
type Credit struct {
	Role                       Role
	Kind                       fragment.Kind // kind of the title: movie or tv
	Title, Person              uint64
	Department, Job, Character []byte
	parts                      []byte // encoded episodes and seasons of a series
}

// An Episode of the series of a credit.
type Episode struct{ Season, Number uint32 }

// Parts calls episode with each episode of the credit, then season with each season. It stops at and returns the
// first error.
func (c *Credit) Parts(episode func(i int, e Episode) error, season func(i int, n uint32) error) error {
	r := encoding.NewReader(c.parts)
	for i := range r.Count(2) {
		e := Episode{uint32(r.Uvarint()), uint32(r.Uvarint())}
		if err := episode(i, e); err != nil {
			return err
		}
	}
	for i := range r.Count(1) {
		if err := season(i, uint32(r.Uvarint())); err != nil {
			return err
		}
	}
	return r.Err()
}

// A Spec is a Credit to write.
type Spec struct {
	Credit
	Episodes []Episode // for a series
	Seasons  []uint32  // for a series
}

// Append appends the credit in the form for Writer.Add.
func (s *Spec) Append(dst []byte) []byte {
	dst = encoding.AppendText(encoding.AppendText(dst, s.Department), s.Job)
	head := s.Title<<3 | uint64(s.Role)
	if s.Kind == fragment.KindTV {
		head |= 4
	}
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, head), s.Person)
	dst = encoding.AppendText(dst, s.Character)
	if s.Kind != fragment.KindTV {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.Episodes)))
	for _, e := range s.Episodes {
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(e.Season)), uint64(e.Number))
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.Seasons)))
	for _, n := range s.Seasons {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return dst
}

// A Writer writes the table.
type Writer struct {
	sink   posting.Sink
	rows   io.Writer
	off    uint64
	n      int
	blocks []byte
	words  map[string]uint64
	text   []byte // encoded words
	buf    []byte
	tail   []byte
}

// NewWriter starts the table.
func NewWriter(s posting.Sink) *Writer {
	return &Writer{sink: s, rows: s.Section(rowSection), words: map[string]uint64{}}
}

// Add adds the credit with an ID of idLen bytes; IDs ascend. credit is the output of Spec.Append.
func (w *Writer) Add(id, credit []byte) error {
	r := encoding.NewReader(credit)
	department, job := r.Bytes(), r.Bytes()
	head, person := r.Uvarint(), r.Uvarint()
	if err := r.Err(); err != nil {
		return fmt.Errorf("credit %x: %w", id, err)
	}
	t := binary.AppendUvarint(binary.AppendUvarint(w.tail[:0], head), person)
	t = binary.AppendUvarint(binary.AppendUvarint(t, w.word(department)), w.word(job))
	w.tail = append(t, r.Rest()...)
	if w.n%blockRows == 0 {
		w.blocks = binary.BigEndian.AppendUint64(append(w.blocks, id...), w.off)
	}
	w.n++
	w.buf = append(binary.AppendUvarint(append(w.buf[:0], id...), uint64(len(w.tail))), w.tail...)
	w.off += uint64(len(w.buf))
	_, err := w.rows.Write(w.buf)
	return err
}

// word returns the number of a word, adding it if it is new.
func (w *Writer) word(text []byte) uint64 {
	n, ok := w.words[string(text)]
	if !ok {
		n = uint64(len(w.words))
		w.words[string(text)] = n
		w.text = encoding.AppendText(w.text, text)
	}
	return n
}

// Close writes the other sections.
func (w *Writer) Close() error {
	_, err := w.sink.Section(blockSection).Write(w.blocks)
	_, wordErr := w.sink.Section(wordSection).Write(w.text)
	return errors.Join(err, wordErr)
}

// Find returns the credit with an ID of 24 lower-case hex digits; false if r has none. It panics on damage: see
// release.Guard. The error matches release.ErrCorrupt. The texts of c are slices of the mapping.
func Find(r *release.Reader, id []byte) (c Credit, ok bool, err error) {
	var key [idLen]byte
	if len(id) != 2*idLen || bytes.ContainsAny(id, "ABCDEF") {
		return c, false, nil
	}
	if _, err := hex.Decode(key[:], id); err != nil {
		return c, false, nil //nolint:nilerr // no credit has such an id
	}
	t := tableOf(r)
	if t == nil {
		return c, false, nil
	}
	row, err := find(t, key[:])
	if row == nil || err != nil {
		return c, false, err
	}
	words, _ := t.View(wordSection)
	c, err = parse(row, words)
	return c, err == nil, err
}

// tableOf returns the table of r; nil if it or one of its sections is missing.
func tableOf(r *release.Reader) *release.Table {
	if t, ok := r.Table(Table); ok && t.Has(rowSection, blockSection, wordSection) {
		return t
	}
	return nil
}

// find returns the row of an ID, after its length, or nil.
func find(t *release.Table, id []byte) ([]byte, error) {
	blocks, _ := t.View(blockSection)
	rows, _ := t.View(rowSection)
	n := blocks.Len() / blockLen
	block := func(i int) []byte { return blocks.Bytes(uint64(i*blockLen), uint64((i+1)*blockLen)) }
	i := sort.Search(n, func(i int) bool { return bytes.Compare(block(i)[:idLen], id) > 0 }) - 1
	if i < 0 {
		return nil, nil
	}
	from, to := binary.BigEndian.Uint64(block(i)[idLen:]), uint64(rows.Len())
	if i+1 < n {
		to = binary.BigEndian.Uint64(block(i + 1)[idLen:])
	}
	if from > to || to > uint64(rows.Len()) || to-from > blockRows*maxRow {
		return nil, corrupt("block %d lies from %d to %d of %d bytes", i, from, to, rows.Len())
	}
	for r := encoding.NewReader(rows.Bytes(from, to)); r.Len() > 0; {
		rowID, row := r.Take(idLen), r.Bytes()
		if err := r.Err(); err != nil {
			return nil, corrupt("block %d: %w", i, err)
		}
		if bytes.Equal(rowID, id) {
			return row, nil
		}
	}
	return nil, nil
}

// parse parses a row, after its ID and length.
func parse(row []byte, words release.View) (c Credit, err error) {
	r := encoding.NewReader(row)
	head := r.Uvarint()
	c.Role, c.Kind, c.Title, c.Person = Role(head&3), fragment.KindMovie, head>>3, r.Uvarint()
	if head&4 != 0 {
		c.Kind = fragment.KindTV
	}
	department, job := r.Uvarint(), r.Uvarint()
	c.Character = r.Bytes()
	c.parts = r.Rest()
	if err := r.Err(); err != nil || c.Role == 0 {
		return c, corrupt("a row is truncated or has no role")
	}
	text := encoding.NewReader(words.Bytes(0, uint64(words.Len())))
	for n := uint64(0); text.Len() > 0 && n <= max(department, job); n++ {
		word := text.Bytes()
		if n == department {
			c.Department = word
		}
		if n == job {
			c.Job = word
		}
	}
	if c.Department == nil || c.Job == nil || text.Err() != nil {
		return c, corrupt("word %d or %d is missing", department, job)
	}
	return c, nil
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: table %s: "+format, append([]any{release.ErrCorrupt, Table}, args...)...)
}

// A cursor reads all credits of a release in order of ID. It checks that IDs ascend and that rows are complete.
type cursor struct {
	rows   encoding.Reader
	words  release.View
	total  int    // rows of the table
	n      int    // rows read
	id     []byte // ID of the current row; nil after the last
	credit Credit
}

// newCursor returns a cursor before the first credit of r.
func newCursor(r *release.Reader) *cursor {
	t := tableOf(r)
	if t == nil {
		return &cursor{rows: encoding.NewReader(nil)}
	}
	rows, _ := t.View(rowSection)
	words, _ := t.View(wordSection)
	return &cursor{rows: encoding.NewReader(rows.Bytes(0, uint64(rows.Len()))), words: words, total: t.Rows()}
}

// next reads the next credit; c.id is nil after the last one.
func (c *cursor) next() (err error) {
	if c.rows.Len() == 0 {
		c.id = nil
		if c.n != c.total {
			return corrupt("%d rows, its header has %d", c.n, c.total)
		}
		return nil
	}
	id, row := c.rows.Take(idLen), c.rows.Bytes()
	if c.rows.Err() != nil || bytes.Compare(id, c.id) <= 0 {
		return corrupt("row %d is truncated or not in order", c.n)
	}
	c.id, c.n = id, c.n+1
	if c.credit, err = parse(row, c.words); err != nil {
		return fmt.Errorf("credit %x: %w", id, err)
	}
	return nil
}

// Each calls fn with all credits of r in order of ID. It stops at and returns the first error of fn.
func Each(r *release.Reader, fn func(id []byte, c *Credit) error) error {
	c := newCursor(r)
	for {
		if err := c.next(); err != nil || c.id == nil {
			return err
		}
		if err := fn(c.id, &c.credit); err != nil {
			return fmt.Errorf("credit %x: %w", c.id, err)
		}
	}
}

// Compare calls fn with the ID, 24 hex digits, of each credit that differs between an earlier and a later release, in
// order of ID. The rows of title and person do not count: caches track them by their own tags.
func Compare(a, b *release.Reader, fn func(change compare.Change, id string) error) error {
	x, y := newCursor(a), newCursor(b)
	if err := errors.Join(x.next(), y.next()); err != nil {
		return err
	}
	for x.id != nil || y.id != nil {
		order := bytes.Compare(x.id, y.id)
		change, id := compare.Changed, x.id
		switch {
		case x.id == nil || y.id != nil && order > 0:
			change, id, order = compare.Created, y.id, 1
		case y.id == nil || order < 0:
			change, order = compare.Deleted, -1
		}
		if order != 0 || !x.credit.equals(&y.credit) {
			if err := fn(change, hex.EncodeToString(id)); err != nil {
				return err
			}
		}
		var err error
		if order <= 0 {
			err = x.next()
		}
		if order >= 0 {
			err = errors.Join(err, y.next())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// equals reports whether two credits are equal.
func (c *Credit) equals(o *Credit) bool {
	return c.Role == o.Role && c.Kind == o.Kind && c.Title == o.Title && c.Person == o.Person &&
		bytes.Equal(c.Department, o.Department) && bytes.Equal(c.Job, o.Job) &&
		bytes.Equal(c.Character, o.Character) && bytes.Equal(c.parts, o.parts)
}

// Check reads all credits. For those whose number, from 0, is mine, it checks that Find returns them and that r has
// their resources.
func Check(ctx context.Context, r *release.Reader, mine func(n int) bool) error {
	exists := func(i release.Include) error {
		if _, ok := r.Include(i); !ok {
			return corrupt("%s is missing", i)
		}
		return nil
	}
	t, n := tableOf(r), -1
	return Each(r, func(id []byte, c *Credit) error {
		if n++; !mine(n) {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if found, err := find(t, id); err != nil || found == nil {
			return errors.Join(corrupt("its id leads elsewhere"), err)
		}
		err := errors.Join(exists(c.TitleRow()), exists(c.PersonRow()))
		if err != nil || c.Kind != fragment.KindTV {
			return err
		}
		return c.Parts(func(_ int, e Episode) error { return exists(c.EpisodeRow(e)) }, func(_ int, n uint32) error { return exists(c.SeasonRow(n)) })
	})
}

// TitleRow returns the include of the title's row.
func (c *Credit) TitleRow() release.Include {
	return release.Include{Kind: c.Kind, ID: c.Title, Sub: fragment.SubMediaRow}
}

// PersonRow returns the include of the person's row.
func (c *Credit) PersonRow() release.Include {
	return release.Include{Kind: fragment.KindPerson, ID: c.Person, Sub: fragment.SubMediaRow}
}

// EpisodeRow returns the include of an episode's row.
func (c *Credit) EpisodeRow(e Episode) release.Include {
	return release.Include{Kind: fragment.KindEpisode, ID: c.Title, Season: e.Season, Episode: e.Number, Sub: fragment.SubMediaRow}
}

// SeasonRow returns the include of a season's row.
func (c *Credit) SeasonRow(n uint32) release.Include {
	return release.Include{Kind: fragment.KindSeason, ID: c.Title, Season: n, Sub: fragment.SubMediaRow}
}
