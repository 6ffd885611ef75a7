package main

import (
	"fmt"
	"strconv"
	"strings"
)

// An arrayEngine names the variables by which an engine tells a task of an array job its place.
type arrayEngine struct {
	index string
	count string // "" if the engine does not set it
	// min and max are the bounds of the indexes, "" if they always are 0 and count-1.
	min, max string
}

var arrayEngines = []arrayEngine{
	{index: "JOB_COMPLETION_INDEX"}, // Kubernetes
	{index: "SLURM_ARRAY_TASK_ID", count: "SLURM_ARRAY_TASK_COUNT", min: "SLURM_ARRAY_TASK_MIN", max: "SLURM_ARRAY_TASK_MAX"},
	{index: "AWS_BATCH_JOB_ARRAY_INDEX", count: "AWS_BATCH_JOB_ARRAY_SIZE"},
	{index: "NOMAD_ALLOC_INDEX"},
	{index: "CLOUD_RUN_TASK_INDEX", count: "CLOUD_RUN_TASK_COUNT"},
}

// arrayIndex returns the place of this process in the array job that environ, a list of NAME=value,
// describes. source is the variable of the index, "" outside of array jobs. count is 0 where the
// engine does not set it.
func arrayIndex(environ []string) (index, count int, source string, err error) {
	values := map[string]string{}
	for _, v := range environ {
		if name, value, _ := strings.Cut(v, "="); value != "" { // an empty variable counts as absent
			values[name] = value
		}
	}
	for _, e := range arrayEngines {
		i, n, ok, err := e.place(values)
		switch {
		case err != nil:
			return 0, 0, "", fmt.Errorf("environment of an array job: %w", err)
		case ok && source != "":
			return 0, 0, "", fmt.Errorf("environment of an array job: both %s and %s are set: want --index and --count", source, e.index)
		case ok:
			index, count, source = i, n, e.index
		}
	}
	return index, count, source, nil
}

// place reads the variables of one engine; ok is false if none of them is set.
func (e arrayEngine) place(values map[string]string) (index, count int, ok bool, err error) {
	_, hasIndex := values[e.index]
	if _, hasCount := values[e.count]; !hasIndex && !hasCount {
		return 0, 0, false, nil
	}
	if index, err = arrayNumber(values, e.index); err != nil || e.count == "" {
		return index, 0, true, err
	}
	if count, err = arrayNumber(values, e.count); err != nil {
		return 0, 0, true, err
	}
	// A gap or another start would leave shares without a task.
	for _, bound := range []struct {
		name string
		want int
	}{{e.min, 0}, {e.max, count - 1}} {
		if bound.name == "" {
			continue
		}
		n, err := arrayNumber(values, bound.name)
		if err != nil {
			return 0, 0, true, err
		}
		if n != bound.want {
			return 0, 0, true, fmt.Errorf("%s is %d, not %d: want an array of 0 to its count - 1, or --index and --count", bound.name, n, bound.want)
		}
	}
	if index >= count {
		return 0, 0, true, fmt.Errorf("%s is %d: want less than %s, which is %d", e.index, index, e.count, count)
	}
	return index, count, true, nil
}

// arrayNumber returns the number that a variable holds.
func arrayNumber(values map[string]string, name string) (int, error) {
	text, ok := values[name]
	if !ok {
		return 0, fmt.Errorf("%s is not set, other variables of the array are: want all of them, or --index and --count", name)
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%s is %q: want a number, or --index and --count", name, text)
	}
	return int(n), nil
}
