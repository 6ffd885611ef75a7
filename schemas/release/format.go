package release

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// Limits of the format. Writers reject anything above them, except for MaxDepth: only package check, which sees the
// whole release, can verify it.
const (
	MaxParts     = 4096    // parts of a release
	maxPartBytes = 1 << 39 // bytes of a part
	maxIndexes   = 4096    // index files of a release, a power of two
	maxPacks     = 65535   // packs of a release, and of a part
	maxPackBytes = 1 << 48 // bytes of a pack
	maxBytes     = 1 << 56 // bytes of a release, so the sizes of several can be added
	maxFragments = 65535   // fragments of a resource
	MaxPieces    = 65535   // pieces of a fragment
	maxLiteral   = 65535   // bytes of a literal
	MaxDepth     = 4       // nested references and includes
)

// File names of a release. The digits of a part or pack are the start of its SHA-256.
const (
	ManifestName = "manifest.json"
	partPrefix   = "part-"
	indexPrefix  = "index-"
	packPrefix   = "pack-"
	ReportName   = "report.json" // report of the build, not listed in the manifest

	hashDigits = 32 // digits in the name of a part or pack
)

// Magics: the first byte is not ASCII and the end has both line endings, so a transfer as text is detected at once.
const (
	indexMagic = "\x89RSIX\r\n\x1a"
	partMagic  = "\x89RSPT\r\n\x1a"
	packMagic  = "\x89RSPK\r\n\x1a"
	tableMagic = "\x89RSTB\r\n\x1a"
)

// Layout of a header. FORMAT.md has the same numbers; a test compares them.
const (
	HeaderLen     = 16
	headerMagic   = 0
	headerVersion = 8
)

// Layout of a footer, at the end of a file.
const (
	FooterLen     = 60
	footerContent = 0
	footerCounts  = 8
	footerCRC     = 56
)

// FileCounts are the counts of a footer. FORMAT.md defines them for each type of file.
type FileCounts [6]uint64

// The counts of a footer, by file.
const (
	indexSlots = 0 // slots in the file
	IndexKeys  = 1 // slots in use
	indexHomes = 2 // slots that can be the ideal slot of a hash
	indexReach = 3 // longest distance between a key's ideal slot and its slot

	PartBlocks    = 0
	PartResources = 1
	PartFragments = 2
	PartPieces    = 3 // as written: a shared recipe counts once
	partPacks     = 4 // packs in the list
	partList      = 5 // where the list starts: the end of the blocks

	PackSegments = 0
	PackRawBytes = 1
)

// Layout of an index slot: a tag, then the place of a block.
const (
	SlotLen     = 8
	slotTagBits = 16
	slotRefBits = 48
)

// Layout of a Ref: the number of a part, then the offset of a block divided by blockAlign.
const (
	refOffBits  = 36
	refPartBits = slotRefBits - refOffBits
)

// Layout of a block of a part, and of an entry of its fragment table. In a resource the fingerprint follows the key.
// With segments, the base follows too: the place of the first segment.
const (
	blockAlign = 8

	blockKeyLen    = 0
	blockType      = 1
	blockFragments = 2
	blockRecipes   = 4
	blockNumber    = 8
	blockKey       = 16

	fingerprintLen = 8
	baseLen        = 8

	fragmentLen     = 12
	fragmentAddress = 0
	fragmentRecipe  = 8

	wherePackShift = 48

	packNameLen = hashDigits / 2 // an entry in the list of packs
)

// Layout of the fixed-length checks of a segment.
const (
	factsLen  = 16
	factsCRC  = 0
	factsOp   = 4
	factsHash = 8
)

// Types of blocks.
const (
	typeResource = 1 // bit 0: has a fingerprint
	typeAlias    = 2
	typeStored   = 5 // bit 2: a resource with segments, and therefore a base
)

var le = binary.LittleEndian

// align returns n rounded up to the alignment of blocks.
func align[T int | uint32 | uint64](n T) T { return (n + blockAlign - 1) &^ (blockAlign - 1) }

// indexName returns the file name of index i.
func indexName(i int) string { return fmt.Sprintf("%s%04d", indexPrefix, i) }

// isHashName reports whether name is the file name of a part or pack: the prefix, then digits of a SHA-256.
func isHashName(prefix, name string) bool {
	digits, ok := strings.CutPrefix(name, prefix)
	return ok && len(digits) == hashDigits && strings.Trim(digits, "0123456789abcdef") == ""
}

// Describe returns a readable name of a fragment: "movie 550 videos".
func Describe(key []byte, a fragment.Address) string {
	return fragment.DescribeKey(key) + " " + a.String()
}
