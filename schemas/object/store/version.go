package store

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// A version tells one state of an object from another. gocloud.dev tells it for
// attributes only; listings and readers are asked through the vendors' types.
type version struct {
	etag string
}

// from takes the version from what a library returned, through its As method.
func (v *version) from(as func(any) bool) {
	var (
		s3Object   types.Object
		s3Reader   s3.GetObjectOutput
		gcsObject  storage.ObjectAttrs
		gcsReader  *storage.Reader
		azObject   container.BlobItem
		azReader   azblob.DownloadStreamResponse
		fileObject os.FileInfo
	)
	switch {
	case as(&s3Object):
		v.set(s3Object.ETag)
	case as(&s3Reader):
		v.set(s3Reader.ETag)
	case as(&gcsObject):
		v.generation(gcsObject.Generation)
	case as(&gcsReader):
		v.generation(gcsReader.Attrs.Generation)
	case as(&azObject):
		if azObject.Properties != nil {
			v.set((*string)(azObject.Properties.ETag))
		}
	case as(&azReader):
		v.set((*string)(azReader.ETag))
	case as(&fileObject):
		v.etag = fileETag(fileObject.ModTime(), fileObject.Size())
	}
}

func (v *version) set(etag *string) {
	if etag != nil {
		v.etag = bareETag(*etag)
	}
}

func (v *version) generation(n int64) {
	if n != 0 {
		v.etag = strconv.FormatInt(n, 10)
	}
}

// bareETag returns an ETag without its quotes, which Azure's listings lack.
func bareETag(s string) string { return strings.Trim(s, `"`) }

// fileETag is the ETag of a file: the one that fileblob tells for attributes.
func fileETag(mod time.Time, size int64) string {
	return fmt.Sprintf("%x-%x", mod.UnixNano(), size)
}

// quiet keeps the S3 library from logging each object that has no checksum of a kind it
// could check: those of older tools and other stores have none.
func quiet(as func(any) bool) {
	var options *[]func(*s3.Options)
	if as(&options) {
		*options = append(*options, func(o *s3.Options) { o.DisableLogOutputChecksumValidationSkipped = true })
	}
}

// require makes a request for reading fail unless the object is that of etag, whatever
// it is where that is "". as is what BeforeRead is called with. Files, which have no such
// request, are compared when they are open, as are stores that pass over the condition.
func require(etag string, as func(any) bool) error {
	var (
		s3Read  *s3.GetObjectInput
		gcsRead **storage.ObjectHandle
		azRead  *azblob.DownloadStreamOptions
	)
	switch {
	case etag == "":
	case as(&s3Read):
		quoted := `"` + etag + `"`
		s3Read.IfMatch = &quoted
	case as(&gcsRead):
		generation, err := strconv.ParseInt(etag, 10, 64)
		if err != nil {
			return fmt.Errorf("generation %q: %w", etag, err)
		}
		*gcsRead = (*gcsRead).If(storage.Conditions{GenerationMatch: generation})
	case as(&azRead):
		match := azcore.ETag(`"` + etag + `"`)
		azRead.AccessConditions = &azblob.AccessConditions{
			ModifiedAccessConditions: &azblob.ModifiedAccessConditions{IfMatch: &match},
		}
	}
	return nil
}
