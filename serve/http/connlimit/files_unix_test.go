//go:build unix

package connlimit

import "syscall"

const tooManyFiles = syscall.EMFILE
