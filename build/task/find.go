package task

import (
	"context"
	"fmt"

	"reelsplice/build/render"
	"reelsplice/schemas/release"
)

// A find task builds a partition of the external ids: the resources that each finds. It writes a
// part of the release.
type find struct {
	b             *Build
	contributions *sorted
}

func openFind(b *Build) (_ tasks, err error) {
	t := &find{b: b}
	t.contributions, err = b.openSorted(b.allContributions())
	return t, err
}

// allContributions returns the names of the contributions of titles and resources tasks.
func (b *Build) allContributions() []string {
	return append(b.contributionsNames("titles", b.Plan.TitleTasks()), b.contributionsNames("resources", b.Plan.Partitions())...)
}

func (t *find) close() error { return t.contributions.close() }

func (t *find) files(int) (inputs, outputs []string) { return t.b.allContributions(), nil }

func (t *find) run(ctx context.Context, i int, d *Done) error {
	return t.b.write(d, t.b.findPart(i), nil, func(o *output) error {
		f := &finder{o: o}
		if err := t.contributions.each(ctx, t.b.Plan.FindSection(uint64(i)), f.add); err != nil {
			return err
		}
		return f.flush()
	})
}

// A finder gathers the resources that one external id after another finds.
type finder struct {
	o    *output
	key  []byte
	hits []render.Hit
	last []byte // payload
}

func (f *finder) add(key, payload []byte) error {
	if len(payload) != hitLen {
		return fmt.Errorf("contribution to an external id of %d bytes, want %d", len(payload), hitLen)
	}
	if string(key) != string(f.key) {
		if err := f.flush(); err != nil {
			return err
		}
		f.key = append(f.key[:0], key...)
	} else if string(payload) == string(f.last) {
		return nil // contributed twice
	}
	f.last = append(f.last[:0], payload...)
	h := parseHit(payload)
	f.hits = append(f.hits, render.Hit{Kind: h.kind, ID: h.id, Season: h.season, Episode: h.episode})
	return nil
}

// flush builds what the key finds.
func (f *finder) flush() error {
	if len(f.hits) == 0 {
		return nil
	}
	hits := f.hits
	f.hits = f.hits[:0]
	return f.o.add(release.ResourceSpec{Key: f.key}, f.o.render.Find(hits))
}
