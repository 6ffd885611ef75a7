package task

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// openFind opens the tasks that build the external ids, a partition each, with the resources that they find. A task
// writes a part of the release.
func openFind(b *Build) (tasks, error) {
	contributions, err := b.openSorted("", "titles", "resources")
	run := func(ctx context.Context, i int, d *taskRecord) error {
		return b.writePart(d, b.findPart(i), func(o *output) error {
			var hits []release.Include
			return contributions.groups(ctx, b.Plan.FindSection(uint64(i)), func(key []byte, payloads [][]byte) error {
				hits = hits[:0]
				for _, p := range payloads {
					if len(p) != hitLen {
						return fmt.Errorf("contribution to an external id of %d bytes, want %d", len(p), hitLen)
					}
					o.inputs.Bytes(p)
					hits = append(hits, release.Include{
						Kind: fragment.Kind(p[0]), ID: binary.BigEndian.Uint64(p[1:]),
						Season: binary.BigEndian.Uint32(p[9:]), Episode: binary.BigEndian.Uint32(p[13:]),
					})
				}
				return o.addInputs(key, func() []release.FragmentSpec { return o.render.Find(hits) })
			})
		})
	}
	return tasks{run, contributions.close}, err
}

// maxExternalID is the length limit of external ids in bytes: a key has two more bytes.
const maxExternalID = fragment.MaxKeyLen - 2

// hitLen is the length of a hit in a contribution, in bytes.
const hitLen = 1 + 8 + 4 + 4

// externalID contributes a resource to an external id.
func (c *contributor) externalID(s fragment.Source, id string, hit release.Include) {
	if id == "" || len(id) > maxExternalID {
		return
	}
	c.key = fragment.AppendFind(c.key[:0], s, id)
	c.buf = binary.BigEndian.AppendUint64(append(c.buf[:0], byte(hit.Kind)), hit.ID)
	c.buf = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(c.buf, hit.Season), hit.Episode)
	c.fail(c.s.Add(c.b.Plan.FindSection(xxh3.Hash(c.key)), c.key, c.buf))
}

// externalIDs contributes a resource to its external ids. r is the external_ids response or nil; imdb is the IMDb id
// in the details.
func (c *contributor) externalIDs(r record.Record, imdb string, hit release.Include) {
	if r.IsNil() {
		c.externalID(fragment.SourceIMDb, imdb, hit)
		return
	}
	for i := range r.Schema.Fields {
		f := &r.Schema.Fields[i]
		s, ok := fragment.ParseSource(f.Name)
		if !ok {
			continue
		}
		id := ""
		switch {
		case f.Shape == record.ShapeInt && r.Int(f).V != 0:
			id = strconv.FormatInt(r.Int(f).V, 10)
		case f.Shape == record.ShapeString:
			id = r.String(f).V
		}
		if s == fragment.SourceIMDb && id != imdb {
			c.externalID(s, imdb, hit)
		}
		c.externalID(s, id, hit)
	}
	// The API finds by sources that its external_ids do not always list, such as tiktok_id of a movie.
	_ = record.EachField("{"+r.Object().Extra+"}", func(name, raw string) error { // not our text: it may be invalid, and is served unchanged
		s, ok := fragment.ParseSource(name)
		if n, err := strconv.ParseInt(raw, 10, 64); ok && err == nil && n != 0 {
			c.externalID(s, raw, hit)
		} else if ok {
			c.externalID(s, record.Unquote(raw), hit)
		}
		return nil
	})
}
