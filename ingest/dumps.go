package ingest

import (
	"context"

	"github.com/reelsplice/reelsplice/schemas/provenance"
)

// sum starts to hash the files among the inputs beside their reading. The function that it returns waits for the end, and
// adds the objects, once they are read. What cannot be read has no hash: its reading says why.
func (l *fileList) sum(ctx context.Context) (wait func() ([]provenance.Dump, error)) {
	dumps, done := make([]provenance.Dump, len(l.inputs)), make(chan struct{})
	sum := func(objects bool) {
		for i := range l.inputs {
			if f := &l.inputs[i].File; f.InBucket() == objects {
				hash, _ := f.Sum(ctx)
				dumps[i] = provenance.Dump{Name: f.Name, Bytes: f.Bytes, SHA256: hash}
			}
		}
	}
	go func() {
		defer close(done)
		sum(false)
	}()
	return func() ([]provenance.Dump, error) {
		<-done
		sum(true)
		return dumps, ctx.Err()
	}
}

// writeDumps puts the dumps that were read among the files of the new catalogue.
func (r *run) writeDumps(wait func() ([]provenance.Dump, error)) error {
	dumps, err := wait()
	if err != nil {
		return err
	}
	before, err := provenance.Read(r.Catalog)
	if err != nil {
		r.Log.Warn("the catalogue does not tell its dumps", "because", err)
	}
	return provenance.Of(dumps, before).Write(r.work.path("new"))
}
