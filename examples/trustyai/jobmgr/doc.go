// Package jobmgr lets a queue of Kueue decide when an LMEvalJob runs, and on which nodes.
package jobmgr
