package ingest

import (
	"context"

	"github.com/reelsplice/reelsplice/schemas/provenance"
)

// writeDumps puts the dumps that were read among the files of the new catalogue. Those that were not read in order, such as
// Parquet files, are read once more for their hash. What cannot be read has none: its reading has said why.
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
		r.Log.Warn("the catalogue does not tell its dumps", "because", err)
	}
	return provenance.Of(dumps, before).Write(r.work.path("new"))
}
