// Package object names the objects of S3 and Google Cloud Storage, and the files of plain folders, by URL:
//
//	s3://bucket/key?region=us-east-1      also endpoint=, profile=, use_path_style=true ...
//	gs://bucket/key
//	file:///folder/file
//
// The path after the bucket is a key, a prefix (empty, or with a slash at its end) or
// a pattern; query parameters configure the bucket. Credentials come from where each
// vendor's tools look for them and are refused in a URL; no error holds any.
//
// Package s3 opens buckets.
package object
