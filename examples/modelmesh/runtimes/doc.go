// Package runtimes is the controller of what ModelMesh runs for the runtimes of a namespace: a Deployment for each, with the
// labels by which models find it, and what all of them share. What a runtime becomes is a function of values; the group of a
// namespace applies it.
//
// # What differs from the product, and why
//
//   - A spec that is invalid holds no other runtime back, and what serves goes on. A runtime that is disabled, or not
//     ModelMesh's, is not validated.
//   - Since when no model asks for a runtime is an annotation of its Deployment: neither a restart nor another leader ends
//     the wait or begins it anew. A runtime that no model has asked for since its Deployment was made waits for nothing.
//   - A new runtime with an autoscaler starts with its smallest number of pods. The autoscaler goes with its class, with the
//     runtime, and while there are no pods, in one step. A class that is not known is refused.
//   - An entry of the storage Secret that is no object of texts is not about a claim. No entry takes over what another one says.
//   - The certificates in the Secret of etcd are not copied into the namespaces of users, as in the product: write them into
//     etcd_connection.
//   - A Predictor that is being deleted asks for its runtime until ModelMesh has removed its model.
package runtimes
