// Package lint has what a test can read off an operator without running it: sources that go around the SDK ([Boundary]), generated files
// that are behind the code ([Generated]), watches that are missing ([Watched]), a status that others read wrongly ([Kstatus]), a plan
// that depends on more than its input ([Purity]), children with labels and annotations of the engine that were copied from an owner
// ([EngineKeys]).
package lint
