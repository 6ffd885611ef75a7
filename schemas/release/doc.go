// Package release writes and reads releases: the immutable folders that the builder
// makes and the edge serves. FORMAT.md describes every byte; this is the picture. Beside it, store keeps many of
// them, check finds what is wrong with one, and compare what differs between two.
//
//	<releases>/
//	  current                 the served id, earlier ones below (package store)
//	  canary                  the id that goes out first; absent without one
//	  r0123456789abcdef/      one release: its id follows from its content
//	    manifest.json         version, parameters, counts, SHA-256 of each file
//	    index-0000 ...        hash of a key -> place of its block
//	    part-HASH ...         blocks: keys, fingerprints, fragment tables, recipes
//	    pack-HASH ...         segments: deflate blocks back to back
//	    table-NAME ...        what queries over many resources are answered from
//	    report.json           what the build did and when; not part of the id
//
// A lookup touches one slot, one block and the bytes that it sends:
//
//	key ── xxh3-64 ──► index-0000                part-HASH                 pack-HASH
//	                   ┌────────────────┐        ┌───────────────────────┐     ┌─────────┐
//	                   │ tag │ part, off├───────►│ key, fingerprint      │     │ header  │
//	                   ├────────────────┤        │ fragments             │     ├─────────┤
//	                   │ 0         empty│        │   address ──────────┐ │  ┌─►│ segment │
//	                   ├────────────────┤        │ recipe: pieces ◄────┘ │  │  ├─────────┤
//	                   │      ...       │        │   place, lengths,     ├──┘  │ segment │
//	                   └────────────────┘        │   CRC, operator, hash │     ├─────────┤
//	                                             ├───────────────────────┤     │   ...   │
//	                                             │ alias key ──► block   │     └─────────┘
//	                                             └───────────────────────┘
//
// A piece is a segment, a literal, a mark for text that depends on the request (an id, a
// page, the name of a season in some language), or leads to a fragment of another
// resource by its key: a reference has the whole key, an include its numbers. package check
// follows both.
//
// Parts, indexes and tables of a release in the making are written side by side, each by a function of named files:
// CreatePart, WriteIndex, CreateTable, WriteManifest. A release upon another one copies resources (PartWriter.Copy).
//
// Open maps the files and reads headers and footers, hardly anything else. Everything that a
// Reader hands out is a slice of the mapping: it is read-only, and gone once the
// Reader closes.
//
// Blocks of the mapping are checked when they are used for the first time. Damage is a
// panic, as is a fault of a file that shrank under its mapping; Guard makes errors of both.
//
// Where to start: file.go has what all files share, part.go and reader.go the two ways through
// a release, entry.go and recipe.go the bytes of a resource.
package release
