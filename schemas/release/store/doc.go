// Package store keeps releases: a Folder on this machine, filled by a Builder, or a Bucket of an object store, read
// by many edges. In both, the file current has the IDs of the served release and of those before it, canary the ID
// that goes out first, and rolled-back the IDs that are not published again. A bucket contains
//
//	current                ids, newest first, one per line
//	canary                 the id that goes out first; absent without one
//	rolled-back            ids rolled back since the last publishing, newest first; absent without one
//	<id>/manifest.json     the manifest, byte for byte
//	<id>/report.json       the report of the build, optional
//	files/<sha256>         the content of a file, once for all releases
//	deltas/<new>-<old>     how to make a file from another one, both by SHA-256; optional
//
// A release exists once its manifest does: Push writes it last. In a bucket, pointers change by conditional writes,
// so one of two concurrent publishers succeeds and the other gets ErrLost.
//
// The names of manifests and files protect their bytes. Pointers, reports and listings have no such protection:
// before anything is written or removed on their basis, they are read until two reads agree.
package store
