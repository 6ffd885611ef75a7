package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Names in the packages; see scripts/packaging.
const (
	packagedProgram = "/usr/bin/reelsplice"
	packagedUser    = "reelsplice"
	packagedDumps   = "/var/lib/reelsplice/dumps"
	packagedCache   = "/var/cache/reelsplice"
	environmentFile = "/etc/reelsplice/environment"
	unitFile        = "/usr/lib/systemd/system/reelsplice.service"
	editedUnit      = "/etc/systemd/system/reelsplice.service"
	dropIns         = "/etc/systemd/system/reelsplice.service.d/*.conf"
)

// fileLimit starts the line of the unit with the limit of open files.
const fileLimit = "LimitNOFILE="

// portLines let the unit take a port below 1024. A capability of the
// program's file has no effect there: the unit's bounding set is empty.
var portLines = []string{"AmbientCapabilities=CAP_NET_BIND_SERVICE", "CapabilityBoundingSet=CAP_NET_BIND_SERVICE", "PrivateUsers=no"}

// unit returns the lines of the package's unit and those added to it, or nil if the program is not the package's.
func (x *examiner) unit() (lines []string) {
	if x.Program != packagedProgram {
		return nil
	}
	added, _ := filepath.Glob(x.Root + dropIns) // the pattern is sound
	for i, path := range append([]string{x.Root + unitFile, x.Root + editedUnit}, added...) {
		text, err := os.ReadFile(path)
		if i == 0 && err != nil {
			return nil
		}
		lines = append(lines, strings.Split(string(text), "\n")...)
	}
	return lines
}

func (x *examiner) packaged() bool { return x.unit() != nil }

// hasLines reports whether the unit has all of the lines.
func (x *examiner) hasLines(lines ...string) bool {
	unit := x.unit()
	return !slices.ContainsFunc(lines, func(line string) bool { return !slices.Contains(unit, line) })
}

// edit returns how lines are added to the unit.
func (x *examiner) edit(lines ...string) string {
	return x.root("systemctl", "edit", "reelsplice") + " to add [Service], " + strings.Join(lines, ", ") + x.restart()
}

// restart returns the text after a change that says how to apply it.
func (x *examiner) restart() string {
	if !x.packaged() {
		return ""
	}
	return ", then " + x.root("systemctl", "restart", "reelsplice")
}

// mayWrite warns if the unit does not let the edge write to a folder.
func (x *examiner) mayWrite(check, dir string) {
	line := "ReadWritePaths=" + dir
	if x.packaged() && dir != packagedCache && !strings.HasPrefix(dir, packagedCache+"/") && !x.hasLines(line) {
		x.warn(check, x.edit(line), "the unit lets the edge write only to %s, not to %s", packagedCache, dir)
	}
}
