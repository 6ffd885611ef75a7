// Package store keeps releases: a Folder on this machine, where a Builder puts them, or a Bucket of an object store, from
// which many edges take them. A file in both, current, has the id of the release that edges serve, and those before it;
// canary has the id that goes out first, rolled-back those that are not published again. A bucket has
//
//	current                ids, the newest first, one a line
//	canary                 the id that goes out first; absent without one
//	rolled-back            ids that were rolled back after the last publishing, the newest first; absent without one
//	<id>/manifest.json     the manifest, byte for byte
//	<id>/report.json       the report of the build, optional
//	files/<sha256>         the content of a file of any release, once
//	deltas/<new>-<old>     how to make a file from another one, both by SHA-256; optional
//
// A release is there once its manifest is: Push writes it last. In a bucket, pointers change by conditional writes,
// so of two publishers one wins and the other one gets ErrLost.
//
// A manifest and a file guard their bytes by their names. Pointers, reports and listings have no such guard: they are
// read until two reads agree where anything is written or removed by them.
package store
