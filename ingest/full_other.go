//go:build !windows

package ingest

import "syscall"

var errsFull = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}
