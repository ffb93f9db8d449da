// Package recording is what stands behind package reconcile/record: the form of a recorded pass, what records the passes of a pipeline, and
// the pipeline that runs a recorded pass again.
//
// A replay is a pipeline whose world is the recording. What it does is recorded in the same form, so that two recordings can be compared.
package recording
