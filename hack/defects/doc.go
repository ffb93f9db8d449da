// Defects plants plausible defects in an example, one at a time, and runs the example's own tests on each: a defect that no test
// notices is printed, and more than one in ten fails. The tree is not touched: a defect is an overlay of the build.
package main
