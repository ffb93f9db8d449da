package podtemplate

import (
	"fmt"
	"strings"
)

// ConflictError reports that two places want different things of one name.
type ConflictError struct {
	// What is wanted twice, such as `volume "models"` or `mount at "/models" in container "server"`.
	What string
	// First and Second are the places, the less specific one first. They are the same when one place repeats itself.
	First, Second string
}

// Error names the thing and both places.
func (e *ConflictError) Error() string {
	if e.First == e.Second {
		return fmt.Sprintf("%s: %s is there twice; leave one out", e.Second, e.What)
	}
	return fmt.Sprintf("%s: %s is that of %s already; choose another name", e.Second, e.What, e.First)
}

// unknownContainerError reports that a part adds to a container that no place has.
type unknownContainerError struct {
	from      string
	container string
	known     []string // the names that would be right
}

// Error names the containers that there are.
func (e *unknownContainerError) Error() string {
	return fmt.Sprintf("%s: container %q does not exist; want one of %s", e.from, e.container, strings.Join(e.known, ", "))
}
