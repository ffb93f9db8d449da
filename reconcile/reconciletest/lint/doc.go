// Package lint contains checks that do not run the operator: sources that bypass the SDK ([Boundary]), outdated generated files
// ([Generated]), missing watches ([Watched]), a status that other tools misread ([Kstatus]), a plan that depends on more than its input
// ([Purity]), and children with labels and annotations of the engine that were copied from an owner ([EngineKeys]).
package lint
