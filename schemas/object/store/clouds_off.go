//go:build !allclouds

package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/reelsplice/reelsplice/schemas/object"
)

// openCloud fails: this build has no driver for Google's and Azure's protocols.
func openCloud(_ context.Context, l object.Location) (driver, error) {
	const build = `this program opens s3:// only: for gs:// and azblob:// take a packaged one, or build it with "-tags allclouds"`
	if l.Scheme == object.SchemeGCS {
		return nil, fmt.Errorf("%s; with HMAC keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "+
			"Google's buckets are s3://%s/%s with endpoint=https://%s as parameter", build, l.Bucket, l.Key, endpointGoogle)
	}
	return nil, errors.New(build)
}
