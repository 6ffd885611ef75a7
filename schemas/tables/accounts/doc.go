// Package accounts has the tables of account data, lists and accounts. The builder writes them
// into a release, the edge maps them and reads them in place. Opening one takes the same time
// at any size, and so does finding a row.
//
// Both tables have their rows as blocks, one behind the other, each from a multiple of 8
// on. All numbers are little-endian.
//
// Table "list", rows ascending by id:
//
//	section   bytes
//	id        8 bytes a row: the id of the list
//	at        8 bytes a row: where its block starts in data; at the end, where the last one ends
//	data      the blocks; see List
//	title     8 bytes a title that any public list holds, ascending: the id times two, and one
//	          more for a series
//	title.at  8 bytes a title: where its lists start in title.lists, counted in rows; at the
//	          end, how many there are
//	title.lists  4 bytes a list: its row. Those of a title are in order of their favorite_count,
//	          descending, then of their id
//
// The last three sections have public lists only; the row of a private one is damage.
//
// Table "account", rows in the order of the catalogue:
//
//	section   bytes
//	key       24 bytes a key, ascending: the first 16 bytes of the SHA-256 of a text that
//	          names an account (its number, its object id, the id of a guest's session),
//	          then the row in 4 bytes, and 4 of zero
//	at, data  as above; see Account
//
// The table of accounts is private: only requests with a session of the account read it, and
// no fragment of a release has any of it.
package accounts

import (
	"encoding/binary"
	"fmt"

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

// A Source is a table as it was mapped: *release.Table.
type Source interface {
	posting.Source
	// Rows returns how many rows the table has.
	Rows() int
	// View returns a section for reads of small parts; false if there is none.
	View(name string) (release.View, bool)
}

// blocks are the blocks of a table.
type blocks struct {
	at   posting.Uint64s
	data release.View
}

func openBlocks(s Source) (blocks, error) {
	at, err := posting.OpenUint64s(s, atSection, s.Rows()+1)
	data, _ := s.View(dataSection)
	return blocks{at, data}, err
}

// block returns a block.
func (b *blocks) block(row int) ([]byte, error) {
	if row < 0 || row+1 >= b.at.Len() {
		return nil, corrupt("row %d of a table of %d", row, b.at.Len()-1)
	}
	from, to := b.at.At(row), b.at.At(row+1)
	if from > to || to > uint64(b.data.Len()) || from%blockAlign != 0 {
		return nil, corrupt("row %d lies from %d to %d in %d bytes", row, from, to, b.data.Len())
	}
	return b.data.Bytes(from, to), nil
}

// blockAlign is what blocks start at multiples of.
const blockAlign = 8

// pad appends zeros up to a multiple of blockAlign from the start of dst on.
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
