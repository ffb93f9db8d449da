package requests_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/requests"
)

func Example() {
	asked, err := http.NewRequestWithContext(context.Background(), http.MethodPatch,
		"https://server/apis/apps/v1/namespaces/default/deployments/shop?fieldManager=websites", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	asked.Header.Set("Content-Type", "application/apply-patch+yaml")
	request := requests.ParseRequest(asked)
	fmt.Println(request, request.IsWrite(), request.FieldManager)
	// Output: apply apps/deployments default/shop true websites
}
