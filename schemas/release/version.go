package release

// The versions of releases are one sequence of numbers. The section "What may be missing" of FORMAT.md lists what a
// release may lack. A program opens
//
//   - a release of ReadMin or later: parts added in later versions are absent, not damaged
//   - a release written by a later program, if format_version of its manifest is FeatureVersion or less: unknown parts are ignored
//
// To add a table, a section or a field that readers can do without, raise FeatureVersion alone. If older readers
// would respond wrongly because of an addition or a change, set WriteMin to it too. A program that stops reading old
// releases raises ReadMin.
const (
	// FeatureVersion is the version of this program and of its releases.
	FeatureVersion = 9
	// WriteMin is the lowest version of a program that reads this program's releases.
	WriteMin = 9
	// ReadMin is the lowest version of a release that this program reads.
	ReadMin = 9

	// fileVersion is the layout version in the headers of parts, indexes, packs and tables. Files shared with the
	// parent keep theirs.
	fileVersion = 7
)
