// Package sample embeds a small catalogue of real films and series, with their people and other referenced resources:
// one JSON object per line, in the layout of a v3 response with its appended objects. The facts are real; the
// sentences (overviews, taglines, biographies, reviews) are our own; credit IDs are made up. All images and videos
// exist. See README.md for the details.
package sample

import (
	"embed"
	"io/fs"
)

// Date is a day, YYYY-MM-DD, on which the sample has films in cinemas and upcoming, and episodes on the air. Lists
// that depend on the day are not empty on it.
const Date = "2024-10-31"

//go:embed *.ndjson
var files embed.FS

// FS returns a read-only file system with the .ndjson files at its root: movies, tv, seasons, episodes, people,
// collections, companies, networks, keywords, episode_groups, lists and accounts.
func FS() fs.FS { return files }
