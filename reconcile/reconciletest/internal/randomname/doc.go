// Package randomname recognises random names of objects, so that two runs with different names can be compared.
package randomname
