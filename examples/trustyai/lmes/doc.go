// Package lmes reconciles LMEvalJob: a pod that evaluates a language model once.
package lmes
