// Package store opens buckets of S3, Google Cloud Storage and Azure Blob Storage.
//
// S3, and stores that speak its protocol, go through minio-go in every build. Google's and
// Azure's own protocols go through gocloud.dev and need the build tag allclouds: their
// libraries double the time of a first build. Without the tag, Google's buckets open as
// s3://bucket/key?endpoint=https://storage.googleapis.com with HMAC keys.
//
// A reader holds on to one version of an object: a broken stream resumes at its offset, a
// range is requested when it is needed, and both fail with object.ErrChanged once the
// object was replaced.
//
// Only the command imports this package: ingest takes an object.Bucket, and the
// edge links no cloud library.
package store
