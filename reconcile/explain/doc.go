// Package explain is what a running operator knows about one owner: why it is not ready, down to the first cause; what triggered the last
// pass; what it read, decided and wrote; who contests which field; and when the next pass comes.
//
// The package has the data ([Owner]), its form as a [Tree], and the renderings of a tree as text and as JSON. It knows nothing of clusters:
// package reconcile/controller fills in what its controllers remember, see its functions Explain and ExplainHandler.
//
// Nothing in it holds a value of an object's field: fields are named by path, and messages are scrubbed of credentials.
package explain
