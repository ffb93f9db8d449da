// Package queue makes the work queue of a controller fair between the namespaces of the owners.
package queue
