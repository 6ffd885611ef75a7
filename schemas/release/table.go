package release

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/reelsplice/reelsplice/schemas/file"
)

// Limits of tables.
const (
	maxTableName   = 32   // bytes of the name of a table
	maxSectionName = 24   // bytes of the name of a section
	maxSections    = 4096 // sections of a table
)

const tablePrefix = "table-"

// Layout of an entry of the section list.
const (
	sectionLen  = 40
	sectionName = 0
	sectionOff  = 24
	sectionSize = 32

	// usualList is the largest section list that builders write, in bytes.
	usualList = 4 << 10

	// sectionAlign divides the offsets of sections: a cache line.
	sectionAlign = 64
)

// The counts of the footer of a table.
const (
	tableSections = 0
	tableRows     = 1
	tableList     = 2 // offset of the section list
)

// TableName returns the name of the table in a file of a release; false for other files.
func TableName(file string) (string, bool) {
	name, ok := strings.CutPrefix(file, tablePrefix)
	if !ok || !validName(name, maxTableName) {
		return "", false
	}
	return name, true
}

// validName reports whether name has 1 to limit lower-case letters, digits, dots and underscores, which are safe in
// file names.
func validName(name string, limit int) bool {
	return name != "" && len(name) <= limit && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_.") == ""
}

// A TableWriter writes one table: consecutive named sections. It is for one goroutine; writers of different tables
// are independent.
type TableWriter struct {
	out      *fileWriter
	name     string
	rows     uint64
	sections []section
	err      error
	file     *File // set by Close
}

type section struct {
	name      string
	off, size int64
}

// CreateTable starts a table in the folder dir of an unfinished release. The caller defines the meaning of rows.
// Names consist of lower-case letters, digits, "_" and ".". A private file, for account data, is readable only by its
// owner.
func CreateTable(dir, name string, rows int, private bool) (*TableWriter, error) {
	if !validName(name, maxTableName) {
		return nil, fmt.Errorf("start table %q: want 1 to %d lower-case letters, digits, dots or underscores", name, maxTableName)
	}
	if rows < 0 {
		return nil, fmt.Errorf("start table %q: %d rows", name, rows)
	}
	mode := fs.FileMode(0o666) // less the umask, like os.Create
	if private {
		mode = 0o600
	}
	out, err := createFile(filepath.Join(dir, tablePrefix+name), tableMagic, mode)
	if err != nil {
		return nil, fmt.Errorf("start table: %w", err)
	}
	return &TableWriter{out: out, name: name, rows: uint64(rows)}, nil
}

// Section starts the next section and returns its writer, valid until the next one starts or the table closes. The
// writer and Close return errors.
func (t *TableWriter) Section(name string) io.Writer {
	switch {
	case t.file != nil:
		t.fail(fmt.Errorf("section %q: the table is closed", name))
	case !validName(name, maxSectionName):
		t.fail(fmt.Errorf("section %q: want 1 to %d lower-case letters, digits, dots or underscores", name, maxSectionName))
	case len(t.sections) == maxSections:
		t.fail(fmt.Errorf("section %q: more than %d", name, maxSections))
	case slices.ContainsFunc(t.sections, func(s section) bool { return s.name == name }):
		t.fail(fmt.Errorf("section %q: it exists already", name))
	}
	t.pad(sectionAlign)
	t.sections = append(t.sections, section{name: name, off: int64(t.out.off)})
	return sectionWriter{t, len(t.sections) - 1}
}

// A sectionWriter writes one section of t.
type sectionWriter struct {
	t *TableWriter
	i int
}

// Write appends b to the section.
func (s sectionWriter) Write(b []byte) (int, error) {
	if s.i != len(s.t.sections)-1 {
		s.t.fail(fmt.Errorf("section %q: another one has been started", s.t.sections[s.i].name))
	}
	s.t.write(b)
	if s.t.err != nil {
		return 0, s.t.err
	}
	s.t.sections[s.i].size += int64(len(b))
	return len(b), nil
}

func (t *TableWriter) fail(err error) {
	if t.err == nil {
		t.err = fmt.Errorf("write table %q: %w", t.name, err)
	}
}

func (t *TableWriter) write(b []byte) {
	if t.err != nil {
		return
	}
	if _, err := t.out.Write(b); err != nil {
		t.fail(err)
	}
}

// pad writes zeros up to a multiple of n.
func (t *TableWriter) pad(n uint64) { t.write(make([]byte, (n-t.out.off%n)%n)) }

// Close completes the table and syncs its file. A second call returns the same.
func (t *TableWriter) Close() error {
	if t.file != nil {
		return t.err
	}
	t.file = &File{}
	t.pad(sectionAlign)
	counts := FileCounts{tableSections: uint64(len(t.sections)), tableRows: t.rows, tableList: t.out.off}
	for _, s := range t.sections {
		var b [sectionLen]byte
		copy(b[sectionName:], s.name)
		le.PutUint64(b[sectionOff:], uint64(s.off))
		le.PutUint64(b[sectionSize:], uint64(s.size))
		t.write(b[:])
	}
	f, err := t.out.finish(counts)
	if err != nil {
		t.fail(err)
	}
	t.file = &f
	return t.err
}

// SetRows sets the number of rows, if it was unknown at the start.
func (t *TableWriter) SetRows(n int) { t.rows = uint64(n) }

// File describes the file of a closed table.
func (t *TableWriter) File() File { return *t.file }

// A Table is a file of a release with named sections. Its bytes are slices of the mapping: read-only, and valid until
// the Reader closes.
type Table struct {
	m        *Mapping
	rows     int
	sections []section // ascending by name
}

// Rows returns the number of rows set by the builder.
func (t *Table) Rows() int { return t.rows }

// Section returns the bytes of a section, at a multiple of 64 in the file; nil if it is absent. The first use checks
// all of it.
func (t *Table) Section(name string) []byte {
	v, _ := t.View(name)
	return v.Bytes(0, uint64(v.Len()))
}

// Has reports whether the table has all of the sections. They may still be damaged.
func (t *Table) Has(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return t.find(name) == nil })
}

// View returns a section for readers that need little of it; false if it is absent.
func (t *Table) View(name string) (View, bool) {
	s := t.find(name)
	if s == nil {
		return View{}, false
	}
	return View{data: t.m.data[s.off:][:s.size:s.size], m: t.m, off: uint64(s.off)}, true
}

// A View is bytes that are checked on use. The zero View is empty.
type View struct {
	data []byte
	m    *Mapping // nil for bytes outside a release
	off  uint64   // in m
}

// ViewOf returns a View of bytes outside a release.
func ViewOf(b []byte) View { return View{data: b} }

// Len returns the number of bytes.
func (v View) Len() int { return len(v.data) }

// Bytes returns the checked bytes from one offset up to another. It panics unless from <= to <= Len().
func (v View) Bytes(from, to uint64) []byte {
	b := v.data[from:to:to]
	if v.m != nil && len(b) > 0 {
		v.m.checkAll(v.off+from, to-from)
	}
	return b
}

// Unchecked is Section without a check. A SectionCheck must run before the bytes are used.
func (t *Table) Unchecked(name string) []byte {
	v, _ := t.View(name)
	return v.data
}

// A SectionCheck checks sections whose bytes its owner retains. The zero value is for bytes outside a release.
type SectionCheck struct {
	t     *Table
	names []string
	done  atomic.Uint64 // damage events at the last check, plus one; 0 before
}

// Add adds a section of t, which may be nil, before the first Check.
func (c *SectionCheck) Add(t *Table, name string) {
	if t != nil {
		c.t, c.names = t, append(c.names, name)
	}
}

// Len returns the length of the sections in bytes.
func (c *SectionCheck) Len() (n int64) {
	for _, name := range c.names {
		n += int64(len(c.t.Unchecked(name)))
	}
	return n
}

// Check checks the sections like Table.Section: the first time, and again after new damage. Otherwise it takes a
// nanosecond.
func (c *SectionCheck) Check() {
	if c.t == nil {
		return
	}
	now := c.t.m.r.damage.events.Load() + 1
	if c.done.Load() == now {
		return
	}
	for _, name := range c.names {
		c.t.Section(name)
	}
	c.done.Store(now)
}

// find returns a section; nil if it is absent.
func (t *Table) find(name string) *section {
	i, ok := slices.BinarySearchFunc(t.sections, name, func(s section, name string) int { return cmp.Compare(s.name, name) })
	if !ok {
		return nil
	}
	return &t.sections[i]
}

// Sections returns the names of the sections, ascending.
func (t *Table) Sections() []string {
	names := make([]string, len(t.sections))
	for i := range t.sections {
		names[i] = t.sections[i].name
	}
	return names
}

// Table returns the table with that name. It takes constant time and does not allocate.
func (r *Reader) Table(name string) (*Table, bool) {
	t, ok := r.tables[name]
	return t, ok
}

// addTable reads the header and the section list of a table.
func (r *Reader) addTable(m *Mapping) error {
	if err := m.parse(tableMagic); err != nil {
		return err
	}
	data := m.data
	t := &Table{m: m, rows: int(m.counts[tableRows])}
	if t.rows < 0 {
		return Corrupt(m.name, -1, "%d rows", m.counts[tableRows])
	}
	n, list := m.counts[tableSections], m.counts[tableList]
	if n > maxSections || list%sectionAlign != 0 || list < HeaderLen || list+n*sectionLen != uint64(len(data)) {
		return Corrupt(m.name, -1, "%d sections listed at %d do not fit into %d bytes", n, list, len(data))
	}
	m.checkAll(list, n*sectionLen)
	end := int64(HeaderLen) // end of the previous section
	for i := range n {
		off := list + i*sectionLen
		b := data[off : off+sectionLen]
		s := section{
			name: string(bytes.TrimRight(b[sectionName:sectionOff], "\x00")),
			off:  int64(le.Uint64(b[sectionOff:])), size: int64(le.Uint64(b[sectionSize:])),
		}
		if !validName(s.name, maxSectionName) || s.off < end || s.off%sectionAlign != 0 || s.off > int64(list) || s.size < 0 || s.size > int64(list)-s.off {
			return Corrupt(m.name, int64(off), "section %q at %d of %d bytes: want a name, and bytes after the previous section", s.name, s.off, s.size)
		}
		t.sections = append(t.sections, s)
		end = s.off + s.size
		// Readers verify a section's type and completeness by its first and last bytes.
		const endLen = 64
		file.Fetch(data[s.off:min(s.off+endLen, end)])
		file.Fetch(data[max(s.off, end-endLen):end])
	}
	slices.SortFunc(t.sections, func(a, b section) int { return cmp.Compare(a.name, b.name) })
	for i := 1; i < len(t.sections); i++ {
		if t.sections[i].name == t.sections[i-1].name {
			return Corrupt(m.name, int64(list), "two sections are called %q", t.sections[i].name)
		}
	}
	r.tables[strings.TrimPrefix(m.name, tablePrefix)] = t
	return nil
}
