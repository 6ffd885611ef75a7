//go:build !windows

package quarantine

import "syscall"

var full = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}
