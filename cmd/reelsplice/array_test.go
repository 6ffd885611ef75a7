package main

import (
	"strings"
	"testing"
)

func TestArrayIndex(t *testing.T) {
	for environ, want := range map[string]int{
		"JOB_COMPLETION_INDEX=3": 3, "NOMAD_ALLOC_INDEX=0": 0, "SLURM_JOB_ID=7 SLURM_ARRAY_TASK_ID=15": 15,
		"AWS_BATCH_JOB_ARRAY_INDEX=1 NOMAD_ALLOC_INDEX=": 1, "CLOUD_RUN_TASK_INDEX=4 CLOUD_RUN_TASK_COUNT=9": 4,
	} {
		if got, err := arrayIndex(strings.Fields(environ)); err != nil || got != want {
			t.Errorf("%s: index %d, %v, want %d", environ, got, err, want)
		}
	}
	for environ, want := range map[string]string{
		"PATH=/bin":                                  "want --index",
		"JOB_COMPLETION_INDEX=one":                   `JOB_COMPLETION_INDEX is "one": want a number`,
		"NOMAD_ALLOC_INDEX=-1":                       `NOMAD_ALLOC_INDEX is "-1"`,
		"NOMAD_ALLOC_INDEX=2147483648":               "NOMAD_ALLOC_INDEX is",
		"NOMAD_ALLOC_INDEX=1 JOB_COMPLETION_INDEX=1": "JOB_COMPLETION_INDEX and another engine's index are both set",
	} {
		if got, err := arrayIndex(strings.Fields(environ)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: index %d, %v, want an error with %q", environ, got, err, want)
		}
	}
}
