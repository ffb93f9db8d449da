// Package announcement chooses which transitions of conditions become events.
package announcement
