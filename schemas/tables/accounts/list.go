package accounts

import (
	"cmp"
	"io"
	"slices"
	"sort"

	"github.com/reelsplice/reelsplice/schemas/encoding"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// A Title is a title, or an episode of a series, on a user's list or shelf.
type Title struct {
	Kind            fragment.Kind // movie, tv or episode
	ID              uint64        // for an episode, the ID of its series
	Season, Episode uint32        // for an episode
}

func (t Title) compare(o Title) int {
	return cmp.Or(cmp.Compare(t.Kind, o.Kind), cmp.Compare(t.ID, o.ID), cmp.Compare(t.Season, o.Season), cmp.Compare(t.Episode, o.Episode))
}

// A Text is a part of a list's responses, written by the builder, in order.
type Text int

// The texts of a list. A response of version 3 is Head3, the rows, Middle3, the page number, End3, the numbers of
// pages and rows, and a brace. A response of version 4 is analogous, with the comments after its rows. A row of
// version 3 is RowHead, RowCountry and RowType as the response requires, and RowEnd.
const (
	Head3      Text = iota // {"created_by":...,"items":[
	Middle3                // ],"name":...,"page":
	End3                   // ,"poster_path":...,"total_pages":
	Head4                  // {"average_rating":...,"results":[
	Middle4                // },"created_by":...,"page":
	End4                   // ,"poster_path":...,"total_pages":
	RowHead                // {"description":...,"iso_639_1":...
	RowCountry             // ,"iso_3166_1":...
	RowType                // ,"list_type":...
	RowEnd                 // ,"name":...,"poster_path":...}
	Row4                   // the list as a row of account/{id}/lists of version 4
	texts
)

// A Sort is an order of the items of a list. Values are stored in files.
type Sort uint8

// The orders. Equal items come in the order in which they were added; Descending reverses the whole list.
const (
	Original    Sort = 0
	VoteAverage Sort = 1
	ReleaseDate Sort = 2 // for series, the first air date; primary_release_date is the same
	Name        Sort = 3
	sorts       Sort = 4

	// Descending is a flag of any order.
	Descending Sort = 16
)

// SortNames has the names that ParseSort accepts, without directions.
var SortNames = [...]struct {
	Name string
	Sort Sort
}{
	{"original_order", Original},
	{"vote_average", VoteAverage},
	{"primary_release_date", ReleaseDate},
	{"release_date", ReleaseDate},
	{"title", Name},
}

// ParseSort parses a name such as "title.desc". Without a direction, it ascends.
func ParseSort[T string | []byte](text T) (Sort, bool) {
	for _, s := range SortNames {
		if len(text) < len(s.Name) || string(text[:len(s.Name)]) != s.Name {
			continue
		}
		switch string(text[len(s.Name):]) {
		case "", ".asc":
			return s.Sort, true
		case ".desc":
			return s.Sort | Descending, true
		}
	}
	return 0, false
}

// Bounds and offsets of a block of a list.
const (
	listItems   = 0  // number of items
	listFlags   = 4  // bit 0: private
	listOwner   = 8  // row of its author's account, from 1; 0 for none
	listSort    = 12 // the default order of version 4
	listEnds    = 16 // end of each text, and of the comments
	listHeadLen = (listEnds + 4*(int(texts)+1) + 7) &^ 7

	itemLen     = 16 // the key of the title, then offset and length of its comment
	itemComment = 8

	flagPrivate = 1
)

// A ListItem is a title to write to a list.
type ListItem struct {
	Title   Title
	Comment string // JSON text; "" for none
	// Numbers in the order of the values that lists are sorted by.
	Vote, Date, Name int64
}

// ListSpec is a list to write.
type ListSpec struct {
	Private bool
	Owner   int // row of an account; -1 for none
	Sort    Sort
	Texts   [texts]string
	Items   []ListItem // movies and series, each once
}

// A ListWriter writes the table of lists, in ascending order of ID.
type ListWriter struct {
	data    io.Writer
	ids     []uint64
	offsets []uint64
	off     uint64
	buf     []byte
}

// NewListWriter starts the table. Write nothing else to s before Close.
func NewListWriter(s posting.Sink) *ListWriter { return &ListWriter{data: s.Section(dataSection)} }

// Add writes a list.
func (w *ListWriter) Add(id uint64, l *ListSpec) error {
	w.ids, w.offsets = append(w.ids, id), append(w.offsets, w.off)
	w.buf = pad(appendList(w.buf[:0], l))
	w.off += uint64(len(w.buf))
	_, err := w.data.Write(w.buf)
	return err
}

// Close writes the other sections.
func (w *ListWriter) Close(s posting.Sink) error {
	if err := posting.Write(s, idSection, w.ids); err != nil {
		return err
	}
	return posting.Write(s, atSection, append(w.offsets, w.off))
}

// Key returns the key of a movie or a series in the table of lists.
func (t Title) Key() uint64 {
	if t.Kind == fragment.KindTV {
		return t.ID<<1 | 1
	}
	return t.ID << 1
}

// maxTitleID is the highest ID that fits into a key.
const maxTitleID = 1<<63 - 1

func unpackKey(k uint64) Title {
	if k&1 != 0 {
		return Title{Kind: fragment.KindTV, ID: k >> 1}
	}
	return Title{Kind: fragment.KindMovie, ID: k >> 1}
}

func appendList(dst []byte, l *ListSpec) []byte {
	start := len(dst)
	flags, owner := uint32(0), uint32(l.Owner+1)
	if l.Private {
		flags = flagPrivate
	}
	dst = le.AppendUint32(dst, uint32(len(l.Items)))
	dst = le.AppendUint32(dst, flags)
	dst = le.AppendUint32(dst, owner)
	dst = le.AppendUint32(dst, uint32(l.Sort))
	end := 0
	for _, t := range l.Texts {
		end += len(t)
		dst = le.AppendUint32(dst, uint32(end))
	}
	comments := 0
	for i := range l.Items {
		comments += len(l.Items[i].Comment)
	}
	dst = le.AppendUint32(dst, uint32(end+comments))
	dst = append(dst, make([]byte, start+listHeadLen-len(dst))...)
	for i := range l.Items {
		item := &l.Items[i]
		dst = le.AppendUint64(dst, item.Title.Key())
		dst = le.AppendUint32(dst, uint32(end))
		dst = le.AppendUint32(dst, uint32(len(item.Comment)))
		end += len(item.Comment)
	}
	for _, value := range []func(item *ListItem) int64{
		func(item *ListItem) int64 { return item.Vote },
		func(item *ListItem) int64 { return item.Date },
		func(item *ListItem) int64 { return item.Name },
		func(item *ListItem) int64 { return int64(item.Title.Key()) },
	} {
		dst = appendOrder(dst, len(l.Items), func(a, b int) int { return cmp.Compare(value(&l.Items[a]), value(&l.Items[b])) })
	}
	for _, t := range l.Texts {
		dst = append(dst, t...)
	}
	for i := range l.Items {
		dst = append(dst, l.Items[i].Comment...)
	}
	return dst
}

// appendOrder appends the numbers below n in the order of compare.
func appendOrder(dst []byte, n int, compare func(a, b int) int) []byte {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, compare)
	for _, i := range order {
		dst = le.AppendUint32(dst, uint32(i))
	}
	return dst
}

// Lists is the table of lists. The zero value is empty.
type Lists struct {
	ids posting.Uint64s
	blocks
	titles holding
}

// OpenLists opens the table. Without its first three sections it is empty; without the others, no title has lists.
func OpenLists(s Source) (Lists, error) {
	if !posting.Has(s, idSection, atSection, dataSection) {
		return Lists{}, nil
	}
	ids, err := posting.OpenUint64s(s, idSection, s.Rows())
	if err != nil {
		return Lists{}, err
	}
	b, err := openBlocks(s)
	if err != nil {
		return Lists{}, err
	}
	var titles holding
	if posting.Has(s, titleSection, titleAtSection, titleListsSection) {
		titles, err = openHolding(s)
	}
	return Lists{ids, b, titles}, err
}

// Find returns the list with an ID; false if it is absent.
func (l *Lists) Find(id uint64) (List, bool, error) {
	i, ok := l.ids.Find(id)
	if !ok {
		return List{}, false, nil
	}
	list, err := l.list(i)
	return list, err == nil, err
}

// list returns the list in a row.
func (l *Lists) list(row int) (List, error) {
	b, err := l.block(row)
	if err != nil {
		return List{}, err
	}
	list, err := parseList(b)
	list.ID = l.ids.At(row)
	return list, err
}

// A List is a user's list. Its bytes are slices of the mapping.
type List struct {
	ID     uint64
	head   []byte
	items  []byte
	orders [sorts]posting.Uint32s // Original: by key
	text   []byte
}

func parseList(b []byte) (l List, err error) {
	in := encoding.NewReader(b)
	l.head = in.Take(uint64(listHeadLen))
	if in.Err() != nil {
		return List{}, corrupt("a list of %d bytes", len(b))
	}
	n := uint64(le.Uint32(l.head[listItems:]))
	l.items = in.Take(n * itemLen)
	for _, s := range []Sort{VoteAverage, ReleaseDate, Name, Original} {
		l.orders[s] = in.Take(n * 4)
	}
	l.text = in.Rest()
	end, last := uint32(0), uint32(len(l.text))
	for i := range int(texts) + 1 {
		next := le.Uint32(l.head[listEnds+4*i:])
		if next < end || next > last {
			in.Fail()
		}
		end = next
	}
	if in.Err() != nil {
		return List{}, corrupt("a list of %d items in %d bytes", n, len(b))
	}
	return l, nil
}

// Len returns the number of items.
func (l *List) Len() int { return len(l.items) / itemLen }

// Private reports whether only its owner may see the list.
func (l *List) Private() bool { return le.Uint32(l.head[listFlags:])&flagPrivate != 0 }

// OwnedBy reports whether the account in a row is the author of the list.
func (l *List) OwnedBy(row int) bool {
	return row >= 0 && uint64(le.Uint32(l.head[listOwner:])) == uint64(row)+1
}

// Sort returns the default order of version 4.
func (l *List) Sort() Sort { return Sort(l.head[listSort]) }

// Text returns a text of the list.
func (l *List) Text(t Text) []byte {
	from := uint32(0)
	if t > 0 {
		from = le.Uint32(l.head[listEnds+4*(int(t)-1):])
	}
	to := le.Uint32(l.head[listEnds+4*int(t):])
	return l.text[from:to:to]
}

// Item returns the title at a place of an order, and its comment as JSON text, empty if it has none.
func (l *List) Item(s Sort, place int) (t Title, comment []byte, err error) {
	n := l.Len()
	if s&Descending != 0 {
		place = n - 1 - place
	}
	i := place
	if s &^= Descending; s != Original {
		if s >= sorts || place < 0 || place >= n {
			return t, nil, corrupt("place %d of %d, order %d", place, n, s)
		}
		i = int(l.orders[s].At(place))
	}
	if i < 0 || i >= n {
		return t, nil, corrupt("item %d of %d", i, n)
	}
	b := l.items[itemLen*i:]
	from, size := uint64(le.Uint32(b[itemComment:])), uint64(le.Uint32(b[itemComment+4:]))
	if from+size > uint64(len(l.text)) {
		return t, nil, corrupt("a comment from %d to %d in %d bytes", from, from+size, len(l.text))
	}
	return unpackKey(le.Uint64(b)), l.text[from : from+size : from+size], nil
}

// Has reports whether a movie or a series is on the list.
func (l *List) Has(t Title) bool {
	if t.Kind != fragment.KindMovie && t.Kind != fragment.KindTV || t.ID > maxTitleID {
		return false
	}
	n := l.Len()
	_, found := sort.Find(n, func(i int) int {
		p := int(l.orders[Original].At(i))
		if p >= n {
			return 1 // a damaged block: not found
		}
		return cmp.Compare(t.Key(), le.Uint64(l.items[itemLen*p:]))
	})
	return found
}

// A HoldingWriter writes the index from titles to the lists that contain them. It needs 16 bytes of memory per title.
type HoldingWriter struct {
	rows   io.Writer
	keys   []uint64
	starts []uint64 // number of each title's first row
	n      uint64   // rows written
	buf    []byte
}

// NewHoldingWriter starts the sections, after a ListWriter's. Write nothing else to s before Close.
func NewHoldingWriter(s posting.Sink) *HoldingWriter {
	return &HoldingWriter{rows: s.Section(titleListsSection)}
}

// Add adds the row of a public list to the lists of the title with a key. Keys ascend; the lists of a title come in
// the order of its response.
func (w *HoldingWriter) Add(key uint64, row uint32) error {
	if n := len(w.keys); n == 0 || w.keys[n-1] != key {
		w.keys, w.starts = append(w.keys, key), append(w.starts, w.n)
	}
	w.n++
	w.buf = le.AppendUint32(w.buf[:0], row)
	_, err := w.rows.Write(w.buf)
	return err
}

// Close writes the other sections.
func (w *HoldingWriter) Close(s posting.Sink) error {
	if err := posting.Write(s, titleSection, w.keys); err != nil {
		return err
	}
	return posting.Write(s, titleAtSection, append(w.starts, w.n))
}

// holding is the index from titles to lists.
type holding struct {
	keys   posting.Uint64s
	starts posting.Uint64s
	rows   posting.Uint32s
}

func openHolding(s Source) (holding, error) {
	n := len(s.Section(titleSection)) / 8
	keys, err := posting.OpenUint64s(s, titleSection, n)
	if err != nil {
		return holding{}, err
	}
	starts, err := posting.OpenUint64s(s, titleAtSection, n+1)
	if err != nil {
		return holding{}, err
	}
	rows := s.Section(titleListsSection)
	if len(rows)%4 != 0 || starts.At(n) != uint64(len(rows)/4) {
		return holding{}, corrupt("%d bytes of lists with titles, want 4 for each of %d", len(rows), starts.At(n))
	}
	return holding{keys, starts, rows}, nil
}

// Holding returns the rows of the public lists that contain a movie or a series, by their number of favorites; none
// for other kinds.
func (l *Lists) Holding(t Title) (posting.Uint32s, error) {
	if t.Kind != fragment.KindMovie && t.Kind != fragment.KindTV || t.ID > maxTitleID {
		return nil, nil
	}
	h := &l.titles
	i, ok := h.keys.Find(t.Key())
	if !ok {
		return nil, nil
	}
	from, to := h.starts.At(i), h.starts.At(i+1)
	if from > to || to > uint64(h.rows.Len()) {
		return nil, corrupt("the lists with %s %d have rows %d to %d of %d", t.Kind, t.ID, from, to, h.rows.Len())
	}
	return h.rows[4*from : 4*to : 4*to], nil
}

// Public returns the list in a row from Holding.
func (l *Lists) Public(row uint32) (List, error) {
	list, err := l.list(int(row))
	if err == nil && list.Private() {
		return List{}, corrupt("private list %d is in the index of titles", list.ID)
	}
	return list, err
}
