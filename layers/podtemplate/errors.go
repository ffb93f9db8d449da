package podtemplate

import (
	"fmt"
	"strings"
)

// ConflictError reports that two parts set different values for one name.
type ConflictError struct {
	// What names the item in conflict, such as `volume "models"` or `mount at "/models" in container "server"`.
	What string
	// First and Second name the parts, the less specific one first. They are equal if one part contains both items.
	First, Second string
}

// Error names the item and both parts.
func (e *ConflictError) Error() string {
	if e.First == e.Second {
		return fmt.Sprintf("%s: %s is defined twice; remove one", e.Second, e.What)
	}
	return fmt.Sprintf("%s: %s is already defined by %s; choose another name", e.Second, e.What, e.First)
}

// unknownContainerError reports that a part adds to a container that no part defines.
type unknownContainerError struct {
	from      string
	container string
	known     []string // the accepted names
}

// Error lists the existing containers.
func (e *unknownContainerError) Error() string {
	return fmt.Sprintf("%s: container %q does not exist; want one of %s", e.from, e.container, strings.Join(e.known, ", "))
}
