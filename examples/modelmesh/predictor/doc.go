// Package predictor reconciles the sources of models, Predictor and InferenceService: it keeps the model of each in ModelMesh and
// derives the status from it. It reads and writes only InferenceServices whose annotation serving.kserve.io/deploymentMode is
// ModelMesh.
//
// The model is a vmodel of ModelMesh, which package external of the SDK observes, ensures and removes. The Predictor gets its record
// and a finalizer before the first call of ModelMesh. A deleted Predictor therefore stays until ModelMesh confirms that its model is
// gone, and a deletion while the operator or ModelMesh is unreachable leaves no model behind. The product has no finalizer. If
// ModelMesh will not return, delete a Predictor with --cascade=orphan. An InferenceService has the same finalizer while ModelMesh
// serves it: with another deploymentMode the controller removes its model and the finalizer.
//
// # Differences from the product
//
//   - The controller calls setVModel only if the target differs, if a model must be loaded and is not, or while no pod of
//     ModelMesh answers. An event does not reload a model that failed to load: ModelMesh retries itself.
//   - An unknown state leaves the status unchanged; the product writes an empty string, which the API server refuses.
//   - available is false while no pod of ModelMesh runs. It stays true while a new version waits for a pod and the old one
//     serves; the transition is InProgress then, not BlockedByFailedLoad. A model that changes from waiting to Standby is
//     available and no longer RuntimeUnhealthy.
//   - A new Predictor with an invalid spec is not available.
//   - The time of a failure other than a failed load stays while the failure lasts.
//   - The vmodel of a Predictor with an invalid spec stays as it is, and is deleted with the Predictor.
//   - The status of an InferenceService that cannot be served has the reason, with KServe's message for an invalid spec; the
//     product only logs it. It requests no runtime.
//   - In the status of an InferenceService the controller writes only url, components.predictor, modelStatus and the conditions
//     PredictorReady and Ready; the product overwrites the rest.
package predictor
