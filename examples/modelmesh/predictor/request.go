package predictor

import (
	"crypto/sha1" //nolint:gosec // part of the product's wire format
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
)

// The names of the sources in ModelMesh. Each vmodel belongs to one of them.
const (
	fromPredictors = "ksp"
	fromServices   = "isvc"
)

// validate returns the first error in a spec.
func validate(spec *v1alpha1.PredictorSpec) error {
	s := spec.Storage
	switch {
	case s == nil:
		return nil
	case spec.Path != "" && s.Path != nil:
		return errors.New("Only one of spec.path and spec.storage.path can be specified") //nolint:staticcheck // as in the product
	case spec.SchemaPath != nil && s.SchemaPath != nil:
		return errors.New("Only one of spec.schemaPath and spec.storage.schemaPath can be specified") //nolint:staticcheck // as in the product
	case s.PersistentVolumeClaim != nil:
		return errors.New("spec.storage.PersistentVolumeClaim is not supported")
	case s.S3 != nil && (s.Path != nil || s.SchemaPath != nil || s.Parameters != nil || s.Key != nil):
		return errors.New("spec.storage.s3 cannot be specified with any other keys in spec.storage")
	}
	return nil
}

// modelKey tells the puller the location of a model.
type modelKey struct {
	StorageKey    string             `json:"storage_key,omitempty"`
	StorageParams map[string]string  `json:"storage_params,omitempty"`
	ModelType     v1alpha1.ModelType `json:"model_type"`
	SchemaPath    string             `json:"schema_path,omitempty"`
}

// requestFor returns the request for the model of a source.
func requestFor(source, name string, spec *v1alpha1.PredictorSpec, loadNow bool) (mmesh.SetRequest, error) {
	id, err := targetID(source, name, spec)
	if err != nil {
		return mmesh.SetRequest{}, err
	}
	request := mmesh.SetRequest{ID: name, Owner: source, Target: id, Type: TypeLabel(spec), LoadNow: loadNow}
	key := modelKey{ModelType: spec.ModelType}
	if s := spec.Storage; s != nil {
		request.Path = first(s.Path, &spec.Path)
		key.SchemaPath = first(s.SchemaPath, spec.SchemaPath)
		key.StorageKey, key.StorageParams = first(s.Key), s.Parameters
		if s.S3 != nil {
			key.StorageKey = first(s.Key, &s.S3.SecretKey)
			if bucket := first(s.S3.Bucket); bucket != "" {
				key.StorageParams = map[string]string{"bucket": bucket}
			}
		}
	}
	text, err := json.Marshal(key)
	request.Key = string(text)
	return request, err
}

// first returns the first string that is set and not empty.
func first(texts ...*string) string {
	for _, text := range texts {
		if text != nil && *text != "" {
			return *text
		}
	}
	return ""
}

// targetID returns the name of the model. It depends on the entire spec: another spec has another model.
func targetID(source, name string, spec *v1alpha1.PredictorSpec) (string, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return "", fmt.Errorf("encode the spec: %w", err)
	}
	const hashed = 5
	sum := sha1.Sum(text) //nolint:gosec // part of the product's wire format
	return name + "__" + source + "-" + hex.EncodeToString(sum[:hashed]), nil
}

// TypeLabel returns the labels, joined by |, that a runtime must have to serve the model.
func TypeLabel(spec *v1alpha1.PredictorSpec) string {
	if spec.Runtime != nil && spec.Runtime.Name != "" {
		return "rt:" + spec.Runtime.Name
	}
	label := "mt:" + spec.ModelType.Name
	if version := spec.ModelType.Version; version != nil { // an empty value counts
		label += ":" + *version
	}
	if protocol := first(spec.ProtocolVersion); protocol != "" {
		label += "|pv:" + protocol
	}
	return label
}
