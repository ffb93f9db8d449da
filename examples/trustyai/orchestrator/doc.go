// Package orchestrator is the controller of GuardrailsOrchestrator: a program that runs detectors on what a model reads and writes.
package orchestrator
