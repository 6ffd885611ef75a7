// Package sample embeds a small catalogue of real films, series and the people in
// them, with what they refer to: one JSON object a line, in the layout of a v3 response
// with its appended objects. The facts are facts, the sentences (overviews, taglines,
// biographies, reviews) are our own, and credit ids are made up. Images and videos exist, or there
// are none. See README.md for the exact division.
package sample

import (
	"embed"
	"io/fs"
)

// Date is a day, YYYY-MM-DD, on which films of the sample are in cinemas and coming, and episodes
// of its series on the air. Lists that count from a day are not empty on it.
const Date = "2024-10-31"

//go:embed *.ndjson
var files embed.FS

// FS returns a read-only file system whose root holds the .ndjson files: movies, tv,
// seasons, episodes, people, collections, companies, networks, keywords,
// episode_groups, lists and accounts.
func FS() fs.FS { return files }
