// Package nemo reconciles NemoGuardrails: a server that runs the guardrails of users.
package nemo
