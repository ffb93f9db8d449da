package certificate_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/operator/internal/certificate"
)

// Until the API server trusts the certificate, the process is not ready.
func ExampleKeeper_Check() {
	keeper := certificate.New(certificate.Config{Service: types.NamespacedName{Namespace: "shop", Name: "webhooks"}})
	fmt.Println(keeper.Check(nil))
	// Output: the certificate of service shop/webhooks is not in force: it was not made yet
}
