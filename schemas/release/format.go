package release

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"reelsplice/schemas/fragment"
)

// FormatVersion is the version that this package writes, and the only one that it reads:
// no release of an earlier one is in use. Version 4 added the file checks.
const FormatVersion = 4

// Limits of the format. The Writer refuses what exceeds them, except for MaxDepth, which
// only a whole release can exceed: see Verify.
const (
	MaxPacks     = 65535   // packs of a release
	MaxPackBytes = 1 << 48 // bytes of a pack, and of 8-byte units of the directory
	MaxFragments = 65535   // fragments of a resource
	MaxPieces    = 65535   // pieces of a fragment
	MaxLiteral   = 65535   // bytes of a literal
	MaxDepth     = 4       // references and includes inside one another
)

// Names of the files of a release.
const (
	manifestFile  = "manifest.json"
	indexFile     = "index"
	directoryFile = "directory"
	packPrefix    = "pack-"
	reportFile    = "report.json"
)

// Magics: the first byte is no ASCII and the end has both kinds of line end, so that
// a transfer as text shows at once.
const (
	indexMagic     = "\x89RSIX\r\n\x1a"
	directoryMagic = "\x89RSDR\r\n\x1a"
	packMagic      = "\x89RSPK\r\n\x1a"
	tableMagic     = "\x89RSTB\r\n\x1a"
	checksMagic    = "\x89RSCK\r\n\x1a"
)

// Layout of a header. FORMAT.md has the same numbers; a test compares them.
const (
	headerLen     = 64
	headerMagic   = 0
	headerVersion = 8
	headerNumber  = 12
	headerFileLen = 16
	headerCounts  = 24
	headerUnused  = 56
	headerCRC     = 60
)

// What the four counts of a header are, by file.
const (
	indexSlots = 0 // slots in the file
	indexKeys  = 1 // slots in use
	indexHomes = 2 // slots that a hash can have as its ideal one
	indexReach = 3 // longest distance between a key's ideal slot and its slot

	directoryBlocks    = 0
	directoryResources = 1
	directoryFragments = 2
	directoryPieces    = 3 // as written: a program that fragments share counts once

	packSegments = 0
	packRawBytes = 1
)

// Layout of the index.
const (
	slotLen     = 8
	slotTagBits = 16
	slotOffBits = 48
)

// Layout of a directory block, and of an entry of its fragment table.
const (
	blockAlign = 8

	blockKeyLen    = 0
	blockType      = 1
	blockFragments = 2
	blockPrograms  = 4
	blockNumber    = 8
	blockKey       = 16
	blockBaseLen   = 8

	fragmentLen     = 12
	fragmentAddress = 0
	fragmentProgram = 8

	wherePackShift = 48
)

// Layout of the part of a segment's facts that has a fixed length.
const (
	factsLen  = 16
	factsCRC  = 0
	factsOp   = 4
	factsHash = 8
)

// Types of directory blocks.
const (
	typeResource = 1
	typeAlias    = 2
	typeStored   = 3 // a resource with segments, and thus with a base
)

var le = binary.LittleEndian

// align returns n rounded up to the alignment of the directory.
func align[T int | int64 | uint64](n T) T { return (n + blockAlign - 1) &^ (blockAlign - 1) }

// A header starts each binary file.
type header struct {
	magic  string
	number uint32 // of a pack, otherwise 0
	length uint64 // of the file, in bytes
	counts [4]uint64
}

// appendTo appends the 64 bytes of h.
func (h *header) appendTo(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, h.magic...)
	dst = le.AppendUint32(dst, FormatVersion)
	dst = le.AppendUint32(dst, h.number)
	dst = le.AppendUint64(dst, h.length)
	for _, c := range h.counts {
		dst = le.AppendUint64(dst, c)
	}
	dst = le.AppendUint32(dst, 0)
	return le.AppendUint32(dst, crc32.ChecksumIEEE(dst[start:]))
}

// parseHeader reads the header of a file whose whole content is data. version is that of
// the manifest.
func parseHeader(file string, data []byte, magic string, version int) (h header, err error) {
	if len(data) < headerLen {
		return h, corrupt(file, int64(len(data)), "file is %d bytes long, a header needs %d", len(data), headerLen)
	}
	if got := string(data[:len(magic)]); got != magic {
		return h, corrupt(file, headerMagic, "magic is %q, want %q", got, magic)
	}
	if v := le.Uint32(data[headerVersion:]); uint64(v) != uint64(version) {
		return h, corrupt(file, headerVersion, "format version is %d, the manifest has %d", v, version)
	}
	if got, want := le.Uint32(data[headerCRC:]), crc32.ChecksumIEEE(data[:headerCRC]); got != want {
		return h, corrupt(file, headerCRC, "CRC of the header is %08x, want %08x", got, want)
	}
	h = header{magic: magic, number: le.Uint32(data[headerNumber:]), length: le.Uint64(data[headerFileLen:])}
	for i := range h.counts {
		h.counts[i] = le.Uint64(data[headerCounts+8*i:])
	}
	if h.length != uint64(len(data)) {
		return h, corrupt(file, headerFileLen, "file is %d bytes long, its header says %d", len(data), h.length)
	}
	return h, nil
}

// packName returns the file name of pack n.
func packName(n int) string { return fmt.Sprintf("%s%05d", packPrefix, n) }

// packNumber is the inverse of packName.
func packNumber(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, packPrefix)
	n, err := strconv.ParseUint(digits, 10, 16)
	return int(n), ok && err == nil && n < MaxPacks && name == packName(int(n))
}

// describe names a fragment for people: "movie 550 videos".
func describe(key []byte, a fragment.Address) string {
	return fragment.DescribeKey(key) + " " + a.String()
}
