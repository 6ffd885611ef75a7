// Package changes finds out what a build changed, and writes it into the release as the
// table that package changelog describes.
//
// release.Compare tells which resources are not the same in the previous release and in
// the one at work. Of movies, series, seasons, episodes and people the answers of both
// are compared, as far as they differ: details, images, credits, translations, videos,
// keywords, alternative titles, release dates, ratings and external ids, each in the form
// without a language. What is counted (popularity, votes), what is derived (filmographies,
// recommendations, lists) and where a title can be watched are no changes. A resource
// with nothing but such differences has not changed.
//
// The changes of an episode are an item "episode" of its season, and those of a season an
// item "season" of its series, so that clients can follow them. Of a new resource the
// items are that it was created and what its details say, or the first alone when more
// than MaxDetailed of its kind are new: that is no night's work but another catalogue. Of
// one that was deleted or merged the item is that it is gone.
package changes

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"reelsplice/build/segment"
	"reelsplice/build/shuffle"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables/changelog"
)

// Options say what to compare, and with how much of the machine.
type Options struct {
	Previous *release.Reader // the release that the build is made upon
	Next     *release.Reader // what the build has, of Writer.Preview
	Date     time.Time       // when the changes happened
	Level    int             // of deflate
	Jobs     int             // resources compared at once
	Memory   int64           // bytes for sorting, and as many for pages of the releases
	Dir      string          // for temporary files
}

// MaxDetailed is up to how many new resources of a kind tell what their details say.
const MaxDetailed = 10_000

// partitions is how many parts the resources are divided into.
const partitions = 32

// Write writes the table, and returns how many resources of each kind changed.
func Write(ctx context.Context, w *release.Writer, o Options) (_ map[fragment.Kind]int, err error) {
	t := &task{Options: o, keys: map[string]struct{}{}}
	t.Date = o.Date.UTC().Truncate(time.Second)
	t.log = changelog.Open(o.Previous)
	if n := t.log.Builds(); n > 0 && t.log.Time(n-1) > t.Date.Unix() {
		return nil, fmt.Errorf("changes of %s: release %s has changes of %s, which is later",
			t.Date.Format(time.RFC3339), o.Previous.Manifest().ID, time.Unix(t.log.Time(n-1), 0).UTC().Format(time.RFC3339))
	}
	if t.differences, err = shuffle.New(o.Dir, partitions, o.Memory/4); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.differences.Close()) }()
	if t.items, err = shuffle.New(o.Dir, len(changelog.Kinds()), o.Memory/4); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.items.Close()) }()
	if err := t.collect(ctx); err != nil {
		return nil, err
	}
	if err := t.compareAll(ctx); err != nil {
		return nil, err
	}
	n := map[fragment.Kind]int{}
	for _, k := range changelog.Lists() {
		n[k] = len(t.changed[k])
		slices.SortFunc(t.changed[k], func(a, b changelog.Row) int { return cmp.Compare(a.ID, b.ID) })
	}
	return n, t.write(ctx, w)
}

// A task is one comparison at work.
type task struct {
	Options
	log *changelog.Log // of the previous release
	// differences has the resources that are not the same, those of a series together:
	// its key, then those of its seasons, each before its episodes.
	differences *shuffle.Shuffle
	items       *shuffle.Shuffle // segments of items, a partition for each of changelog.Kinds
	created     map[fragment.Kind]int64
	compared    atomic.Int64 // resources

	mu      sync.Mutex // guards what follows while resources are compared
	changed [fragment.KindPerson + 1][]changelog.Row
	keys    map[string]struct{}
}

// collect finds which resources are not the same.
func (t *task) collect(ctx context.Context) error {
	found, err := release.Compare(ctx, t.Previous, t.Next, nil)
	if err != nil {
		return err
	}
	t.created = found.Count(release.Created)
	w := t.differences.Writer()
	var sorted []byte
	for _, change := range release.Changes() {
		err = errors.Join(err, found.Keys(ctx, change, func(key []byte) error {
			if !slices.Contains(changelog.Kinds(), fragment.Kind(key[0])) {
				return nil
			}
			sorted = appendSortKey(sorted[:0], key)
			return w.Add(binary.BigEndian.Uint64(sorted[1:]), sorted, []byte{byte(change)})
		}))
	}
	return errors.Join(err, w.Close())
}

// appendSortKey appends a key of a release so that seasons and episodes come behind their
// series: the kind is that of the series, and what is longer is a part of it.
func appendSortKey(dst, key []byte) []byte {
	k := fragment.Kind(key[0])
	if k == fragment.KindSeason || k == fragment.KindEpisode {
		k = fragment.KindTV
	}
	return append(append(dst, byte(k)), key[1:]...)
}

// compareAll compares what collect found, a partition at a time.
func (t *task) compareAll(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, t.Jobs))
	for i := range partitions {
		g.Go(func() error {
			return release.Guard(func() error { return t.comparePartition(ctx, i) })
		})
	}
	return g.Wait()
}

func (t *task) comparePartition(ctx context.Context, i int) (err error) {
	it, err := t.differences.Partition(ctx, i, t.Memory/4/int64(max(1, t.Jobs)))
	if err != nil {
		return err
	}
	defer it.Close()
	z, err := segment.New(t.Level)
	if err != nil {
		return err
	}
	defer z.Close()
	w := &worker{
		t: t, z: z, out: t.items.Writer(), writer: newItemWriter(t.Date),
		differ: differ{old: source{rel: t.Previous}, now: source{rel: t.Next}},
	}
	defer func() { err = errors.Join(err, w.out.Close()) }()
	return w.all(it)
}

// note remembers that a resource is in the list of its kind.
func (t *task) note(k fragment.Kind, row changelog.Row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.changed[k] = append(t.changed[k], row)
}

// sawKeys remembers which keys there are.
func (t *task) sawKeys(keys map[string]struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k := range keys {
		t.keys[k] = struct{}{}
	}
}
