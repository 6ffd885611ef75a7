package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"

	"github.com/reelsplice/reelsplice/schemas/object"
)

// An input is an open dump file, local or in a bucket.
type input struct {
	io.ReadCloser             // from its start to its end
	at            io.ReaderAt // anywhere; nil for an input that can only be read in order, such as a pipe
	size          int64       // 0 if unknown
}

// openInput opens a local file or an object.
func openInput(ctx context.Context, f File) (*input, error) {
	if f.Err != nil {
		return nil, f.Err
	}
	if o := f.object; o != nil {
		info, err := o.bucket.Stat(ctx, o.info.Key) // of the current version
		if err != nil {
			return nil, err
		}
		return &input{ReadCloser: o.bucket.NewReader(ctx, info), at: o.bucket.NewReaderAt(ctx, info), size: info.Size}, nil
	}
	if object.IsURL(f.Path) {
		return nil, errors.New("is a URL: an object is opened as List returned it")
	}
	if info, err := os.Stat(f.Path); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return nil, errors.New("is a folder, want a file")
		}
		r, w := io.Pipe()
		go func() {
			osf, err := os.Open(f.Path)
			if err == nil {
				_, err = io.Copy(w, osf)
				err = errors.Join(err, osf.Close())
			}
			_ = w.CloseWithError(err) // never fails; nil means io.EOF
		}()
		stop := context.AfterFunc(ctx, func() { _ = w.CloseWithError(context.Cause(ctx)) })
		return &input{ReadCloser: &pipe{r, stop}}, nil
	}
	osf, err := os.Open(f.Path)
	if err != nil {
		return nil, err
	}
	info, err := osf.Stat()
	if err != nil {
		return nil, errors.Join(err, osf.Close())
	}
	return &input{ReadCloser: osf, at: osf, size: info.Size()}, nil
}

// Sum returns the SHA-256 of a file in hex, or "" for a pipe, which can be read only once.
func (f File) Sum(ctx context.Context) (string, error) {
	if info, err := os.Stat(f.Path); f.object == nil && (err != nil || !info.Mode().IsRegular()) {
		return "", err
	}
	in, err := openInput(ctx, f)
	if err != nil {
		return "", err
	}
	defer in.Close()
	hash, buf := sha256.New(), make([]byte, 256<<10)
	for ctx.Err() == nil {
		n, err := in.Read(buf)
		hash.Write(buf[:n])
		if err == io.EOF {
			return hex.EncodeToString(hash.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", ctx.Err()
}

// A summing reader hashes a file while it is read, and calls done with the SHA-256 in hex at its end.
type summing struct {
	io.Reader
	hash hash.Hash
	done func(sum string)
}

func (s *summing) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	s.hash.Write(b[:n])
	if err == io.EOF {
		s.done(hex.EncodeToString(s.hash.Sum(nil)))
	}
	return n, err
}

// A pipe reads a file whose open and reads may wait for another process.
// The end of its context ends the wait.
type pipe struct {
	*io.PipeReader
	stop func() bool
}

func (p *pipe) Close() error {
	p.stop()
	return p.PipeReader.Close()
}

// inBucket is an object of an open bucket. The bucket is not closed: it holds only idle
// connections, which time out.
type inBucket struct {
	bucket object.Bucket
	info   object.Info // as it was listed
}
