// Package dryrun runs passes without carrying them out. It stands where a pass would act, and notes what it would do instead: in the engine's
// place, the status writer's and the transport's, which refuses what is no read.
package dryrun
