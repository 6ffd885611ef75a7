package ingest

import (
	"context"

	"github.com/reelsplice/reelsplice/schemas/provenance"
)

// writeDumps adds the list of ingested dumps to the new catalogue. Files that were not read sequentially, such as Parquet, are
// read again for their hash. Unreadable files, already reported, have none.
func (r *run) writeDumps(ctx context.Context) error {
	dumps := make([]provenance.Dump, len(r.list.inputs))
	for i := range r.list.inputs {
		f := &r.list.inputs[i].File
		sum, ok := r.sums[f.Path]
		if !ok {
			sum, _ = f.Sum(ctx)
		}
		dumps[i] = provenance.Dump{Name: f.Name, Bytes: f.Bytes, SHA256: sum}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	before, err := provenance.Read(r.Catalog)
	if err != nil {
		r.Log.Warn("cannot read the catalogue's list of dumps", "reason", err)
	}
	return provenance.Of(dumps, before).Write(r.work.path("new"))
}
