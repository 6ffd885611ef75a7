// Package bucket keeps releases in an object store, where builders put them and many edges take them from. It is to an object.Folder what release.Store is to a local folder.
//
//	current                ids, the newest first, one a line
//	canary                 the id that goes out first; absent without one
//	<id>/manifest.json     the manifest, byte for byte
//	<id>/report.json       the report of the build, optional
//	files/<sha256>         the content of a file of any release, once
//	deltas/<new>-<old>     how to make a file from another one, both by SHA-256; optional
//
// A release is there once its manifest is: Push writes it last. Pointers change by conditional writes,
// so of two publishers one wins and the other one gets ErrLost.
//
// A manifest and a file guard their bytes by their names. Pointers, reports and listings have no such guard: they are
// read until two reads agree where anything is written or removed by them.
package bucket
