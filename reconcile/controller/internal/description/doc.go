// Package description derives from the declared kinds of a controller what its page says of them: what wakes its owners, what it reads
// and writes, and the least rights for that.
package description
