// Package decide turns a planned child, the object that exists and what is
// remembered of it into what has to be sent. It only reads.
package decide
