// Command wine writes a bcryptprimitives.dll for Wine 8, which lacks that library: Go programs get random numbers from
// it. The DLL has no code. It forwards its only function to advapi32.dll.
package main

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"fmt"
	"os"
)

const (
	base   = 0x1000 // address of the only section in memory
	align  = 0x200  // alignment of headers and section in the file
	magic  = 0x20b  // a 64-bit program
	inData = pe.IMAGE_SCN_CNT_INITIALIZED_DATA | pe.IMAGE_SCN_MEM_READ
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: wine FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], library("bcryptprimitives.dll", "ProcessPrng", "advapi32.SystemFunction036"), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// library returns a DLL that forwards one function to another DLL.
func library(name, function, forward string) []byte {
	table := exports(name, function, forward)
	opt := pe.OptionalHeader64{
		Magic: magic, ImageBase: 0x180000000, SectionAlignment: base, FileAlignment: align,
		MajorOperatingSystemVersion: 6, MajorSubsystemVersion: 6, SizeOfImage: 2 * base, SizeOfHeaders: align,
		Subsystem: pe.IMAGE_SUBSYSTEM_WINDOWS_CUI, DllCharacteristics: pe.IMAGE_DLLCHARACTERISTICS_NX_COMPAT, NumberOfRvaAndSizes: 16,
	}
	opt.DataDirectory[pe.IMAGE_DIRECTORY_ENTRY_EXPORT] = pe.DataDirectory{VirtualAddress: base, Size: uint32(len(table))}
	file := pe.FileHeader{
		Machine: pe.IMAGE_FILE_MACHINE_AMD64, NumberOfSections: 1, SizeOfOptionalHeader: uint16(binary.Size(opt)),
		Characteristics: pe.IMAGE_FILE_EXECUTABLE_IMAGE | pe.IMAGE_FILE_LARGE_ADDRESS_AWARE | pe.IMAGE_FILE_DLL,
	}
	section := pe.SectionHeader32{
		Name: [8]uint8{'.', 'r', 'd', 'a', 't', 'a'}, VirtualSize: uint32(len(table)), VirtualAddress: base,
		SizeOfRawData: align, PointerToRawData: align, Characteristics: inData,
	}
	var b bytes.Buffer
	b.WriteString("MZ")
	b.Write(make([]byte, 58))
	put(&b, uint32(64)) // offset of the program header
	b.WriteString("PE\x00\x00")
	put(&b, file, opt, section)
	b.Write(make([]byte, align-b.Len()))
	b.Write(table)
	b.Write(make([]byte, 2*align-b.Len()))
	return b.Bytes()
}

// exports returns the section: a directory of one function, its tables and its names.
func exports(name, function, forward string) []byte {
	const (
		tables  = base + 40 // after the directory: address, name and number of the function
		strings = tables + 12
	)
	nameAt := uint32(strings)
	functionAt := nameAt + uint32(len(name)) + 1
	forwardAt := functionAt + uint32(len(function)) + 1
	var b bytes.Buffer
	put(&b, uint32(0), uint32(0), uint32(0), nameAt, uint32(1), uint32(1), uint32(1), uint32(tables), uint32(tables+4), uint32(tables+8))
	put(&b, forwardAt, functionAt, uint32(0))
	b.WriteString(name + "\x00" + function + "\x00" + forward + "\x00")
	return b.Bytes()
}

// put writes values in the byte order of the format.
func put(b *bytes.Buffer, values ...any) {
	for _, v := range values {
		_ = binary.Write(b, binary.LittleEndian, v) // fails only for types without a size
	}
}
