package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/build/records"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/tables"
)

// A contribution weighs about as much as that many bytes of a record, and a row of a table likewise.
const (
	contributionBytes = 60
	tableRowBytes     = 100
)

// weigh estimates how long tasks take, by the bytes that they read.
func (p *Plan) weigh(in *records.Inputs) {
	titles := make([]int64, p.TitleTasks())
	for i := range titles {
		kind, span := p.TitleSpan(i)
		titles[i] = in.Of(kind).Bytes(span)
		if kind == fragment.KindTV {
			titles[i] += in.Of(fragment.KindSeason).Bytes(span) + in.Of(fragment.KindEpisode).Bytes(span)
		}
	}
	p.Weights["survey"], p.Weights["titles"] = titles, titles
	resources := make([]int64, p.Partitions())
	for i := range p.Resources {
		r := &p.Resources[i]
		file := in.Of(r.Kind)
		for k := range r.Partitions() {
			span := r.Spans[k/r.Subs]
			expect := r.Expect / int64(r.Partitions())
			if all := file.Rows(); all > 0 { // titles contribute to all records alike
				expect = r.Expect * file.RowsIn(span) / all / int64(r.Subs)
			}
			resources[r.First+k] = file.Bytes(span)/int64(r.Subs) + contributionBytes*expect
		}
	}
	p.Weights["resources"] = resources
	for table, kind := range tables.Kinds {
		weight := tableRowBytes * in.Of(kind).Rows()
		p.Weights["tables"] = append(p.Weights["tables"], weight)
		from, to := p.RangesOf(table)
		for range to - from {
			p.Weights["ranges"] = append(p.Weights["ranges"], weight/int64(to-from))
		}
	}
	p.Weights["tables"] = append(p.Weights["tables"], contributionBytes*p.Resources[0].Expect) // of credits
}

// What a task keeps on its disk: for each byte that it reads, its part of the release, contributions and runs of
// sorting.
const (
	diskOfRecord = 4
	diskOfRow    = 2
	diskAtLeast  = 64 << 20
)

// bound estimates the disk of the task that needs most.
func (p *Plan) bound() {
	var most int64
	for stage, weights := range p.Weights {
		factor := int64(diskOfRecord)
		if stage == "ranges" || stage == "tables" {
			factor = diskOfRow
		}
		for _, w := range weights {
			most = max(most, factor*w)
		}
	}
	p.Disk = most + diskAtLeast
}

// Share returns the tasks, of the n of a stage, that process index of count does. The longest tasks are
// dealt first, each to the process that has least to do: all take about as long as one another.
func (p *Plan) Share(stage string, n, index, count int) []int {
	weights := p.Weights[stage]
	if len(weights) != n {
		weights = make([]int64, n)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weights[b], weights[a]) })
	loads, mine := make([]int64, count), []int(nil)
	for _, i := range order {
		least := 0
		for k := range loads {
			if loads[k] < loads[least] {
				least = k
			}
		}
		loads[least] += max(1, weights[i])
		if least == index {
			mine = append(mine, i)
		}
	}
	return mine
}

// ID returns a hash of the plan: 16 hex digits.
func (p *Plan) ID() string {
	data, _ := json.Marshal(p) // which has nothing that JSON lacks
	return fmt.Sprintf("%016x", xxh3.Hash(data))
}
