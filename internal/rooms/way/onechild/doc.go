// Command onechild applies a plan of one child in several situations, and prints through which rooms the child passes. The command
// way compiles it together with an engine that is traced; on its own it prints zeros.
package main
