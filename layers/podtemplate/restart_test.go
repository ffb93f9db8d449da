package podtemplate_test

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/layers/podtemplate"
)

const digestAnnotation = "example.com/config-digest"

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
}

func restartOn(configs ...podtemplate.Config) map[string]string {
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"a": "b", digestAnnotation: "old"}}}
	before := maps.Clone(template.Annotations)
	given := template.Annotations
	podtemplate.RestartOn(&template, digestAnnotation, configs...)
	if !maps.Equal(before, given) {
		panic("RestartOn changed a map that other templates may share")
	}
	return template.Annotations
}

func TestRestartOnKnownDigests(t *testing.T) {
	t.Parallel()
	sum := func(text string) string {
		digest := sha256.Sum256([]byte(text))
		return hex.EncodeToString(digest[:])
	}
	config := configMap("web", map[string]string{"port": "80", "host": "a"})
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "tls"}, Data: map[string][]byte{"tls.crt": []byte("C")}}
	all := sum("host=a\nport=80\n")
	for name, test := range map[string]struct {
		configs []podtemplate.Config
		want    string // empty: no annotation
	}{
		"no object":                {},
		"missing ConfigMap":        {configs: []podtemplate.Config{podtemplate.ConfigMap(nil)}},
		"missing Secret":           {configs: []podtemplate.Config{podtemplate.Secret(nil, "tls.crt")}},
		"missing key":              {configs: []podtemplate.Config{podtemplate.ConfigMap(config, "path")}},
		"missing keys":             {configs: []podtemplate.Config{podtemplate.ConfigMap(config, "path", "query")}},
		"several missing":          {configs: []podtemplate.Config{podtemplate.ConfigMap(nil), podtemplate.Secret(nil)}},
		"one key":                  {[]podtemplate.Config{podtemplate.ConfigMap(config, "port")}, sum("80")},
		"one key of a Secret":      {[]podtemplate.Config{podtemplate.Secret(secret, "tls.crt")}, sum("C")},
		"one key that is empty":    {[]podtemplate.Config{podtemplate.ConfigMap(configMap("web", map[string]string{"port": ""}), "port")}, sum("")},
		"all keys":                 {[]podtemplate.Config{podtemplate.ConfigMap(config)}, all},
		"all keys, named":          {[]podtemplate.Config{podtemplate.ConfigMap(config, "port", "host")}, all},
		"all keys and missing one": {[]podtemplate.Config{podtemplate.ConfigMap(config, "port", "path", "host")}, all},
		"a value of several lines": {
			[]podtemplate.Config{podtemplate.ConfigMap(configMap("web", map[string]string{"a": "1\nb=2", "b": "3"}))}, sum("a 5\n1\nb=2\nb=3\n"),
		},
		"empty ConfigMap": {[]podtemplate.Config{podtemplate.ConfigMap(configMap("web", nil))}, sum("")},
		"two objects": {
			[]podtemplate.Config{podtemplate.Secret(secret, "tls.crt"), podtemplate.ConfigMap(config)},
			sum("ConfigMap/web " + all + "\nSecret/tls/tls.crt " + sum("C") + "\n"),
		},
		"two objects, one missing": {
			[]podtemplate.Config{podtemplate.Secret(nil, "tls.crt"), podtemplate.ConfigMap(config)}, sum("ConfigMap/web " + all + "\n"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := map[string]string{"a": "b"}
			if test.want != "" {
				want[digestAnnotation] = test.want
			}
			if diff := cmp.Diff(want, restartOn(test.configs...)); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRestartOnChanges lists which differences change the digest.
func TestRestartOnChanges(t *testing.T) {
	t.Parallel()
	one := func(object *corev1.ConfigMap, keys ...string) []podtemplate.Config {
		return []podtemplate.Config{podtemplate.ConfigMap(object, keys...)}
	}
	config := configMap("web", map[string]string{"x": "1", "y": "2"})
	described := config.DeepCopy()
	described.Labels, described.Annotations = map[string]string{"l": "1"}, map[string]string{"n": "1"}
	described.ResourceVersion, described.UID, described.Immutable = "7", "u", new(true)
	swapped := configMap("web", map[string]string{"x": "2", "y": "1"})
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Data: map[string][]byte{"x": []byte("1"), "y": []byte("2")}}
	written := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "web"}, Data: map[string][]byte{"x": []byte("0"), "y": []byte("2")},
		StringData: map[string]string{"x": "1"},
	}
	binary := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web"}, BinaryData: map[string][]byte{"x": []byte("1"), "y": []byte("2")}}
	for name, test := range map[string]struct {
		before, after []podtemplate.Config
		same          bool
	}{
		"metadata":                  {one(config), one(described), true},
		"order of the keys":         {one(config, "x", "y"), one(config, "y", "x"), true},
		"binary data":               {one(config), one(binary), true},
		"text of a planned Secret":  {[]podtemplate.Config{podtemplate.Secret(secret)}, []podtemplate.Config{podtemplate.Secret(written)}, true},
		"another key":               {one(config, "x"), one(configMap("web", map[string]string{"x": "1", "y": "3"}), "x"), true},
		"a value":                   {one(config), one(configMap("web", map[string]string{"x": "1", "y": "3"})), false},
		"values of two keys":        {one(config), one(swapped), false},
		"a new key":                 {one(config), one(configMap("web", map[string]string{"x": "1", "y": "2", "z": ""})), false},
		"a value that looks like 2": {one(config), one(configMap("web", map[string]string{"x": "1\ny=2"})), false},
		"deletion":                  {one(config), one(nil), false},
		"the first of two appears": {
			append(one(nil), one(config)...), append(one(configMap("other", config.Data)), one(config)...), false,
		},
		"order of the objects": {
			[]podtemplate.Config{podtemplate.ConfigMap(config), podtemplate.Secret(secret)},
			[]podtemplate.Config{podtemplate.Secret(secret), podtemplate.ConfigMap(config)},
			true,
		},
		"values of two keys that are named apart": {
			append(one(config, "x"), one(config, "y")...), append(one(swapped, "x"), one(swapped, "y")...), false,
		},
		"the kind of one of two": {
			append(one(config), one(nil)...), []podtemplate.Config{podtemplate.Secret(secret), {}}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := restartOn(test.before...), restartOn(test.after...)
			if same := cmp.Equal(before, after); same != test.same {
				t.Errorf("got the same digest: %t, want %t\nbefore: %v\nafter: %v", same, test.same, before, after)
			}
		})
	}
}
