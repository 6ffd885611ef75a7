// Package process tells what the process has cost so far.
package process
