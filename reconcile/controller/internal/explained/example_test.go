package explained_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/explained"
)

// The handler asks for the explainers with each answer: a controller that is set up later is explained, too.
func ExampleHandler() {
	handler := explained.Handler(func() []*explained.Explainer { return nil })
	for _, query := range []string{"?format=json", "?kind=Website&name=shop"} {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/debug/explain"+query, http.NoBody))
		fmt.Println(answer.Code, answer.Body)
	}
	// Output:
	// 200 {
	//   "owners": null
	// }
	// 404 explain kind "Website": no controller reconciles it; there are:
}
