package e2e

import (
	"slices"
)

type shownRelease struct {
	country, day, certification string
	typ                         int64
}

type offer struct {
	country, typ string
	provider     int64
}

// runtimeOf returns the runtime of a series: its own, else the most frequent of its
// episodes, the shorter one of several.
func runtimeOf(series *value, episodes []int64) int64 {
	if times := series.list("episode_run_time"); len(times) > 0 {
		return times[0].int()
	}
	var best int64
	most := 0
	slices.Sort(episodes)
	for len(episodes) > 0 {
		n := 1
		for n < len(episodes) && episodes[n] == episodes[0] {
			n++
		}
		if episodes[0] > 0 && n > most {
			best, most = episodes[0], n
		}
		episodes = episodes[n:]
	}
	return best
}

func (v *value) isTrue(path ...string) bool {
	v = v.at(path...)
	return v != nil && v.scalar == true
}
