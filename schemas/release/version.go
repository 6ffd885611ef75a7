package release

import "fmt"

// The versions of releases, on one line of numbers. What a release may lack is in the section
// "What may be missing" of FORMAT.md; a program opens
//
//   - a release of ReadMin or later, which may lack what came since: that is absent, not damage
//   - a release that a later program wrote, if format_version of its manifest is FeatureVersion or
//     less: what the program does not know is ignored
//
// To add a table, a section or a field that readers can do without, raise FeatureVersion alone. To
// add or change something that older readers would answer wrong with, set WriteMin to it too. A
// program that stops reading old releases raises ReadMin.
const (
	// FeatureVersion is the version of this program, and of what its releases hold.
	FeatureVersion = 9
	// WriteMin is the least version of a program that reads the releases of this one.
	WriteMin = 9
	// ReadMin is the least version of a release that this program reads.
	ReadMin = 9

	// fileVersion is the version of the layout of parts, indexes, packs and tables. It stands in
	// their headers: files that a release has of its parent keep theirs.
	fileVersion = 7
)

// readable returns an error that matches ErrVersion for a manifest of another version than this
// program reads. Version 7 had no feature_version.
func readable(formatVersion, featureVersion int) error {
	switch {
	case formatVersion > FeatureVersion:
		return fmt.Errorf("%s: it needs a program that reads version %d, this one reads %d to %d: %w", ManifestName, formatVersion, ReadMin, FeatureVersion, ErrVersion)
	case max(formatVersion, featureVersion) < ReadMin:
		return fmt.Errorf("%s: it is of version %d, this program reads %d to %d: %w", ManifestName, formatVersion, ReadMin, FeatureVersion, ErrVersion)
	}
	return nil
}
