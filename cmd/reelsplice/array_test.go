package main

import (
	"strings"
	"testing"
)

func TestArrayIndex(t *testing.T) {
	for _, test := range []struct {
		name, environ string
		index, count  int
		source        string
		err           string // part of the message, "" for none
	}{
		{name: "none", environ: "PATH=/bin SLURM_JOB_ID=7"},
		{name: "kubernetes", environ: "JOB_COMPLETION_INDEX=3", index: 3, source: "JOB_COMPLETION_INDEX"},
		{name: "nomad", environ: "NOMAD_ALLOC_INDEX=0", source: "NOMAD_ALLOC_INDEX"},
		{
			name:    "slurm",
			environ: "SLURM_ARRAY_TASK_ID=15 SLURM_ARRAY_TASK_COUNT=16 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=15",
			index:   15, count: 16, source: "SLURM_ARRAY_TASK_ID",
		},
		{name: "aws", environ: "AWS_BATCH_JOB_ARRAY_INDEX=1 AWS_BATCH_JOB_ARRAY_SIZE=2", index: 1, count: 2, source: "AWS_BATCH_JOB_ARRAY_INDEX"},
		{name: "cloud run", environ: "CLOUD_RUN_TASK_INDEX=4 CLOUD_RUN_TASK_COUNT=9 CLOUD_RUN_TASK_ATTEMPT=0", index: 4, count: 9, source: "CLOUD_RUN_TASK_INDEX"},

		{name: "no number", environ: "JOB_COMPLETION_INDEX=one", err: `JOB_COMPLETION_INDEX is "one": want a number`},
		{name: "empty", environ: "NOMAD_ALLOC_INDEX="},
		{name: "negative", environ: "NOMAD_ALLOC_INDEX=-1", err: `NOMAD_ALLOC_INDEX is "-1"`},
		{name: "too large", environ: "NOMAD_ALLOC_INDEX=2147483648", err: "NOMAD_ALLOC_INDEX is"},
		{name: "index alone", environ: "CLOUD_RUN_TASK_INDEX=4", err: "CLOUD_RUN_TASK_COUNT is not set"},
		{name: "count alone", environ: "AWS_BATCH_JOB_ARRAY_SIZE=4", err: "AWS_BATCH_JOB_ARRAY_INDEX is not set"},
		{name: "index beyond", environ: "CLOUD_RUN_TASK_INDEX=9 CLOUD_RUN_TASK_COUNT=9", err: "CLOUD_RUN_TASK_INDEX is 9: want less than CLOUD_RUN_TASK_COUNT, which is 9"},
		{name: "no tasks", environ: "CLOUD_RUN_TASK_INDEX=0 CLOUD_RUN_TASK_COUNT=0", err: "CLOUD_RUN_TASK_INDEX is 0"},
		{
			name:    "slurm from 1",
			environ: "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=16 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=16",
			err:     "SLURM_ARRAY_TASK_MIN is 1, not 0",
		},
		{
			name:    "slurm with gaps",
			environ: "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=7",
			err:     "SLURM_ARRAY_TASK_MAX is 7, not 1",
		},
		{name: "slurm in part", environ: "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=2", err: "SLURM_ARRAY_TASK_MIN is not set"},
		{name: "two engines", environ: "NOMAD_ALLOC_INDEX=1 JOB_COMPLETION_INDEX=1", err: "both JOB_COMPLETION_INDEX and NOMAD_ALLOC_INDEX are set"},
	} {
		t.Run(test.name, func(t *testing.T) {
			index, count, source, err := arrayIndex(strings.Fields(test.environ))
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("error is %v, want one with %q", err, test.err)
				}
				return
			}
			if err != nil || index != test.index || count != test.count || source != test.source {
				t.Fatalf("got %d of %d from %q, %v; want %d of %d from %q", index, count, source, err, test.index, test.count, test.source)
			}
		})
	}
}
