// Package store opens buckets of S3, Google Cloud Storage and Azure Blob Storage, and
// folders, through gocloud.dev/blob.
//
// Reading holds on to one version of an object: a stream that breaks goes on where it
// was, a range is asked for when it is needed, and both fail with object.ErrChanged when
// the object is another by then.
//
// The package brings the vendors' libraries along. Only mirror and the command import it:
// those who read get an object.Bucket, and neither they nor the edge link any of that.
package store
