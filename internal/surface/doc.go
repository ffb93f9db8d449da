// Package surface lists what a package exports, a line for each name, so that
// a change of it is seen where it is made. The lists are in api/ at the top of
// the module; its test fails when they and the code differ.
package surface
