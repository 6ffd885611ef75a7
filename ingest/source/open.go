package source

import (
	"context"
	"errors"
	"io"
	"os"

	"reelsplice/schemas/object"
)

// An input is an open dump file, wherever it lies.
type input struct {
	io.ReadCloser             // from its start to its end
	at            io.ReaderAt // anywhere; nil for what can only be read in order, such as a pipe
	size          int64       // 0 for what has none
}

// openInput opens a local file or an object.
func openInput(ctx context.Context, f File) (*input, error) {
	if f.Err != nil {
		return nil, f.Err
	}
	if f.object != nil {
		return f.object.open(ctx)
	}
	if object.IsURL(f.Path) {
		return nil, errors.New("is a URL: an object is opened as List returned it")
	}
	osf, err := os.Open(f.Path)
	if err != nil {
		return nil, err
	}
	info, err := osf.Stat()
	switch {
	case err != nil:
		return nil, errors.Join(err, osf.Close())
	case info.IsDir():
		osf.Close()
		return nil, errors.New("is a folder, want a file")
	case !info.Mode().IsRegular():
		return &input{ReadCloser: osf}, nil
	}
	return &input{ReadCloser: osf, at: osf, size: info.Size()}, nil
}

// inBucket is an object of an open bucket. The bucket is not closed: it holds nothing
// but idle connections, which end by themselves.
type inBucket struct {
	bucket object.Bucket
	key    string
}

// open opens the object as it is now.
func (o *inBucket) open(ctx context.Context) (*input, error) {
	info, err := o.bucket.Stat(ctx, o.key)
	if err != nil {
		return nil, err
	}
	return &input{
		ReadCloser: o.bucket.NewReader(ctx, info), at: o.bucket.NewReaderAt(ctx, info), size: info.Size,
	}, nil
}
