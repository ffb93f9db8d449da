package apiserver_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/apiserver"
)

func Example() {
	blueprint, err := apiserver.NewBlueprint(clientgoscheme.Scheme, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	server := apiserver.New(clientgoscheme.Scheme, blueprint, clock.RealClock{}, nil)
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}
	fmt.Println(server.Client.Create(context.Background(), service))
	fmt.Println(service.Spec.Type, service.Spec.Ports[0].Protocol)

	service.Name, service.ResourceVersion = "Shop", ""
	fmt.Println(apierrors.IsInvalid(server.Client.Create(context.Background(), service)))
	// Output:
	// <nil>
	// ClusterIP TCP
	// true
}
