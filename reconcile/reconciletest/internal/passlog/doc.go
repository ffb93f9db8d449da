// Package passlog records log lines of an operator: panics and errors always, other lines on request.
package passlog
