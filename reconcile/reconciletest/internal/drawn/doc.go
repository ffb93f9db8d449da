// Package drawn knows the names of objects that an operator draws at random, so that two runs in which they differ can be compared.
package drawn
