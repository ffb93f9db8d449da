// Package content turns planned objects into what is sent for them, keeping
// only what their author has set, and into hashes by which equal plans are
// recognised.
package content
