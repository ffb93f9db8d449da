// Package orchestrator reconciles GuardrailsOrchestrator: a server that runs detectors on the input and output of a model.
package orchestrator
