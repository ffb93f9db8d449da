package pathtemplate_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/json" // integers stay integers, as in unstructured objects

	"github.com/reconcilekit/reconcilekit/routing/pathtemplate"
)

// inventory is an object as a client without Go types decodes it.
const inventory = `{
	"kind": "Shop",
	"spec": {
		"items": [
			{"name": "a", "price": 3, "ratio": 0.5, "sold": true, "tags": ["x", "y"]},
			{"name": "b", "price": 5, "ratio": 1.5, "sold": false, "tags": []},
			{"name": "c", "price": 5, "sold": true}
		],
		"empty": {}, "none": null, "zero": 0, "text": "T", "deep": {"deep": {"last": "end"}}
	}
}`

// TestExpressions checks the result of each expression, and that kubectl's evaluator has the same.
func TestExpressions(t *testing.T) {
	t.Parallel()
	object := map[string]any{}
	if err := json.Unmarshal([]byte(inventory), &object); err != nil {
		t.Fatal(err)
	}
	const one, several, none = "", "multiple results", "no results"
	for expression, test := range map[string]struct{ want, wantErr string }{
		".kind":                                    {"/shop", one},
		"$.kind":                                   {"/shop", one},
		"@.kind":                                   {"/shop", one},
		"['kind']":                                 {"/shop", one},
		".spec.deep.deep.last":                     {"/end", one},
		".spec['text']":                            {"/t", one},
		".spec.zero":                               {"/0", one},
		"..last":                                   {"/end", one},
		".spec.items[0].name":                      {"/a", one},
		".spec.items[-1].name":                     {"/c", one},
		".spec.items[2:].name":                     {"/c", one},
		".spec.items[:1].name":                     {"/a", one},
		".spec.items[0:1].name":                    {"/a", one},
		".spec.items[1:2].name":                    {"/b", one},
		".spec.items[-2:-1].name":                  {"/b", one},
		".spec.items[0:3:4].name":                  {"/a", one},
		".spec.items[0].tags[1]":                   {"/y", one},
		".spec.items[0].ratio":                     {"/0-5", one},
		`.spec.items[?(@.name=="b")].price`:        {"/5", one},
		`.spec.items[?(@.name!="b")].price`:        {"", several},
		`.spec.items[?(@.price<5)].name`:           {"/a", one},
		`.spec.items[?(@.price<=3)].name`:          {"/a", one},
		`.spec.items[?(@.price>3)].name`:           {"", several},
		`.spec.items[?(@.price>=5)].name`:          {"", several},
		`.spec.items[?(@.price>100)].name`:         {"", none},
		`.spec.items[?(@.ratio>1.0)].name`:         {"", "ratio is not found"},
		`.spec.items[?(@.sold==false)].name`:       {"/b", one},
		`.spec.items[?(@.tags)].name`:              {"", several},
		`.spec.items[?(@.nope)].name`:              {"", none},
		`.spec.items[?(@.name==$.spec.text)].name`: {"", "spec is not found"},
		`.spec.items[?(@.tags[*]=="x")].name`:      {"", "one element at a time"},
		`.spec.items[?(@.price=="5")].name`:        {"", "incompatible types"},
		`.spec.items[*].name`:                      {"", several},
		`.spec.items[0,1].name`:                    {"", several},
		`.spec['text','zero']`:                     {"", several},
		`.spec.empty.*`:                            {"", none},
		`.spec.items[1].tags[*]`:                   {"", none},
		`.spec.items[1].tags[0]`:                   {"", "out of bounds"},
		`.spec.items[3].name`:                      {"", "out of bounds"},
		`.spec.items[-4].name`:                     {"", "out of bounds"},
		`.spec.items[2].ratio`:                     {"", "ratio is not found"},
		`.spec.text.more`:                          {"", "more"},
		`.spec.text[0]`:                            {"", "not array or slice"},
		`.spec.none`:                               {"", "nil value"},
		`.spec.none.more`:                          {"", "more is not found"},
		`.spec.items[0:3:0].name`:                  {"", "step must be"},
		`.spec.items[0:3:-1].name`:                 {"", "step must be"},
	} {
		t.Run(expression, func(t *testing.T) {
			t.Parallel()
			got, err := render("/{"+expression+"}", object, pathtemplate.Options{})
			checkOutcome(t, err, reasonInvalid, test.wantErr)
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if here, kubectl, limited := pathtemplate.Find(expression, object); limited || here != kubectl {
				t.Errorf("found %s, kubectl finds %s, limited %v", here, kubectl, limited)
			}
		})
	}
}
