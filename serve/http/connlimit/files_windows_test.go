package connlimit

import "golang.org/x/sys/windows"

const tooManyFiles = windows.WSAEMFILE
