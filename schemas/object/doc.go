// Package object addresses objects of S3 and Google Cloud Storage, and files of plain folders, by URL:
//
//	s3://bucket/key?region=us-east-1      also endpoint=, profile=, use_path_style=true ...
//	gs://bucket/key
//	file:///folder/file
//
// The path after the bucket is a key, a prefix (empty, or with a trailing slash) or a pattern; query parameters
// configure the bucket. Credentials come from the places that each vendor's tools use. They are rejected in a URL,
// and never occur in errors.
//
// Package s3 opens buckets.
package object
