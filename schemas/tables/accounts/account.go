// Package accounts implements the tables of account data: lists and accounts. The builder writes them into a release;
// the edge reads them in the mapping. Opening a table and finding a row take the same time at any size.
//
// In both tables, rows are consecutive blocks, aligned to 8 bytes. All numbers are little-endian.
//
// Table "list", rows ascending by id:
//
//	section   bytes
//	id        8 bytes per row: the id of the list
//	at        8 bytes per row: offset of its block in data; finally, the end of the last block
//	data      the blocks; see List
//	title     8 bytes per title on any public list, ascending: the id times two, plus one
//	          for a series
//	title.at  8 bytes per title: first row of its lists in title.lists; finally, the number
//	          of rows
//	title.lists  4 bytes per list: its row. The lists of a title are sorted by favorite_count,
//	          descending, then by id
//
// The last three sections contain only public lists; the row of a private list is damage.
//
// Table "account", rows in the order of the catalogue:
//
//	section   bytes
//	key       24 bytes per key, ascending: the first 16 bytes of the SHA-256 of a text that
//	          identifies an account (its number, its object id, a guest's session id),
//	          then the row in 4 bytes, and 4 zero bytes
//	at, data  as above; see Account
//
// The table of accounts is private: it is read only for requests with a session of the account, and no fragment
// contains its data.
package accounts

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/reelsplice/reelsplice/schemas/encoding"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// Names of the tables and their sections.
const (
	ListTable    = "list"
	AccountTable = "account"

	idSection   = "id"
	atSection   = "at"
	dataSection = "data"
	keySection  = "key"

	titleSection      = "title"
	titleAtSection    = "title.at"
	titleListsSection = "title.lists"
)

var le = binary.LittleEndian

// A Source is a mapped table: *release.Table.
type Source interface {
	posting.Source
	// Rows returns the number of rows.
	Rows() int
	// View returns a section for reads of small parts; false if it is absent.
	View(name string) (release.View, bool)
}

// blocks are the blocks of a table.
type blocks struct {
	offsets posting.Uint64s
	data    release.View
}

func openBlocks(s Source) (blocks, error) {
	offsets, err := posting.OpenUint64s(s, atSection, s.Rows()+1)
	data, _ := s.View(dataSection)
	return blocks{offsets, data}, err
}

// block returns a block.
func (b *blocks) block(row int) ([]byte, error) {
	if row < 0 || row+1 >= b.offsets.Len() {
		return nil, corrupt("row %d of a table of %d", row, b.offsets.Len()-1)
	}
	from, to := b.offsets.At(row), b.offsets.At(row+1)
	if from > to || to > uint64(b.data.Len()) || from%blockAlign != 0 {
		return nil, corrupt("row %d lies from %d to %d in %d bytes", row, from, to, b.data.Len())
	}
	return b.data.Bytes(from, to), nil
}

// blockAlign is the alignment of blocks.
const blockAlign = 8

// pad appends zeros to dst up to a multiple of blockAlign.
func pad(dst []byte) []byte {
	for len(dst)%blockAlign != 0 {
		dst = append(dst, 0)
	}
	return dst
}

// corrupt returns an error about the bytes of a table.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: table of account data: %s", release.ErrCorrupt, fmt.Sprintf(format, args...))
}

// A Shelf is one of the lists of titles that every account has. Values are stored in files.
type Shelf int

// The shelves.
const (
	FavoriteMovies Shelf = iota
	FavoriteTV
	WatchlistMovies
	WatchlistTV
	RatedMovies
	RatedTV
	RatedEpisodes
	RecommendedMovies
	RecommendedTV
	Shelves
)

// Kind returns the kind of titles on a shelf: movies, series or episodes.
func (s Shelf) Kind() fragment.Kind {
	switch s {
	case RatedEpisodes:
		return fragment.KindEpisode
	case FavoriteTV, WatchlistTV, RatedTV, RecommendedTV:
		return fragment.KindTV
	}
	return fragment.KindMovie
}

// Bounds and offsets of a block of an account.
const (
	accountLists   = 0 // number of lists
	accountDetails = 4 // length of the details
	accountObject  = 8 // 24 hex digits, or zeros
	objectLen      = 24
	accountCounts  = accountObject + objectLen // number of titles on each shelf
	accountHeadLen = (accountCounts + 4*int(Shelves) + 7) &^ 7

	placedID      = 0
	placedSeason  = 8
	placedEpisode = 12
	placedTime    = 16 // milliseconds since 1970; noTime if unknown
	placedValue   = 24
	placedLen     = 32

	keyLen     = 24
	keyHashLen = 16

	noTime = math.MinInt64
)

// A Placed is a title on a shelf.
type Placed struct {
	Title
	Created time.Time // zero if unknown
	Value   float64   // rating
}

// AccountSpec is an account to write.
type AccountSpec struct {
	// Names are the texts that identify it: its number, its object ID, a guest's session ID. Empty ones are ignored.
	Names    []string
	ObjectID string // 24 hex digits; "" for none
	Details  string // the response of account/{id}; "" for a guest
	Lists    []uint64
	Shelves  [Shelves][]Placed // each title once
}

// An AccountWriter writes the table of accounts.
type AccountWriter struct {
	data    io.Writer
	keys    [][keyLen]byte
	offsets []uint64
	off     uint64
	buf     []byte
}

// NewAccountWriter starts the table. Write nothing else to s before Close.
func NewAccountWriter(s posting.Sink) *AccountWriter {
	return &AccountWriter{data: s.Section(dataSection)}
}

// keyOf returns the start of the key of a name.
func keyOf[T string | []byte](name T) [keyHashLen]byte {
	sum := sha256.Sum256([]byte(name))
	return [keyHashLen]byte(sum[:])
}

// Add writes an account. It sorts the shelves of a in place.
func (w *AccountWriter) Add(a *AccountSpec) error {
	row := uint32(len(w.offsets))
	for _, name := range a.Names {
		if name == "" {
			continue
		}
		var key [keyLen]byte
		hash := keyOf(name)
		copy(key[:], hash[:])
		le.PutUint32(key[keyHashLen:], row)
		w.keys = append(w.keys, key)
	}
	w.offsets = append(w.offsets, w.off)
	w.buf = pad(appendAccount(w.buf[:0], a))
	w.off += uint64(len(w.buf))
	_, err := w.data.Write(w.buf)
	return err
}

// Close writes the other sections.
func (w *AccountWriter) Close(s posting.Sink) error {
	slices.SortFunc(w.keys, func(a, b [keyLen]byte) int {
		if c := bytes.Compare(a[:keyHashLen], b[:keyHashLen]); c != 0 {
			return c
		}
		return int(le.Uint32(a[keyHashLen:])) - int(le.Uint32(b[keyHashLen:]))
	})
	out := s.Section(keySection)
	for i := range w.keys {
		if _, err := out.Write(w.keys[i][:]); err != nil {
			return err
		}
	}
	return posting.Write(s, atSection, append(w.offsets, w.off))
}

func appendAccount(dst []byte, a *AccountSpec) []byte {
	start := len(dst)
	dst = le.AppendUint32(dst, uint32(len(a.Lists)))
	dst = le.AppendUint32(dst, uint32(len(a.Details)))
	var object [objectLen]byte
	copy(object[:], a.ObjectID)
	dst = append(dst, object[:]...)
	for s := range a.Shelves {
		dst = le.AppendUint32(dst, uint32(len(a.Shelves[s])))
	}
	dst = append(dst, make([]byte, start+accountHeadLen-len(dst))...)
	for _, id := range a.Lists {
		dst = le.AppendUint64(dst, id)
	}
	for s := range a.Shelves {
		if Shelf(s) < RecommendedMovies { // recommendations are in order of rank
			slices.SortStableFunc(a.Shelves[s], func(a, b Placed) int { return a.Created.Compare(b.Created) })
		}
		for i := range a.Shelves[s] {
			p := &a.Shelves[s][i]
			created := int64(noTime)
			if !p.Created.IsZero() {
				created = p.Created.UnixMilli()
			}
			dst = le.AppendUint64(dst, p.ID)
			dst = le.AppendUint32(dst, p.Season)
			dst = le.AppendUint32(dst, p.Episode)
			dst = le.AppendUint64(dst, uint64(created))
			dst = le.AppendUint64(dst, math.Float64bits(p.Value))
		}
	}
	for s := range a.Shelves {
		shelf := a.Shelves[s]
		dst = appendOrder(dst, len(shelf), func(a, b int) int { return shelf[a].compare(shelf[b].Title) })
	}
	return append(dst, a.Details...)
}

// Accounts is the table of accounts. The zero value is empty.
type Accounts struct {
	keys []byte
	blocks
}

// OpenAccounts opens the table. If one of its sections is missing, it is empty.
func OpenAccounts(s Source) (Accounts, error) {
	if !posting.Has(s, keySection, atSection, dataSection) {
		return Accounts{}, nil
	}
	keys := s.Section(keySection)
	if len(keys)%keyLen != 0 {
		return Accounts{}, corrupt("keys of %d bytes, want a multiple of %d", len(keys), keyLen)
	}
	b, err := openBlocks(s)
	return Accounts{keys, b}, err
}

// Find returns the account with a name: its number, its object ID, or a guest's session ID. It returns false if no
// account or several have that name.
func (a *Accounts) Find(name []byte) (Account, bool, error) {
	hash := keyOf(name)
	n := len(a.keys) / keyLen
	i := sort.Search(n, func(i int) bool { return bytes.Compare(a.keys[keyLen*i:][:keyHashLen], hash[:]) >= 0 })
	matches := func(i int) bool { return i < n && bytes.Equal(a.keys[keyLen*i:][:keyHashLen], hash[:]) }
	if !matches(i) || matches(i+1) {
		return Account{}, false, nil
	}
	row := int(le.Uint32(a.keys[keyLen*i+keyHashLen:]))
	b, err := a.block(row)
	if err != nil {
		return Account{}, false, err
	}
	account, err := parseAccount(b)
	account.Row = row
	return account, err == nil, err
}

// An Account holds the data of a user. Its bytes are slices of the mapping.
type Account struct {
	Row     int // in its table
	head    []byte
	lists   posting.Uint64s
	shelves [Shelves]Placeds
	details []byte
}

// Placeds are the titles on a shelf, in the order of their time. They are a view of the mapping.
type Placeds struct {
	kind  fragment.Kind
	rows  []byte
	order posting.Uint32s // by title
}

func parseAccount(b []byte) (a Account, err error) {
	in := encoding.NewReader(b)
	a.head = in.Take(uint64(accountHeadLen))
	if in.Err() != nil {
		return Account{}, corrupt("an account of %d bytes", len(b))
	}
	a.lists = in.Take(8 * uint64(le.Uint32(a.head[accountLists:])))
	for s := range a.shelves {
		a.shelves[s].kind = Shelf(s).Kind()
		a.shelves[s].rows = in.Take(placedLen * uint64(le.Uint32(a.head[accountCounts+4*s:])))
	}
	for s := range a.shelves {
		a.shelves[s].order = in.Take(4 * uint64(a.shelves[s].Len()))
	}
	a.details = in.Take(uint64(le.Uint32(a.head[accountDetails:])))
	if in.Err() != nil {
		return Account{}, corrupt("an account of %d bytes", len(b))
	}
	return a, nil
}

// Guest reports whether the user has only a session, without an account.
func (a *Account) Guest() bool { return len(a.details) == 0 }

// Details returns the response of account/{id}, empty for a guest.
func (a *Account) Details() []byte { return a.details }

// Lists returns the IDs of the user's lists.
func (a *Account) Lists() posting.Uint64s { return a.lists }

// Shelf returns the titles on a shelf.
func (a *Account) Shelf(s Shelf) Placeds { return a.shelves[s] }

// Len returns the number of titles.
func (p Placeds) Len() int { return len(p.rows) / placedLen }

// At returns a title; it panics if i is out of range.
func (p Placeds) At(i int) Placed {
	b := p.rows[placedLen*i:][:placedLen]
	placed := Placed{
		Title: Title{Kind: p.kind, ID: le.Uint64(b[placedID:]), Season: le.Uint32(b[placedSeason:]), Episode: le.Uint32(b[placedEpisode:])},
		Value: math.Float64frombits(le.Uint64(b[placedValue:])),
	}
	if created := int64(le.Uint64(b[placedTime:])); created != noTime {
		placed.Created = time.UnixMilli(created).UTC()
	}
	return placed
}

// Find returns the entry of a title; false if it is not on the shelf.
func (p Placeds) Find(t Title) (Placed, bool) {
	var found Placed
	_, ok := sort.Find(p.Len(), func(i int) int {
		if i = int(p.order.At(i)); i >= p.Len() {
			return 1 // a damaged block: not found
		}
		found = p.At(i)
		return t.compare(found.Title)
	})
	if !ok {
		return Placed{}, false
	}
	return found, true
}
