//go:build !allclouds

package store_test

import (
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/object/store"
)

// TestCloudsNeedTag names the build that opens a URL, and the way without it.
func TestCloudsNeedTag(t *testing.T) {
	for url, want := range map[string]string{
		"gs://bucket/d/x": "s3://bucket/d/x with endpoint=https://storage.googleapis.com",
		"azblob://container/d/x?storage_account=mine": `azblob://container/d/x: this program opens s3:// only`,
	} {
		_, err := store.Open(t.Context(), location(t, url))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"-tags allclouds"`) {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
}
