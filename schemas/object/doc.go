// Package object reads and writes the objects of S3, Google Cloud Storage and Azure
// Blob Storage, and the files of plain folders, by URL:
//
//	s3://bucket/key?region=us-east-1      also endpoint=, profile=, use_path_style=true ...
//	gs://bucket/key
//	azblob://container/key?storage_account=NAME
//	file:///folder/file
//
// The path behind the bucket is a key, a prefix (empty, or with a slash at its end) or
// a pattern; query parameters configure the bucket. Credentials come from where each
// vendor's tools look for them and are refused in a URL; no error holds any.
//
// Reading holds on to one version of an object: a stream that breaks goes on where it
// was, a range is asked for when it is needed, and both fail with ErrChanged when the
// object is another by then.
//
// It is a thin layer over gocloud.dev/blob. It brings the vendors' libraries along, so
// the edge does not import it.
package object
