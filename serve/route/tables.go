package route

import (
	"strings"
	"sync"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// tables are the table of operations in package api, prepared for requests.
type tables struct {
	root  *node    // leaves are indexes of reads
	reads []api.Op // operation of GET on each path; NoOp if the edge rejects it
	ops   []opInfo // by api.Op
}

// An opInfo has the parameters and the append names of an operation.
type opInfo struct {
	params paramSet
	names  *namespace // nil for operations that append nothing
}

// A namespace holds the names that can be appended.
type namespace struct {
	root  *node // leaves are indexes of names
	names []nameInfo
}

// A nameInfo is the sub-request of an append name.
type nameInfo struct {
	op     api.Op
	kind   fragment.Kind
	sub    fragment.Sub
	params paramSet
}

// load returns the tables, built once.
var load = sync.OnceValue(newTables)

// Prepare builds the tables. Otherwise the first request waits for it.
func Prepare() { load() }

func newTables() *tables {
	t := &tables{root: newNode()}
	names := map[string]*namespace{}
	for _, n := range api.Namespaces() {
		names[n] = newNamespace(n)
	}
	for i := range api.Operations() {
		op := api.Op(i).Operation()
		t.ops = append(t.ops, opInfo{params: paramSetOf(op.QueryParams), names: names[op.Appends]})
		n := t.root.add(strings.TrimPrefix(op.Path, "/"), func(name string) slot { return slotOf(op, name) })
		if n.leaf < 0 {
			n.leaf = len(t.reads)
			t.reads = append(t.reads, api.NoOp)
		}
		// GETs that write without a session return values that need not be stored.
		if op.Method == get && (!op.Writes || !op.Session) {
			t.reads[n.leaf] = api.Op(i)
		}
	}
	return t
}

// slotOf returns the slot of a path parameter of op.
func slotOf(op *api.Operation, name string) slot {
	if s := seriesSlot(name); s != slotNone {
		return s
	}
	for _, p := range op.PathParams {
		switch {
		case p.Name != name:
		case name == "external_id": // a Freebase ID has a slash: /m/03d34x8
			return slotRest
		case !p.Integer || name == "account_id":
			// The session determines the account: some clients leave the parameter as it is.
			return slotText
		case name == "movie_id":
			return slotMovie
		default:
			return slotID
		}
	}
	panic("route: " + op.Name + " does not describe {" + name + "}")
}

// seriesSlot returns the slot of a number below a series, slotNone for other names.
func seriesSlot(name string) slot {
	switch name {
	case "season_number":
		return slotSeason
	case "episode_number":
		return slotEpisode
	}
	return slotNone
}

func newNamespace(name string) *namespace {
	ns := &namespace{root: newNode()}
	for _, a := range api.AppendNames(name) {
		if a.Inherits == "" {
			ns.add(a.Name, nameInfo{a.Op, a.Kind, a.Sub, paramSetOf(a.Params)})
			continue
		}
		prefix := strings.TrimSuffix(a.Name, "{sub_request}")
		for _, in := range api.SubRequests(a.Inherits) {
			ns.add(prefix+in.Name, nameInfo{in.Op, in.Kind, in.Sub, paramSetOf(in.Params)})
		}
	}
	return ns
}

func (ns *namespace) add(name string, info nameInfo) {
	n := ns.root.add(name, seriesSlot)
	n.leaf = len(ns.names)
	ns.names = append(ns.names, info)
}
