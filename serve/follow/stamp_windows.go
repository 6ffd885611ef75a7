package follow

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// fileBasicInfo is FILE_BASIC_INFO. Times count 100 ns since 1601.
type fileBasicInfo struct {
	CreationTime, LastAccessTime, LastWriteTime, ChangeTime windows.Filetime
	FileAttributes                                          uint32
	_                                                       uint32
}

// stampOf returns the stamp of a file, zero if it cannot be opened.
func stampOf(path string) stamp {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return stamp{}
	}
	// Attributes alone: that stands in the way of nobody who replaces the file.
	h, err := windows.CreateFile(name, windows.FILE_READ_ATTRIBUTES, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return stamp{}
	}
	defer func() { _ = windows.CloseHandle(h) }() // nothing was written
	var id windows.ByHandleFileInformation
	var times fileBasicInfo
	if windows.GetFileInformationByHandle(h, &id) != nil ||
		windows.GetFileInformationByHandleEx(h, windows.FileBasicInfo, (*byte)(unsafe.Pointer(&times)), uint32(unsafe.Sizeof(times))) != nil {
		return stamp{}
	}
	return stamp{uint64(id.FileIndexHigh)<<32 | uint64(id.FileIndexLow), times.ChangeTime.Nanoseconds()}
}
