package predictor

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/kserve/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/v1alpha1"
)

// Annotations of an InferenceService.
const (
	runtimeAnnotation = "serving.kserve.io/servingRuntime"
	secretAnnotation  = "serving.kserve.io/secretKey"
	schemaAnnotation  = "serving.kserve.io/schemaPath"
)

// Keys of the parameters of a storage.
const (
	paramType   = "type"
	paramName   = "name"
	paramBucket = "bucket"
)

// SpecOf converts the spec of an InferenceService to that of a Predictor. It returns nil if ModelMesh does not serve the
// InferenceService, and an error if it cannot be served.
func SpecOf(s *v1beta1.InferenceService) (*v1alpha1.PredictorSpec, error) {
	if !s.ModelMesh() {
		return nil, nil //nolint:nilnil // no model to serve
	}
	framework, source := framework(&s.Spec.Predictor)
	runtime, annotated := s.Annotations[runtimeAnnotation]
	spec := &v1alpha1.PredictorSpec{ModelType: v1alpha1.ModelType{Name: framework}}
	model := s.Spec.Predictor.Model
	switch {
	case model == nil && source == nil:
		return nil, errors.New("no valid InferenceService predictor framework found")
	case model == nil:
	case source != nil:
		return nil, fmt.Errorf("spec.predictor: model and %s are set; want one of them", framework)
	case annotated:
		return nil, fmt.Errorf("spec.predictor.model and the annotation %s are set; want the runtime in model.runtime", runtimeAnnotation)
	default:
		source = &model.Source
		spec.ModelType = v1alpha1.ModelType{Name: model.ModelFormat.Name, Version: model.ModelFormat.Version}
		if protocol := first(model.ProtocolVersion); protocol != "" {
			spec.ProtocolVersion = &protocol
		}
		runtime = first(model.Runtime)
	}
	if runtime != "" {
		spec.Runtime = &v1alpha1.Runtime{Name: runtime}
	}
	var err error
	spec.Storage, err = storageOf(source, s.Annotations)
	return spec, err
}

// framework returns the first framework that is set.
func framework(p *v1beta1.Predictor) (name string, source *v1beta1.Source) {
	for _, one := range []struct {
		name   string
		source *v1beta1.Source
	}{
		{"xgboost", p.XGBoost},
		{"lightgbm", p.LightGBM},
		{"sklearn", p.SKLearn},
		{"tensorflow", p.Tensorflow},
		{"onnx", p.ONNX},
		{"pytorch", p.PyTorch},
		{"triton", p.Triton},
		{"pmml", p.PMML},
	} {
		if one.source != nil {
			return one.name, one.source
		}
	}
	return "", nil
}

func storageOf(source *v1beta1.Source, annotations map[string]string) (*v1alpha1.Storage, error) {
	given := cmp.Or(source.Storage, &v1beta1.Storage{})
	out := &v1alpha1.Storage{
		Path: given.Path, Key: either(given.Key, annotations, secretAnnotation),
		SchemaPath: either(given.SchemaPath, annotations, schemaAnnotation),
		Parameters: given.Parameters,
	}
	switch {
	case (source.StorageURI == nil) == (given.Path == nil):
		return nil, errors.New("spec.predictor: want exactly one of storageUri and storage.path")
	case source.StorageURI == nil:
		return out, nil
	}
	path, parameters, err := location(*source.StorageURI)
	if err != nil {
		return nil, err
	}
	out.Path, out.Parameters = &path, map[string]string{}
	maps.Copy(out.Parameters, given.Parameters)
	maps.Copy(out.Parameters, parameters)
	return out, nil
}

// either returns the value if it is set, or the annotation.
func either(set *string, annotations map[string]string, name string) *string {
	if annotation, found := annotations[name]; found && set == nil {
		return &annotation
	}
	return set
}

const azureHost = ".blob.core.windows.net"

// location parses a storageUri into the path of the model and the parameters of its store.
func location(text string) (path string, parameters map[string]string, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", nil, fmt.Errorf("spec.predictor: storageUri: %w", err)
	}
	path = strings.TrimPrefix(u.Path, "/")
	switch u.Scheme {
	case "pvc":
		return path, map[string]string{paramType: "pvc", paramName: u.Host}, nil
	case "s3":
		return path, map[string]string{paramType: "s3", paramBucket: u.Host}, nil
	case "gs":
		return path, map[string]string{paramType: "gcs", paramBucket: u.Host}, nil
	case "http", "https":
	default:
		return "", nil, fmt.Errorf("spec.predictor: storageUri %q: want one of the schemes pvc, s3, gs, http and https", text)
	}
	if account, azure := strings.CutSuffix(u.Host, azureHost); azure {
		container, rest, _ := strings.Cut(path, "/")
		return rest, map[string]string{paramType: "azure", "account_name": account, "container": container}, nil
	}
	u.Path, u.RawPath = "", ""
	return path, map[string]string{paramType: "http", "url": u.String()}, nil
}
