// Defects plants plausible defects in an example, one at a time, and runs the example's own tests on each. It prints each defect that no
// test detects, and fails if these are more than one in ten. It does not change the tree: a defect is an overlay of the build.
package main
