// Package sample embeds a small catalogue of real films: one JSON object a line,
// each a full movie answer with its appended objects. The facts are facts, the
// sentences (overviews, taglines, reviews) are our own, and the image paths,
// video keys and credit ids are made up. See README.md for the exact division.
package sample

import (
	"embed"
	"io/fs"
)

//go:embed movies.ndjson
var files embed.FS

// FS returns a read-only file system whose root holds movies.ndjson.
func FS() fs.FS { return files }
