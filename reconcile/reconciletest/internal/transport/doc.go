// Package transport is what an instance of an operator has between itself and the API server: it counts every request, makes one
// fail, refuses what the rights do not cover, and is cut when the instance crashes.
package transport
