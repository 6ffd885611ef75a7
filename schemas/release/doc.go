// Package release writes and reads releases: the immutable folders made by the builder and served by the edge.
// FORMAT.md specifies every byte; this is an overview. Package store keeps many releases, check verifies one, compare
// diffs two.
//
//	<releases>/
//	  current                 the served id, earlier ones below (package store)
//	  canary                  the id that some edges serve first; may be absent
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
// A piece is a segment, a literal, a mark for text that depends on the request (an ID, a page, the name of a season
// in some language), or a link to a fragment of another resource. A reference stores the whole key, an include its
// numbers. Package check verifies both.
//
// The parts, indexes and tables of a release are written independently, each by a function of named files:
// CreatePart, WriteIndex, CreateTable, WriteManifest. An incremental build copies unchanged resources
// (PartWriter.Copy).
//
// Open maps the files and reads little more than headers and footers. Everything a Reader returns is a slice of the
// mapping: read-only, and valid until the Reader closes.
//
// A block of the mapping is checked on first use. Damage causes a panic, as does a fault in a file that shrank under
// its mapping; Guard turns both into errors.
//
// Where to start: file.go has the common parts of all files, part.go and reader.go write and read a release, entry.go
// and recipe.go decode a resource.
package release
