// Package mmap maps files into memory and advises the system about them: what to read ahead,
// what to forget. On systems without a call, the advice does nothing.
package mmap
