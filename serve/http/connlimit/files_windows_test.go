package connlimit

import "golang.org/x/sys/windows"

const errTooManyFiles = windows.WSAEMFILE
