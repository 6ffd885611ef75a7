// Package release writes and reads releases: the immutable folders that the builder
// makes and the edge serves. FORMAT.md describes every byte; this is the picture.
//
//	<releases>/
//	  current                 the served id, earlier ones below (Store)
//	  r0123456789abcdef/      one release: its id follows from its content
//	    manifest.json         version, parameters, counts, SHA-256 of each file
//	    checks                a CRC for each 4096 bytes of the files below
//	    index                 hash of a key -> offset of its block
//	    directory             blocks: keys, fragment tables, programs
//	    pack-00000 ...        segments: deflate blocks back to back
//	    report.json           what the build did and when; not part of the id
//
// A lookup touches one slot, one block and the bytes that it sends:
//
//	key ── xxh3-64 ──► index                directory                     pack-00000
//	                   ┌──────────┐         ┌───────────────────────┐     ┌─────────┐
//	                   │ tag │ off├────────►│ key                   │     │ header  │
//	                   ├──────────┤         │ fragments             │     ├─────────┤
//	                   │ 0   empty│         │   address ──────────┐ │  ┌─►│ segment │
//	                   ├──────────┤         │ program: pieces ◄───┘ │  │  ├─────────┤
//	                   │   ...    │         │   place, lengths,     ├──┘  │ segment │
//	                   └──────────┘         │   CRC, operator, hash │     ├─────────┤
//	                                        ├───────────────────────┤     │   ...   │
//	                                        │ alias key ──► block   │     └─────────┘
//	                                        └───────────────────────┘
//
// A piece is a segment, a literal, a mark for what depends on the request (an id, a
// page, the name of a season in some language), or leads to a fragment of another
// resource: a reference by the offset of its block, an include by its key. Verify
// follows both.
//
// Open maps the files and reads their headers, hardly anything else. Everything that a
// Reader hands out is a slice of the mapping: it is read-only, and gone once the
// Reader closes.
//
// Blocks of the mapping are checked when they are used for the first time. Damage is a
// panic, as is a fault of a file that shrank under its mapping; Guard makes errors of both.
package release
