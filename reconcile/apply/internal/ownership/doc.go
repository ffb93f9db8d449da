// Package ownership reports whose an object is: whether it belongs to the set of
// the owner, and whether the owner may write it. What cannot be proven is not
// ours.
package ownership
