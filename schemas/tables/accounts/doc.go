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
