package requestlimit_test

import (
	"context"
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/requestlimit"
)

func Example() {
	pass := requestlimit.With(context.Background(), 2, "RequestsExceeded")
	fmt.Println(requestlimit.Read(pass))
	fmt.Println(requestlimit.Write(pass))
	fmt.Println(requestlimit.Write(pass))
	// Output:
	// <nil>
	// <nil>
	// RequestsExceeded: a pass may send at most 2 requests, half of them reads (Budget.MaxRequests), and has sent them; the next one goes on
}
