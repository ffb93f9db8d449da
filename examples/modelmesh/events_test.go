package main

import (
	"time"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/standin/store"
)

// followEvents checks that a write of ModelMesh to etcd enqueues the owner of the model, in the operator's namespace and
// in another one, also after an outage of etcd.
func (p *player) followEvents() {
	etcd := store.New(p.T)
	p.mesh = newDouble(p.T)
	p.namespace = "events"
	p.create(namespaceOf("events", nil))
	p.create(namespaceOf("eventful", map[string]any{"modelmesh-enabled": "true"}))
	p.configure("scaleToZero: {enabled: false}")
	p.create(objectOf("v1", "Secret", "events", "model-serving-etcd", map[string]any{
		"stringData": map[string]any{"etcd_connection": `{"endpoints":"` + etcd.URL + `","root_prefix":"root"}`},
	}))
	p.create(objectOf("serving.kserve.io/v1beta1", "InferenceService", "events", "by-service", map[string]any{
		"spec": map[string]any{"predictor": map[string]any{"onnx": map[string]any{"storageUri": "s3://b/p"}}},
	}))
	p.create(objectOf("serving.kserve.io/v1alpha1", "Predictor", "eventful", "by-predictor", map[string]any{
		"spec": map[string]any{"modelType": map[string]any{"name": "onnx"}},
	}))
	p.mesh.Script(inState(mmesh.Loaded))
	defer p.mesh.Script(nil)
	p.follow(p.operator(p.T, map[string]string{"NAMESPACE": "events"}))
	p.inStates("Loaded", "Loaded")

	time.Sleep(2 * time.Second) // wait for the last poll
	p.mesh.Script(inState(mmesh.LoadingFailed))
	time.Sleep(2 * time.Second)
	p.inStates("Loaded", "Loaded") // no event reports the change
	etcd.Put("root/mm_ns/eventful/mm/modelmesh-serving/vmodels/by-predictor", `{"o":"ksp"}`)
	p.inStates("Loaded", "FailedToLoad")
	etcd.Stop()
	time.Sleep(time.Second)
	etcd.Start()
	etcd.Put("root/mm/modelmesh-serving/registry/by-service__isvc-0123456789", `{}`)
	p.inStates("FailedToLoad", "FailedToLoad")
}

func (p *player) inStates(service, predictor string) {
	p.Helper()
	states := objectOf("serving.kserve.io/v1beta1", "InferenceService", "events", "by-service", map[string]any{
		"status": map[string]any{"modelStatus": map[string]any{"states": map[string]any{"activeModelState": service}}},
	})
	delete(states["metadata"].(map[string]any), "annotations")
	p.expect(expectation{Exist: []map[string]any{states, objectOf("serving.kserve.io/v1alpha1", "Predictor", "eventful", "by-predictor", map[string]any{
		"status": map[string]any{"activeModelState": predictor},
	})}})
}

// inState returns a function that sets the state of all vmodels.
func inState(state int) func(*mmesh.SetRequest) *mmesh.VModel {
	return func(r *mmesh.SetRequest) *mmesh.VModel {
		model := &mmesh.Model{State: state}
		if state == mmesh.LoadingFailed {
			model.Errors = []string{"no"}
		}
		return &mmesh.VModel{State: mmesh.VModelDefined, Active: r.Target, Target: r.Target, ActiveModel: model}
	}
}

func namespaceOf(name string, labels map[string]any) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name, "labels": labels}}
}

// objectOf returns an object with the given content. It marks InferenceServices for ModelMesh.
func objectOf(apiVersion, kind, namespace, name string, content map[string]any) map[string]any {
	meta := map[string]any{"namespace": namespace, "name": name}
	if kind == "InferenceService" {
		meta["annotations"] = map[string]any{"serving.kserve.io/deploymentMode": "ModelMesh"}
	}
	content["apiVersion"], content["kind"], content["metadata"] = apiVersion, kind, meta
	return content
}
