//go:build unix

package connlimit

import "syscall"

const errTooManyFiles = syscall.EMFILE
