package secrets_test

import (
	"fmt"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/secrets"
)

func ExampleFill() {
	stored := map[string][]byte{"username": []byte("chosen-by-hand")}
	data, err := secrets.Fill(stored, secrets.Keys{
		"username": secrets.Literal("app"),
		"password": secrets.Random(16),
	}, strings.NewReader("not random at all")) // crypto/rand.Reader in Fetch
	fmt.Printf("%s %s %v\n", data["username"], data["password"], err)
	// Output: chosen-by-hand bm90IHJhbmRvbSBhdCBhbA== <nil>
}
