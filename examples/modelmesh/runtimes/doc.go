// Package runtimes reconciles the runtimes of a namespace: a Deployment for each, with the labels that models select, and the
// objects that the Deployments share. The children of a runtime are a pure function of its inputs; the group of a namespace applies
// them.
//
// # Differences from the product
//
//   - An invalid spec does not block other runtimes, and its running pods keep serving. A runtime that is disabled, or does not
//     belong to ModelMesh, is not validated.
//   - An annotation of the Deployment records since when no model requests the runtime: a restart or another leader neither ends
//     nor restarts the grace period. A runtime that no model has requested since its Deployment was created has no grace period.
//   - A new runtime with an autoscaler starts with its smallest number of pods. The autoscaler is deleted in one step when its
//     class or its runtime is removed, and while there are no pods. An unknown class is refused.
//   - An entry of the storage Secret that is not an object of strings names no claim. Entries do not affect each other.
//   - As in the product, the certificates in the Secret of etcd are not copied into the namespaces of users: write them into
//     etcd_connection.
//   - A Predictor that is being deleted requests its runtime until ModelMesh has removed its model.
package runtimes
