package settings_test

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/settings"
)

type config struct {
	Port  int    `json:"port"`
	Image string `json:"image"`
}

const builtIn = "port: 8080\nimage: server:1\n"

// resolve merges the ConfigMap over the built-in settings.
func resolve(live *corev1.ConfigMap) (config, error) {
	var user []byte
	if live != nil {
		user = []byte(live.Data["config.yaml"])
	}
	merged, err := settings.Format{}.Merge(settings.Layer{Name: "config.yaml", Data: user}, settings.Layer{Name: "built in", Data: []byte(builtIn)})
	if err != nil {
		return config{}, err
	}
	text, err := json.Marshal(merged)
	if err != nil {
		return config{}, err
	}
	var c config
	return c, json.Unmarshal(text, &c)
}

func stored(version, content string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "operators", Name: "settings", UID: "1", ResourceVersion: version},
		Data:       map[string]string{"config.yaml": content},
	}
}

func Example() {
	reader := fake.NewClientBuilder().WithObjects(stored("1", "image: server:2")).Build()
	live, err := settings.Load(context.Background(), reader, settings.Source[config]{
		ConfigMap: client.ObjectKey{Namespace: "operators", Name: "settings"}, Resolve: resolve,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	readers := live.Readers()
	owner := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: "web"}}
	fmt.Println("port", settings.Read(readers, owner, func(c config) int { return c.Port }), "image", live.Get().Image)

	live.OnUpdate(nil, stored("2", "port: [")) // an informer calls this
	fmt.Println("port", live.Get().Port, "image", live.Get().Image, "broken", live.Err() != nil)
	// Output:
	// port 8080 image server:2
	// port 8080 image server:2 broken true
}
