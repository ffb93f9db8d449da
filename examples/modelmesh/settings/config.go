// Package settings reads the configuration of the operator of ModelMesh: built-in values, and those of a ConfigMap.
package settings

import (
	"errors"
	"fmt"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/settings"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Config is the effective configuration. Its JSON has the product's field names.
type Config struct {
	InferenceServiceName     string
	InferenceServicePort     uint16
	HeadlessService          bool
	TLS                      TLS
	RESTProxy                RESTProxy
	Metrics                  Metrics
	GrpcMaxMessageSizeBytes  int
	ModelMeshImage           Image
	ModelMeshResources       Resources
	StorageHelperImage       Image
	StorageHelperResources   Resources
	PodsPerRuntime           uint16
	ScaleToZero              ScaleToZero
	StorageSecretName        string
	ServiceAccountName       string
	EnableAccessLogging      bool
	BuiltInServerTypes       []string
	PayloadProcessors        []string
	RuntimePodLabels         map[string]string
	RuntimePodAnnotations    map[string]string
	ImagePullSecrets         []Named
	AllowAnyPVC              bool
	InternalModelMeshEnvVars []Variable
	ModelMeshEndpoint        string
	EtcdSecretName           string
}

// TLS configures the encryption of the mesh.
type TLS struct {
	SecretName string
	ClientAuth string
}

// RESTProxy configures the container that translates REST.
type RESTProxy struct {
	Enabled    bool
	Port       uint16
	SkipVerify bool
	Image      Image
	Resources  Resources
}

// Metrics configures the endpoint of metrics.
type Metrics struct {
	Enabled                          bool
	Port                             uint16
	Scheme                           string
	DisablePrometheusOperatorSupport bool
}

// ScaleToZero configures when a runtime without models stops.
type ScaleToZero struct {
	Enabled            bool
	GracePeriodSeconds uint16
}

// Image is an image and its command.
type Image struct {
	Name    string
	Tag     string
	Digest  string
	Command []string
}

// Reference returns the image reference of a container.
func (i Image) Reference() string {
	switch {
	case i.Digest != "":
		return i.Name + "@" + i.Digest
	case i.Tag != "":
		return i.Name + ":" + i.Tag
	}
	return i.Name
}

// Resources are the resources of a container, as strings.
type Resources struct {
	Requests Quantities
	Limits   Quantities
}

// Quantities are the quantities of CPU and memory.
type Quantities struct {
	CPU    string
	Memory string
}

// Named is a reference by name.
type Named struct{ Name string }

// Variable is an environment variable.
type Variable struct{ Name, Value string }

// Key is the key of the ConfigMap with the user's document.
const Key = "config.yaml"

const (
	missingKey = "User ConfigMap must contain a key named " + Key // as in the product
	notParsed  = "While parsing config"
)

// FromConfigMap returns the configuration that results from the user's ConfigMap. Nil means that there is no ConfigMap.
func FromConfigMap(user *corev1.ConfigMap) (Config, error) {
	if user == nil {
		return Parse(nil)
	}
	document, found := user.Data[Key]
	if !found {
		return Config{}, errors.New(missingKey) //nolint:staticcheck // as in the product
	}
	return Parse([]byte(document))
}

// Parse returns the configuration that results from the user's document. It compares keys without case, ignores unknown ones, and
// converts strings to numbers where a field needs a number.
func Parse(document []byte) (Config, error) { return parse(document, builtIn) }

func parse(document, defaults []byte) (Config, error) {
	user := settings.Layer{Name: Key, Data: document}
	config, err := merge(user, settings.Layer{Name: "the built-in settings", Data: defaults})
	if err != nil {
		return Config{}, err
	}
	given, err := merge(user)
	if err != nil {
		return Config{}, err
	}
	config.ModelMeshImage.prefer(given.ModelMeshImage)
	config.StorageHelperImage.prefer(given.StorageHelperImage)
	config.RESTProxy.Image.prefer(given.RESTProxy.Image)
	return config, config.validate()
}

// merge decodes the layers. The first layer takes precedence.
func merge(layers ...settings.Layer) (config Config, err error) {
	merged, err := settings.Format{IgnoreCase: true}.Merge(layers...)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", notParsed, err)
	}
	return config, decode(merged, &config)
}

// prefer removes a default digest if the user sets a tag without a digest.
func (i *Image) prefer(given Image) {
	if given.Tag != "" && given.Digest == "" {
		i.Digest = ""
	}
}

func (c Config) validate() error {
	for _, processor := range c.PayloadProcessors {
		if strings.Contains(processor, " ") {
			const problem = "Error parsing payload processor"
			return fmt.Errorf("%s '%s': endpoint must not contain spaces.", problem, processor) //nolint:staticcheck // as in the product
		}
	}
	return errors.Join(
		c.ModelMeshResources.validate("ModelMeshResources"),
		c.RESTProxy.Resources.validate("RESTProxy.Resources"),
		c.StorageHelperResources.validate("StorageHelperResources"),
	)
}

func (r Resources) validate(section string) error {
	for _, amount := range []struct{ name, as, value string }{
		{"Limits.CPU", "as a", r.Limits.CPU},
		{"Limits.Memory", "as a", r.Limits.Memory},
		{"Requests.CPU", "a", r.Requests.CPU}, // as in the product
		{"Requests.Memory", "a", r.Requests.Memory},
	} {
		if _, err := resource.ParseQuantity(amount.value); err != nil {
			return fmt.Errorf("%s '%s': Cannot parse '%s' %s quantity: %w", "Invalid config for", section, amount.name, amount.as, err)
		}
	}
	return nil
}
