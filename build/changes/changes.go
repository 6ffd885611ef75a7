// Package changes finds out what a build changed, and writes it into the release as the
// table that package changelog describes.
//
// compare.Own finds the resources that differ between the previous release and the one at
// work. Of movies, series, seasons, episodes and people the answers of both
// are compared, as far as they differ: details, images, credits, translations, videos,
// keywords, alternative titles, release dates, ratings and external ids, each in the form
// without a language. What is counted (popularity, votes), what is derived (filmographies,
// recommendations, lists) and where a title can be watched are no changes. A resource
// with nothing but such differences has not changed.
//
// The changes of an episode are an item "episode" of its season, and those of a season an
// item "season" of its series, so that clients can follow them. Of a new resource the
// items are its creation and its details, or the first alone if more
// than MaxDetailed of its kind are new: then the catalogue is another one. Of
// one that was deleted or merged the item is that it is gone.
package changes

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reelsplice/reelsplice/build/segment"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/compare"
	"github.com/reelsplice/reelsplice/schemas/tables/changelog"
)

// MaxDetailed is up to how many new resources of a kind the changes have the details of.
const MaxDetailed = 10_000

// Partitions is the number of sections of Collect, each of which Compare takes by itself.
const Partitions = 32

// Collect adds the resources that differ between a share of two releases to the sections of s, those of a
// series together: its key, then those of its seasons, each before its episodes. It returns how
// many are new, by kind, and how many resources of any kind differ. Shares may find the same one.
func Collect(ctx context.Context, previous, next *release.Reader, share compare.Share, s *extsort.Sorter) (created map[fragment.Kind]int64, differ int64, err error) {
	found, err := compare.Own(ctx, previous, next, share)
	if err != nil {
		return nil, 0, err
	}
	var sorted []byte
	for _, change := range compare.Changes() {
		err := found.Keys(ctx, change, func(key []byte) error {
			differ++
			if !slices.Contains(changelog.Kinds(), fragment.Kind(key[0])) {
				return nil
			}
			sorted = appendSortKey(sorted[:0], key)
			return s.Add(int(binary.BigEndian.Uint64(sorted[1:])%Partitions), sorted, []byte{byte(change)})
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return found.Count(compare.Created), differ, nil
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

// Sections of the output of Compare: the items of each of changelog.Kinds, the rows of each of
// changelog.Lists, the keys of items.
func itemSection(k fragment.Kind) int { return slices.Index(changelog.Kinds(), k) }

func rowSection(k fragment.Kind) int {
	return len(changelog.Kinds()) + slices.Index(changelog.Lists(), k)
}
func keySection() int { return len(changelog.Kinds()) + len(changelog.Lists()) }

// Sections returns the number of sections of the output of Compare.
func Sections() int { return keySection() + 1 }

// Options are what Compare needs beside the resources that differ.
type Options struct {
	Previous *release.Reader // the release that the build is made upon
	Next     *release.Reader // the release in the making
	Created  map[fragment.Kind]int64
	Date     time.Time // of the changes
	Level    int       // of deflate
	Memory   int64     // bytes of both releases that may stay in memory
}

// A Tally counts, by kind, the movies, series and people of the table of changes that are new or gone.
type Tally struct{ Created, Deleted map[fragment.Kind]int64 }

// Compare compares the resources of a section of all outputs of Collect, and adds the changes to out.
func Compare(o Options, differences *extsort.Iterator, out *extsort.Sorter) (Tally, error) {
	z, err := segment.New(o.Level)
	if err != nil {
		return Tally{}, err
	}
	defer z.Close()
	w := &worker{
		o: o, z: z, out: out, writer: newItemWriter(o.Date),
		differ: differ{old: source{rel: o.Previous}, now: source{rel: o.Next}},
		tally:  Tally{map[fragment.Kind]int64{}, map[fragment.Kind]int64{}},
	}
	err = w.all(differences)
	return w.tally, err
}

// CheckDate returns an error if the previous release has changes later than date.
func CheckDate(previous *release.Reader, date time.Time) error {
	log := changelog.Open(previous)
	if n := log.Builds(); n > 0 && log.Time(n-1) > date.Unix() {
		return fmt.Errorf("changes of %s: release %s has changes of %s, which is later",
			date.Format(time.RFC3339), previous.Manifest().ID, time.Unix(log.Time(n-1), 0).UTC().Format(time.RFC3339))
	}
	return nil
}

// Found gives the records of a section of all outputs of Compare.
type Found func(ctx context.Context, section int) (*extsort.Iterator, error)

// each calls fn with the records of a section.
func (f Found) each(ctx context.Context, section int, fn func(key, payload []byte) error) error {
	it, err := f(ctx, section)
	if err != nil {
		return err
	}
	return errors.Join(it.Each(fn), it.Close())
}
