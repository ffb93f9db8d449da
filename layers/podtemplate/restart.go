package podtemplate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/layers"
)

// Config is the content of a ConfigMap or Secret that a pod uses, for [RestartOn]. Create it with [ConfigMap] or [Secret]. It contains
// a digest and no values. The zero value is the content of an object that does not exist.
type Config struct {
	object string // kind and name, and the key if there is one
	digest string // empty if there is no content
}

// ConfigMap returns the content of a ConfigMap: of the named keys, or of all keys if none is named. A nil ConfigMap does not exist. The
// ConfigMap may also be a planned one.
func ConfigMap(object *corev1.ConfigMap, keys ...string) Config {
	if object == nil {
		return Config{}
	}
	return configOf("ConfigMap/"+object.Name, withText(object.BinaryData, object.Data), keys)
}

// Secret returns the content of a Secret: of the named keys, or of all keys if none is named. A nil Secret does not exist. The Secret may
// also be a planned one.
//
// A user who may read the pods can test guesses of the values against the digest. Do not use it for values that can be guessed, such as
// passwords that a person chose.
func Secret(object *corev1.Secret, keys ...string) Config {
	if object == nil {
		return Config{}
	}
	return configOf("Secret/"+object.Name, withText(object.Data, object.StringData), keys)
}

// RestartOn sets an annotation of the template to a digest of the contents, so that a workload replaces its pods when a content changes.
// Other changes of the objects, and the order of the arguments and of the keys, do not change the digest.
//
//	podtemplate.RestartOn(&deployment.Spec.Template, "example.com/config-digest",
//		podtemplate.ConfigMap(fetched.config.Value), podtemplate.Secret(fetched.certificate.Value, corev1.TLSCertKey))
//
// A missing object or named key is no content, so the pods are also replaced when it appears and when it is deleted. Without any content
// the template does not have the annotation.
//
// The digest is 64 hexadecimal digits: of a single named key the SHA-256 of its value, of another single object that of its sorted lines
// key=value. Many operators write such digests. One that moves to this function and keeps the annotation restarts no pod.
func RestartOn(template *corev1.PodTemplateSpec, annotation string, configs ...Config) {
	annotations := maps.Clone(template.Annotations)
	delete(annotations, annotation)
	template.Annotations = layers.Maps(annotations, digestsOf(annotation, configs))
}

// digestsOf returns the annotation, nil if there is no content.
func digestsOf(annotation string, configs []Config) map[string]string {
	var lines []string
	digest := ""
	for _, c := range configs {
		if c.digest != "" {
			lines, digest = append(lines, c.object+" "+c.digest+"\n"), c.digest
		}
	}
	if len(lines) == 0 {
		return nil
	}
	if len(configs) > 1 {
		slices.Sort(lines)
		digest = digestOf([]byte(strings.Join(lines, "")))
	}
	return map[string]string{annotation: digest}
}

func configOf(object string, data map[string][]byte, keys []string) Config {
	if len(keys) == 1 {
		value, found := data[keys[0]]
		if !found {
			return Config{}
		}
		return Config{object + "/" + keys[0], digestOf(value)}
	}
	if len(keys) > 1 {
		maps.DeleteFunc(data, func(key string, _ []byte) bool { return !slices.Contains(keys, key) })
		if len(data) == 0 {
			return Config{}
		}
	}
	var text bytes.Buffer
	for _, key := range slices.Sorted(maps.Keys(data)) {
		value := data[key]
		if bytes.Contains(value, []byte("\n")) { // a length, so that no value looks like several; a key contains neither = nor a space
			fmt.Fprintf(&text, "%s %d\n%s\n", key, len(value), value)
			continue
		}
		fmt.Fprintf(&text, "%s=%s\n", key, value)
	}
	return Config{object, digestOf(text.Bytes())}
}

// withText returns a copy of the values with the texts, which win.
func withText(values map[string][]byte, texts map[string]string) map[string][]byte {
	all := make(map[string][]byte, len(values)+len(texts))
	maps.Copy(all, values)
	for key, text := range texts {
		all[key] = []byte(text)
	}
	return all
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
