package task

import (
	"errors"

	"github.com/reelsplice/reelsplice/build/render"
	"github.com/reelsplice/reelsplice/build/reuse"
	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// An output writes the resources of a task into its part of the release.
type output struct {
	*reuse.Writer
	render *render.Renderer
	inputs reuse.Inputs // of the resource at hand
	key    []byte
}

// Parts of the release, in order: the common one, one for each task of the stages titles,
// resources and find, one for what is removed.
const (
	commonPart     = 0
	firstTitlePart = 1
)

func (b *Build) resourcePart(i int) int { return firstTitlePart + b.Plan.TitleTasks() + i }
func (b *Build) findPart(i int) int     { return b.resourcePart(b.Plan.Partitions()) + i }
func (b *Build) removedPart() int       { return b.findPart(b.Plan.Finds) }

// reusedCount is the name of the count of resources that were taken over from the previous release.
const reusedCount = "reused"

// write writes a part of the release by what fn adds to it, and adds the part to the record of the task.
func (b *Build) write(d *Done, part int, fn func(o *output) error) error {
	p, err := release.CreatePart(release.PartOptions{Dir: b.Folder.Dir(work.Release), Number: part, Previous: b.reuse})
	if err != nil {
		return err
	}
	o := &output{render: render.New()}
	if o.Writer, err = reuse.NewWriter(b.reuse, p, b.Plan.Level); err != nil {
		_, closing := p.Close()
		return errors.Join(err, closing)
	}
	err = fn(o)
	made, closing := o.Close()
	d.Parts = append(d.Parts, made)
	if n := o.Copied(); n > 0 {
		d.Counts[reusedCount] += n
	}
	return errors.Join(err, closing)
}

// spec starts the resource of a record with the fingerprint of its inputs. id is the one that
// standalone responses have. The key is valid until the next call.
func (o *output) spec(kind fragment.Kind, k catalog.Key, id, fingerprint uint64) release.ResourceSpec {
	o.key = k.Append(o.key[:0], kind)
	return release.ResourceSpec{Key: o.key, ID: id, Fingerprint: fingerprint}
}

// addInputless writes a resource that follows from its key and the program alone.
func (o *output) addInputless(key []byte, render func() []render.Fragment) error {
	return o.Add(release.ResourceSpec{Key: key, Fingerprint: o.inputs.Fingerprint()}, render)
}
