// Package passes decides when a pass may run: not before the cache shows what the last one wrote, and later when its plan comes out
// different every time. It keeps requeues that controller-runtime would drop.
package passes
