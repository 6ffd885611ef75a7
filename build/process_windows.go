package build

import (
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryCounters is PROCESS_MEMORY_COUNTERS.
type memoryCounters struct {
	size           uint32
	pageFaultCount uint32
	peakWorkingSet uintptr
	_              [7]uintptr
}

var getProcessMemoryInfo = windows.NewLazySystemDLL("kernel32.dll").NewProc("K32GetProcessMemoryInfo")

// PeakRSS returns the peak memory of this process in bytes, 0 if unknown.
func PeakRSS() int64 {
	m := memoryCounters{size: uint32(unsafe.Sizeof(memoryCounters{}))}
	if ok, _, _ := getProcessMemoryInfo.Call(uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&m)), uintptr(m.size)); ok == 0 {
		return 0
	}
	return int64(m.peakWorkingSet)
}

// CPUSeconds returns the CPU time of this process, 0 if unknown.
func CPUSeconds() float64 {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user); err != nil {
		return 0
	}
	return (elapsed(kernel) + elapsed(user)).Seconds()
}

// elapsed converts a duration that the system encodes as a time.
func elapsed(t windows.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}
