// Package nemo is the controller of NemoGuardrails: a server that runs guardrails which users have written.
package nemo
