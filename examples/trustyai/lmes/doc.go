// Package lmes is the controller of LMEvalJob: a pod that evaluates a language model once.
package lmes
