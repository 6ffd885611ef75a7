package main

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/mirror"
)

// mirrorFlag adds the flag of commands that take a catalogue in a bucket.
func mirrorFlag(f *pflag.FlagSet, o *mirror.Options) {
	f.StringVar(&o.Dir, "mirror", "", "`DIR` of the local copy of a catalogue in a bucket (default in the user's cache); it may be\n"+
		"removed while nothing runs")
}

// atCatalog calls do with the folder of a catalogue and a function that returns a path
// in it under the catalogue's own name. A catalogue in a bucket is mirrored for that; with o.Write it
// is locked, and what do has changed is taken back unless do fails.
func (a *app) atCatalog(ctx context.Context, catalog string, o mirror.Options, do func(dir string, name func(path string) string) error) (err error) {
	asIs := func(path string) string { return path }
	if !object.IsURL(catalog) {
		return do(catalog, asIs)
	}
	l, err := object.Parse(catalog)
	if err != nil {
		return usage(err)
	}
	if dir, ok := l.Path(); ok {
		return do(dir, asIs)
	}
	o.Log = a.logger()
	m, err := mirror.Open(ctx, catalog, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close(ctx)) }()
	if err := do(m.Dir(), m.URL); err != nil || !o.Write {
		return err
	}
	return m.Push(ctx)
}
