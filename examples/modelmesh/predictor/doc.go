// Package predictor is the controllers of the sources of models, Predictor and InferenceService: the model of each in
// ModelMesh, and the status of it. An InferenceService is one whose annotation serving.kserve.io/deploymentMode is
// ModelMesh; of all others nothing is read or written.
//
// The model is a vmodel of ModelMesh, which package external of the SDK observes, ensures and removes: it is on the
// Predictor, with a finalizer, before ModelMesh is asked for it. So a Predictor that is deleted stays until ModelMesh has
// answered that its model is gone, and one that is deleted while the operator is down or ModelMesh is away leaves no model
// behind. The product has no finalizer. To get rid of a Predictor whose ModelMesh will not come back, delete it with
// --cascade=orphan. An InferenceService has the same finalizer, as long as ModelMesh serves it: with another deploymentMode
// its model is removed and the finalizer goes.
//
// # What differs from the product, and why
//
//   - A vmodel that is right is not set again: setVModel is sent when its target differs, when a model has to be loaded that
//     nobody loads, and while no pod of ModelMesh is there to ask. A model that failed to load is not loaded anew by every
//     event: ModelMesh does that itself.
//   - A state that has no word leaves the status before; the product writes an empty one, which the API refuses.
//   - available is false while no pod of ModelMesh runs. It stays true while a new version waits for a pod and the old one
//     serves, and the transition is InProgress then, not BlockedByFailedLoad. A model that goes from waiting to Standby is
//     available and no longer RuntimeUnhealthy.
//   - A new Predictor with an invalid spec is not available.
//   - The time of a failure that is not of a load stays as long as the failure does.
//   - The vmodel of a Predictor with an invalid spec stays as it is, and goes with it.
//   - An InferenceService that cannot be served has why in its status, in KServe's words for an invalid spec; the product logs it alone. It
//     asks for no runtime.
//   - Of the status of an InferenceService only url, components.predictor, modelStatus and the conditions PredictorReady and
//     Ready are written; the product wipes the rest.
package predictor
